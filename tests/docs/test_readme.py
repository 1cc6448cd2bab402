"""README's first commands print what README shows."""

from __future__ import annotations

from tests.docs import readme


def test_make_run_prints_what_readme_shows():
    page = readme.README.read_text(encoding="utf-8")
    block = readme.BLOCK.search(page)
    assert block is not None
    assert block[0] == readme.run(), "make readme renews it"


def test_what_is_shown_ends_with_the_risks_and_leaves_warnings_of_the_verdict_out():
    released = ["5 of 5", "  WARNING     a", "  risk after  20 %", "  time        1 s"]
    assert readme.shown(released, ["safe", "  WARNING     a", "  records     5"]) == (
        "5 of 5\n  WARNING     a\n  risk after  20 %\n…\nsafe\n…\n  records     5\n"
    )
