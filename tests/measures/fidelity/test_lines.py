"""Kolmogorov and Smirnov's distance and Pearson's correlation: as looked for by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.measures.fidelity.made import made, releases
from tests.naive import fidelity as naive

from shoal.measures.fidelity.lines import correlation_changes, ks_distance


@settings(max_examples=150, deadline=None)
@given(releases(columns=("n", "r", "few")))
def test_the_distance_is_the_largest_gap_between_both_functions(found):
    for name, column in zip(found.names, found.columns, strict=True):
        before, after, kind = found.column(name)
        measured = ks_distance(column, found.released.sizes)
        if all(label is None for label in after):
            assert measured is None
            continue
        kind = "number" if column.half else "real"  # all that occur may be whole
        expected = naive.kolmogorov_smirnov(before, after, kind)
        assert measured == pytest.approx(expected, abs=1e-9)


def test_one_interval_over_all_of_a_skewed_column_by_hand():
    found = made(("few",), [("0",)] * 9 + [("9",)], [("[0, 9]",)] * 10)
    # Nine of ten are 0; spread evenly, a tenth is.
    assert ks_distance(found.columns[0], found.released.sizes) == pytest.approx(0.8)


@settings(max_examples=100, deadline=None)
@given(releases(columns=("n", "few")))
def test_the_change_of_correlation_is_that_of_middles_and_spreads(found):
    def spans(texts, column):
        return [None if text is None else naive.ends(text, column) for text in texts]

    raw = [[row[j] for row in found.before] for j in (0, 1)]
    new = [[row[j] for row in found.after] for j in (0, 1)]
    old_value = naive.correlation(*(spans(each, each) for each in raw), 1.0)
    new_value = naive.correlation(
        *(spans(each, column) for each, column in zip(new, raw, strict=True)), 1.0
    )
    measured = correlation_changes(
        found.columns, found.table.codes, found.table.counts, found.released.sizes
    )
    spread = [len({text for text in each if text is not None}) > 1 for each in raw]
    if not all(spread) or old_value is None:
        assert measured == []
    else:
        assert measured == pytest.approx([(new_value or 0.0) - old_value], abs=1e-9)


def test_one_class_of_everything_has_no_correlation_left():
    rows = [(str(n), str(n % 13)) for n in range(12)]
    found = made(("n", "few"), rows, [("[0, 11]", "[0, 11]")] * 12)
    measured = correlation_changes(
        found.columns, found.table.codes, found.table.counts, found.released.sizes
    )
    assert measured == pytest.approx([-1.0])
