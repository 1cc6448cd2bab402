"""What people read: a warning stands before every number, in words, in JSON and in the report."""

from __future__ import annotations

import pytest

from shoal.cli.render import (
    as_json,
    at,
    attack_lines,
    entries,
    measures,
    risk_lines,
    rows,
    summary,
    verification,
)  # fmt: skip
from shoal.reports.html import to_html
from shoal.reports.of_release import of_release
from shoal.reports.release import ReleaseReport, Risk, Verification

RISK = Risk(records=4, classes=2, smallest_class=2, unique=0)
RELEASE = ReleaseReport(
    method="mondrian", records=4, released=4, suppressed=0, classes=2, smallest_class=2,
    privacy=(), utility={"ncp": 0.5}, risk_before=RISK, risk_after=RISK, seconds={"total": 1.0},
    warnings=("look here <first>",), notices=("and here",),
)  # fmt: skip


def test_a_warning_is_printed_right_after_the_head_of_a_release() -> None:
    lines = summary(RELEASE, out=None).splitlines()
    assert lines[1] == "  WARNING     look here <first>"
    assert lines[-1] == "  notice      and here"
    assert RELEASE.to_document()["warnings"] == ["look here <first>"]


def test_a_warning_stands_before_the_promise_in_the_report() -> None:
    page = to_html(of_release(RELEASE))
    assert page.index("look here &lt;first&gt;") < page.index("For the decision")


def test_a_warning_is_printed_right_after_the_verdict_of_a_verification() -> None:
    found = Verification(
        records=4, classes=2, smallest_class=2, violating_records=0, privacy=(), warnings=("look",)
    )
    assert verification(found).splitlines()[1] == "  WARNING     look"
    assert found.to_document()["warnings"] == ["look"]


def test_a_document_is_read_by_paths_and_what_is_not_there_is_nothing() -> None:
    document = {"a": {"b": {"c": 1}}, "list": [1, 2], "none": None}
    assert at(document, "a", "b", "c") == 1
    assert at(document) is document
    for path in (("a", "x"), ("a", "b", "c", "d"), ("none", "x"), ("list", "x")):
        assert at(document, *path) is None
        assert entries(document, *path) == {}
        assert list(rows(document, *path)) == []
    assert entries(document, "a", "b") == {"c": 1}
    assert rows(document, "list") == [1, 2]


def test_json_is_one_line_and_has_no_numbers_that_json_does_not_know() -> None:
    assert as_json({"größe": [1, None]}) == '{"größe": [1, null]}'
    with pytest.raises(ValueError, match="JSON"):
        as_json({"x": float("nan")})


def test_attacks_stand_in_columns() -> None:
    attack = {"attack": "linkage", "before": {"success": 1.0},
              "after": {"success": 0.25, "baseline": 0.125}}  # fmt: skip
    assert attack_lines([]) == []
    assert attack_lines([attack]) == [
        "  attack   before    after  guessing",
        "  linkage  100.0%   25.0%     12.5%",
    ]


def test_risks_stand_side_by_side_and_unknown_ones_are_left_out() -> None:
    before = {"prosecutor": {"maximum": 1.0}, "below": {"5": 1200}, "journalist": None}
    after = {"prosecutor": {"maximum": 0.5}, "below": None}
    head, highest, few = risk_lines(before, after)
    assert head.split() == ["risk", "before", "after"]
    assert highest.split() == ["prosecutor,", "highest", "100.00%", "50.00%"]
    assert few.split() == ["records", "below", "5", "alike", "1,200", "-"]
    assert len({len(line) for line in (head, highest, few)}) == 1
    assert risk_lines(before, after, records=True)[0].split()[:3] == ["risk", "of", "records"]


def test_a_measure_that_is_not_known_says_so_and_why() -> None:
    document = {
        "released": 3, "records": 4, "suppressed": 1, "classes": 2, "smallest_class": 1,
        "notices": ["look"], "notes": {"precision": "no hierarchy"},
        "utility": {"ncp": 0.123456789, "precision": None, "gain": "infinite", "entropy": 1.0},
    }  # fmt: skip
    assert measures(document).splitlines() == [
        "3 of 4 records released, 1 suppressed, 2 classes, the smallest has 1 records",
        "  notice          look",
        "  ncp             0.123457",
        "  precision       not known (no hierarchy)",
        "  gain            infinite",
    ]


def test_risks_of_persons_say_so():
    risks = {"prosecutor": {"maximum": 0.5}, "below": {"5": 3}, "persons": 9}
    lines = risk_lines(risks, risks)
    assert any(line.split()[:4] == ["persons", "below", "5", "alike"] for line in lines)
