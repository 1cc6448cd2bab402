"""The layout: five parts in their order, headings without a gap, nothing empty."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.reports.expect import about, made
from tests.reports.reports import report

import shoal
from shoal.reports.blocks import Box, Cards, Chart, Heading, Section, Table, Text
from shoal.reports.layout import blocks_of
from shoal.reports.of_release import of_release
from shoal.reports.of_risk import of_risk
from shoal.reports.of_verification import of_verification


def flat(blocks):
    """Yield every block, those inside of sections, too."""
    for block in blocks:
        if isinstance(block, Section):
            yield from flat(block.blocks)
        else:
            yield block


@pytest.fixture(scope="module")
def whole():
    return blocks_of(of_release(made("mondrian").report, about()))


def test_the_parts_stand_in_their_order(whole):
    parts = [each.text for each in flat(whole) if isinstance(each, Heading) and each.is_part]
    assert parts == [
        "1. For the decision",
        "2. The columns",
        "3. The risk",
        "4. The utility",
        "5. How it was made",
    ]


def test_no_level_of_headings_is_skipped(whole):
    """PDF/UA forbids it, and a reader who does not see the page is lost."""
    levels = [each.level for each in flat(whole) if isinstance(each, Heading)]
    assert levels[0] == 1
    assert all(low <= high + 1 for high, low in pairwise(levels))


def test_tables_are_whole_and_charts_have_words(whole):
    for each in flat(whole):
        if isinstance(each, Table):
            assert each.rows
            assert all(len(row) == len(each.head) for row in each.rows)
            assert not each.tones or len(each.tones) == len(each.rows)
        if isinstance(each, Chart):
            assert each.alt
            assert each.lines
            assert each.svg.startswith("<svg")


def test_the_first_page_has_three_numbers_and_a_box_to_sign(whole):
    (cards,) = (each for each in whole if isinstance(each, Cards))
    assert [card[0] for card in cards.cards] == ["risk", "loss", "records"]
    (box,) = (each for each in whole if isinstance(each, Box))
    assert len(box.lines) == 3


def test_warnings_stand_above_all_parts():
    blocks = blocks_of(of_release(report(warnings=("look here",))))
    titles = [each.text for each in blocks if isinstance(each, Heading)]
    assert titles.index("Warnings") < titles.index("1. For the decision")


def test_what_is_not_there_leaves_no_heading():
    bare = replace(report(), columns={}, privacy=())
    titles = [each.text for each in flat(blocks_of(of_release(bare))) if isinstance(each, Heading)]
    assert not {"The promise", "2. The columns", "Waivers", "Hierarchies", "Warnings"} & set(titles)


def test_a_profile_that_is_not_passed_says_why(whole):
    texts = [each.text for each in whole if isinstance(each, Text)]
    assert any(text.startswith("NOT passed: classes of at least 10") for text in texts)
    assert any("2010-12-01" in text for text in texts)


def test_every_kind_of_report_can_be_laid_out():
    frame = made("mondrian").table
    risk = shoal.risk(frame, qi=["age", "ward"])
    found = [
        of_risk(risk.to_document(), about(), quasi=["age"]),
        of_verification(shoal.verify(frame, qi=["age", "ward"], k=3), about()),
    ]
    for each in found:
        blocks = list(flat(blocks_of(each)))
        assert any(isinstance(block, Chart) for block in blocks)
        assert isinstance(blocks[0], Heading)


def test_columns_without_a_role_stand_below_the_table_however_many_there_are():
    names = [f"column_{number}" for number in range(40)]
    roles = {name: {"role": None, "waived": False} for name in names}
    roles["age"] = {"role": "quasi", "waived": False}
    blocks = blocks_of(of_release(report(roles=roles)))
    columns = next(each for each in blocks if isinstance(each, Table) and each.head[0] == "column")
    assert next(row[0] for row in columns.rows) == "age"
    assert not set(names) & {row[0] for row in columns.rows}
    texts = [each.text for each in blocks if isinstance(each, Text)]
    assert any(text.endswith(", ".join(names) + ".") for text in texts)
