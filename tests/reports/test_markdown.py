"""The report as Markdown: nothing in it is markup that is not ours."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.reports.reports import BROKEN, report

from shoal.reports.markdown import escaped, to_markdown
from shoal.reports.of_release import of_release


def test_the_parts_are_there_and_tables_are_whole():
    page = to_markdown(of_release(report(request={"seed": 1, "x": "```"})))
    for part in ("1. For the decision", "3. The risk", "4. The utility", "5. How it was made"):
        assert f"## {part}" in page
    tables = re.findall(r"(?:^\|.*\|$\n?)+", page, re.MULTILINE)
    for table in tables:
        sizes = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(sizes) == 1, table
    assert "````\n" in page


def test_hostile_names_are_text():
    page = to_markdown(of_release(report(privacy=(BROKEN,), columns={"<b>|x": 0.1})))
    assert "<b>" not in page
    assert r"\<b\>\|x" in page


@given(st.text(max_size=30))
def test_a_text_stays_on_one_line_and_opens_nothing(text):
    found = escaped(text)
    assert "\n" not in found
    assert not re.search(r"(?<!\\)(?:\\\\)*[<>|`*\[\]]", found)
