"""The guide's table of formats is the one of the source."""

from __future__ import annotations

from tests.docs import formats


def test_the_table_of_the_guide_is_the_one_of_the_source():
    page = formats.PAGE.read_text(encoding="utf-8")
    found = formats.BLOCK.search(page)
    assert found is not None
    assert found[0] == formats.table(), "python -m tests.docs.formats renews it"
