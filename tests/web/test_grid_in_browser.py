"""The grid in a real browser: blocks come as they are looked at, sorted and filtered elsewhere."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import TimeoutError as PlaywrightTimeout
from tests.web.chromium import SLOW, browsed, needs_chromium
from tests.web.server import served

pytestmark = needs_chromium
FIRST = ".ag-center-cols-container .ag-row[row-index='0'] .ag-cell"


def cells(page):
    """The first row in sight."""
    return [each.inner_text() for each in page.locator(FIRST).all()]


def until(holds):
    end = time.monotonic() + SLOW / 1000
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def descends(page):
    """Say whether the first column descends; if not, click its header, and wait for what that does.

    A grid that is drawn anew meanwhile has forgotten the click: it is asked again.
    """
    sort = "document.querySelector(\".ag-header-cell[col-id='c0']\")?.ariaSort"
    now = page.evaluate(sort)
    if now == "descending":
        return True
    page.locator(".ag-header-cell[col-id='c0'] .ag-header-cell-label").click()
    with suppress(PlaywrightTimeout):
        page.wait_for_function(f"{sort} !== {json.dumps(now)}", timeout=30_000)
    return False


def opened(page, name):
    page.get_by_label("A file of this folder").click()
    page.get_by_label("A file of this folder").fill(name)
    page.locator(".q-menu .q-item", has_text=name).first.click()
    page.wait_for_selector(".card .bars")  # the grid is drawn anew once all is known of the table
    page.wait_for_selector(FIRST)


@pytest.mark.slow
def test_a_messy_table_is_opened_looked_at_sorted_and_filtered(tmp_path):
    rows = [f"{at * 37 % 1000};Größe {at % 7};{'?' if at % 5 == 0 else at};" for at in range(1000)]
    text = "\n".join(["Bericht 2024", "", "Zahl;Art;Wert;<img src=x>", *rows]) + "\n"
    (tmp_path / "mess.csv").write_bytes(text.encode("cp1252"))
    with served(tmp_path) as server, browsed(server.address) as page:
        opened(page, "mess.csv")
        assert cells(page)[:3] == ["0", "Größe 0", "?"]
        page.wait_for_selector("text=CP1252")
        chips = page.locator(".chips").inner_text().split("\n")
        assert "semicolon" in chips
        assert "1,000" in chips
        assert page.locator(".ag-header-cell", has_text="<img src=x>").count() == 1
        until(lambda: descends(page) and cells(page)[:1] == ["999"])  # 99 does not come before 100
        page.locator(".ag-header-cell[col-id='c1'] .ag-header-cell-filter-button").click()
        page.locator(".ag-filter input[type=text]").first.fill("größe 3")
        until(lambda: cells(page)[1:2] == ["Größe 3"])
        assert "143" in page.locator(".ag-paging-row-summary-panel").inner_text()
        assert "Größe" not in server.log.read_text(encoding="utf-8")
