"""What became of items, as lines."""

from __future__ import annotations

import pytest

from shoal.cli.set_words import set_lines

FACTS = {
    "kept_occurrences": 0.805, "occurrences": 43367, "suppressed_occurrences": 0.0,
    "kept_items": 79, "items": 169, "labels": 111, "query_error": 0.16, "frequent_recall": 0.88,
    "top_sets": 0.94,
}  # fmt: skip


def test_each_fact_has_its_line():
    lines = dict(set_lines(FACTS))
    assert lines["items"].startswith("80.5% of 43,367 occurrences as they were")
    assert "16%" in lines["queries"]
    assert "88%" in lines["frequent"]


@pytest.mark.parametrize("none", [None, [], "text"])
def test_a_release_without_sets_has_none(none):
    assert set_lines(none) == []


def test_what_is_not_known_is_left_out():
    assert [name for name, _ in set_lines({**FACTS, "query_error": None})] == ["items", "frequent"]
    assert [name for name, _ in set_lines({**FACTS, "frequent_recall": None})] == [
        "items",
        "queries",
    ]
