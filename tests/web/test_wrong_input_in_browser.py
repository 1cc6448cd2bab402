"""Wrong input is refused with a word at each step, in a real browser, and nothing is lost by it."""

from __future__ import annotations

import pytest
import yaml
from tests.web.chromium import browsed, needs_chromium
from tests.web.server import served

pytestmark = [needs_chromium, pytest.mark.nightly]


def refused(page, words: str) -> None:
    """Wait for a refusal, and let it go."""
    page.locator(".q-notification", has_text=words).first.wait_for()


def chosen(page, name: str) -> None:
    page.get_by_label("A file of this folder").click()
    page.get_by_label("A file of this folder").fill(name)
    page.locator(".q-menu .q-item", has_text=name).first.click()


def test_wrong_input_is_refused_at_each_step(folder):
    (folder / "broken.parquet").write_bytes(b"PAR1 and no more")
    (folder / "empty.csv").write_text("a,b\n")
    with served(folder) as server, browsed(server.address) as page:
        for name, why in (("broken.parquet", "cannot be read"), ("empty.csv", "no record")):
            chosen(page, name)
            refused(page, why)
        page.get_by_role("button", name="A database").click()
        dialog = page.locator(".dialog")
        for address, why in (("sqlite:////etc/passwd", "outside"), ("nothing", "address"),
                             ("postgresql://me:secret@host/db", "password")):  # fmt: skip
            dialog.get_by_label("Address", exact=True).fill(address)
            dialog.get_by_label("Table", exact=True).fill("t")
            dialog.get_by_role("button", name="Open", exact=True).click()
            dialog.locator(".note", has_text=why).wait_for()
        dialog.get_by_role("button", name="Close").click()
        dialog.wait_for(state="hidden")

        chosen(page, "stays.csv")
        page.wait_for_selector("#risk .figure")
        page.wait_for_selector(".card .bars")
        before = (folder / "stays.project" / "schema.yaml").read_text()
        page.click(".card[aria-label='zip']")
        page.get_by_label("Weight of its loss").fill("-3")
        refused(page, "weight")

        page.locator("#hierarchies .columns-row button", has_text="stay_days").click()
        page.get_by_label("Widths, level by level").fill("five")
        page.locator("#hierarchies").get_by_role("button", name="Preview").click()
        refused(page, "numbers")

        page.get_by_role("spinbutton", name="k (-k)").fill("0")
        refused(page, "k must be")

        sizes = page.get_by_label("Class size k")
        sizes.fill("many")
        sizes.press("Enter")
        sizes.press("Escape")
        page.locator("#explore").get_by_role("button", name="Compare").click()
        refused(page, "whole numbers")
        assert (folder / "stays.project" / "schema.yaml").read_text() == before

        place = page.locator("#release").get_by_role("textbox", name="Release", exact=True)
        place.fill("../out.csv")
        refused(page, "outside")
        page.get_by_role("spinbutton", name="k (-k)").fill("4000")
        page.wait_for_selector("#shoal-command")
        page.wait_for_function("document.body.innerText.includes('at least 4,000 records')")
        page.click("#try")
        page.locator("#result .note", has_text="no solution").wait_for()
        page.click("#write")
        page.locator("#release .note", has_text="Nothing was released").wait_for()
        assert not list(folder.rglob("*.release.csv"))
        assert not (folder.parent / "out.csv").exists()
        schema = yaml.safe_load((folder / "stays.project" / "schema.yaml").read_text())
        assert schema["privacy"][0]["k"] == 4000
        assert server.log.read_text() == ""


def test_three_million_rows_are_looked_at_sorted_and_measured_on_a_sample(tmp_path):
    import numpy as np
    import polars as pl

    folder, records = tmp_path / "w", 3_000_000
    folder.mkdir()
    random = np.random.default_rng(0)
    pl.DataFrame(
        {"age": random.integers(0, 100, records), "zip": random.integers(10_000, 60_000, records),
         "ill": random.integers(0, 9, records), "number": np.arange(records) * 7 % records}
    ).write_csv(folder / "large.csv")  # fmt: skip
    first = ".ag-center-cols-container .ag-row[row-index='0'] .ag-cell"
    with served(folder) as server, browsed(server.address) as page:
        page.set_default_timeout(300_000)
        chosen(page, "large.csv")
        page.wait_for_selector(first)
        page.locator("#risk .note", has_text="sample of 100,000 of 3,000,000").wait_for()
        page.locator(".chips", has_text="3,000,000").wait_for()
        page.wait_for_selector(".job", state="hidden")
        head = page.locator(".ag-header-cell[col-id='c3'] .ag-header-cell-label")
        cell = f"document.querySelectorAll({first!r})[3].textContent.replaceAll(',', '')"
        head.click()
        page.wait_for_function(f"{cell} === '0'")
        head.click()
        page.wait_for_function(f"{cell} === '2999999'")
