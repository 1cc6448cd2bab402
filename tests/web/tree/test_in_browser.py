"""The tree in a real browser, by the keyboard: edited, undone, and taken over into the project."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("playwright")

from tests.web.chromium import SLOW, browsed, needs_chromium
from tests.web.server import served

from shoal.hierarchies.read import load_hierarchy

pytestmark = needs_chromium
FOCUS = "[role=tree]"


def label(page):
    """The row that the keyboard stands on."""
    name = page.locator(FOCUS).get_attribute("aria-activedescendant")
    return page.locator(f"[id='{name}'] .tree-label").inner_text()


def until(holds):
    end = time.monotonic() + SLOW / 1000
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.03)


def press(page, *keys):
    page.locator(FOCUS).focus()
    for key in keys:
        page.keyboard.press(key)


def rows(page):
    return page.locator(".tree-label").all_inner_texts()


@pytest.mark.slow
def test_a_hierarchy_is_edited_by_the_keyboard(tmp_path):
    codes = [f"{a}{b}" for a in "123" for b in "123"]
    lines = ["zip,ill", *(f"{codes[at % 9]},{'ab'[at % 2]}" for at in range(60))]
    (tmp_path / "stays.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with served(tmp_path, "stays.csv") as server, browsed(server.address) as page:
        page.locator("#hierarchies .columns-row button", has_text="zip").click()
        page.wait_for_selector(".tree-row")
        assert rows(page)[:5] == ["*", "1*", "11", "12", "13"]
        tree = page.locator(FOCUS)
        assert tree.get_attribute("aria-multiselectable") == "true"
        first = page.locator("[role=treeitem]").nth(1)
        wanted = {"aria-level": "2", "aria-posinset": "1", "aria-setsize": "3",
                  "aria-expanded": "true"}  # fmt: skip
        assert {name: first.get_attribute(name) for name in wanted} == wanted
        press(page, "ArrowDown", "F2")
        page.wait_for_selector("input.tree-name:focus")
        page.keyboard.type("West")
        page.keyboard.press("Enter")
        until(lambda: "West" in rows(page))
        press(page, "ArrowDown")  # 11: cut it, and move it to 2*
        until(lambda: label(page) == "11")
        press(page, "Control+x", "End", "Home", *["ArrowDown"] * 5)
        until(lambda: label(page) == "2*")
        press(page, "Control+v")
        until(lambda: rows(page)[1:4] == ["West", "12", "13"])
        until(lambda: label(page) == "11")
        press(page, "s")  # split off, with a name of its own
        page.wait_for_selector("input.tree-name:focus")
        page.keyboard.press("Enter")
        until(lambda: "11 +" in rows(page))
        press(page, "Control+z")
        until(lambda: "11 +" not in rows(page))
        page.get_by_role("button", name="Use this hierarchy").click()
        place = tmp_path / "stays.project" / "hierarchies"
        until(lambda: place.is_dir() and len(list(place.iterdir())) == 1)
        (written,) = place.iterdir()
        found = load_hierarchy("zip", written)
        assert [row for row in found.to_rows() if row[1] == "West"] == [
            ("12", "West", "*"), ("13", "West", "*"),
        ]  # fmt: skip
        assert ("11", "2*", "*") in found.to_rows()

        def one_is_chosen():  # the tree is drawn anew meanwhile
            press(page, "ArrowDown", "Escape")
            return page.locator(".tree-row.chosen").count() == 1

        until(one_is_chosen)


@pytest.mark.nightly
def test_two_tabs_edit_one_tree(tmp_path):
    lines = ["zip,ill", *(f"{10 + at % 4},{'ab'[at % 2]}" for at in range(40))]
    (tmp_path / "stays.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with served(tmp_path, "stays.csv") as server, browsed(server.address) as one:
        one.locator("#hierarchies .columns-row button", has_text="zip").click()
        one.wait_for_selector(".tree-row")
        other = one.context.new_page()
        other.goto(server.address.partition("?")[0])
        other.locator("#hierarchies .columns-row button", has_text="zip").click()
        other.wait_for_selector(".tree-row")
        press(other, "ArrowDown", "F2")
        other.wait_for_selector("input.tree-name:focus")
        other.keyboard.type("West")
        other.keyboard.press("Enter")
        until(lambda: "West" in rows(one))
        press(one, "Control+z")
        until(lambda: "West" not in rows(other))
