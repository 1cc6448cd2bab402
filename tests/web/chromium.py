"""A real browser: Debian's Chromium, driven by Playwright; without one, tests are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

PLACE = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

SLOW = 240_000
"""Milliseconds that anything may take: conditions are waited for, and machines are busy."""

needs_chromium = pytest.mark.skipif(
    not Path(PLACE).exists(), reason="no Chromium here: Debian's package chromium has one"
)


@contextmanager
def browsed(
    address: str, *, height: int = 1000, width: int = 1400, is_quiet: bool = True
) -> Iterator[object]:
    """Open an address; afterwards nothing was asked of another machine, and nothing complained.

    is_quiet: complaints count; a page whose server is killed has some.
    """
    from playwright.sync_api import sync_playwright

    own = urlsplit(address).netloc
    asked: list[str] = []
    said: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=PLACE, args=list(FLAGS))
        try:
            context = browser.new_context(viewport={"width": width, "height": height})
            page = context.new_page()
            page.on("request", lambda request: asked.append(request.url))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("console", lambda words: words.type == "error" and said.append(words.text))
            page.set_default_timeout(SLOW)
            page.goto(address)
            yield page
        finally:
            browser.close()
    elsewhere = {url for url in asked if urlsplit(url).scheme in ("http", "https", "ws", "wss")
                 and urlsplit(url).netloc != own}  # fmt: skip
    assert not elsewhere
    assert not (is_quiet and said)
