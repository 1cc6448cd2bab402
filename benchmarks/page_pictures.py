"""Pictures of the page for its guide: every step, light and dark, in Debian's chromium.

`python -m benchmarks.page_pictures [FOLDER]` serves a made-up table out of a temporary folder,
walks through the steps, and writes docs/images/page-STEP-LOOK.png.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.samples import hospital

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Page

CHROMIUM = "/usr/bin/chromium"
IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
STEPS = ("data", "columns", "hierarchies", "promise", "explore", "result", "release")
PATIENCE = 600_000
MOST = 1_700  # pixels: the result goes on for long


def main(goal: Path = IMAGES) -> int:
    """Take every picture."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hospital(folder / "stays.csv", 3_000, seed=3)
        process = subprocess.Popen(
            [sys.executable, "-m", "shoal", "web", "stays.csv", "--no-open"], cwd=folder,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            with sync_playwright() as found:
                browser = found.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
                page.set_default_timeout(PATIENCE)
                page.goto(address)
                walk(page, goal)
                browser.close()
        finally:
            process.terminate()
            process.wait()
    return 0


def walk(page: Page, goal: Path) -> None:
    """Go through the steps, and take their pictures."""
    page.wait_for_selector("#risk .figure")
    page.wait_for_selector(".card .bars")
    page.click(".card[aria-label='zip']")
    page.wait_for_selector("#columns .detail")
    page.locator("#hierarchies .columns-row button", has_text="zip").click()
    page.wait_for_selector(".tree-row")
    page.click("#try")
    page.wait_for_selector("#result .verdict")
    page.locator("#explore").get_by_role("button", name="Compare").click()
    page.wait_for_selector("#explore table.plain tbody tr:nth-child(12)")
    for look in ("light", "dark"):
        if look == "dark":
            page.get_by_role("button", name="Light or dark").click()
        page.wait_for_timeout(4000)
        page.mouse.move(0, 0)  # nothing is pointed at
        page.evaluate("window.scrollTo(0, 0)")
        page.wait_for_timeout(600)
        page.screenshot(path=str(goal / f"page-{look}.png"))
        for step in STEPS:
            box = page.locator(f"section#{step}").bounding_box()
            assert box is not None, step
            clip: FloatRect = {**box, "height": min(box["height"], MOST)}
            page.screenshot(path=str(goal / f"page-{step}-{look}.png"), full_page=True, clip=clip)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
