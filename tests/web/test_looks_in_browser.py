"""The page is read by everybody: contrast, names of controls, widths, two languages, two looks."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from tests.web.chromium import browsed, needs_chromium
from tests.web.server import served

from shoal.web.page import STATIC
from shoal.web.texts import Texts

ASK = Path(__file__).with_name("looks.js").read_text(encoding="utf-8")
PAPERS = ("paper", "ground")
PAIRS = [
    *itertools.product(("ink", "soft", "accent", "safe", "unsafe"), PAPERS),
    ("ink", "accent-soft"), ("ink", "safe-soft"), ("ink", "unsafe-soft"), ("safe", "safe-soft"),
    ("unsafe", "unsafe-soft"), ("accent", "accent-soft"), ("soft", "accent-soft"),
]  # fmt: skip


def colours(look: str) -> dict[str, str]:
    """The colours of a look, as the style sheet names them."""
    text = (STATIC / "page.css").read_text(encoding="utf-8")
    block = text.partition(":root {" if look == "light" else "body.body--dark {")[2]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block.partition("}")[0]))


def brightness(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("look", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(look):
    known = colours(look)
    for ink, paper in PAIRS:
        low, high = sorted(brightness(known[name]) for name in (ink, paper))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, paper)


@pytest.mark.nightly
@needs_chromium
@pytest.mark.parametrize("language", ["en", "de"])
def test_all_of_the_page_is_legible_and_every_control_has_a_name(folder, language):
    texts = Texts(language)
    with served(folder, "stays.csv") as server, browsed(server.address) as page:
        page.wait_for_selector("#risk .figure")
        page.goto(page.url.partition("?")[0] + f"?lang={language}")
        page.wait_for_selector(".card .bars")
        page.click(".card[aria-label='cost']")
        page.wait_for_selector("#columns .detail")
        page.locator("#hierarchies .columns-row button", has_text="zip").click()
        page.wait_for_selector(".tree-row")
        page.click("#try")
        page.wait_for_selector("#result .verdict")
        page.wait_for_selector(".job", state="hidden")
        for look in ("light", "dark"):
            dark = look == "dark"
            if dark:
                page.get_by_role("button", name=texts("shell.dark")).click()
                page.wait_for_selector("body.body--dark")
            page.mouse.move(0, 0)
            page.wait_for_selector(".q-tooltip", state="detached")
            for width in (1280, 1600):
                page.set_viewport_size({"width": width, "height": 900})
                # Colours fade into each other where the look changes: wait until they stand.
                page.wait_for_function(f"({ASK}).faint().length === 0")
                assert page.evaluate(f"({ASK}).nameless()") == []
                assert page.evaluate(f"({ASK}).wide()") <= 0
                assert page.evaluate(f"({ASK}).cut()") == []
