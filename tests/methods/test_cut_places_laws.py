"""Laws of places: a cut stands between two values, and is no finer than it may be."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_cut_places import found, line, pairs

from shoal.core.grids import ClockGrid, DateGrid, NumberGrid
from shoal.hierarchies.build import Mask
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Kind
from shoal.table.domain import tree_domain

WHOLE = st.lists(st.integers(-3000, 3000), min_size=2, max_size=25, unique=True).map(sorted)


def roundest(low, high):
    """Return the multiples of the largest 1, 2 or 5 times a power of ten behind low, up to high."""
    for power in range(6, -1, -1):
        for factor in (5, 2, 1):
            step = factor * 10**power
            between = [step * at for at in range(low // step, high // step + 1) if step * at > low]
            if between:
                return between
    return []


@given(WHOLE)
def test_whole_numbers_are_cut_behind_one_value_and_up_to_the_next(values):
    texts = [str(value) for value in values]
    places = found(line(Kind.NUMERIC, texts, NumberGrid(digits=0)))
    finest = 10 ** max(0, (Decimal(values[-1] - values[0]) / 2000).adjusted())
    for code, at in pairs(places):
        assert values[code - 1] < int(at) <= values[code]
        assert int(at) % finest == 0
        assert int(at) == roundest(values[code - 1], values[code])[-1] or finest > 1
        assert places.before(at) == str(int(at) - 1)
    assert float(places.first) <= values[0]
    assert float(places.last) >= values[-1]


@given(WHOLE)
def test_cuts_ascend_and_none_comes_twice(values):
    places = found(line(Kind.NUMERIC, [str(v) for v in values], NumberGrid(digits=0)))
    at = [int(text) for _, text in pairs(places)]
    assert at == sorted(set(at))
    assert places.codes.tolist() == sorted(set(places.codes.tolist()))


@given(st.lists(st.integers(0, 4000), min_size=2, max_size=20, unique=True).map(sorted))
def test_days_are_cut_at_the_first_of_a_month(days):
    dates = [date(2015, 1, 1) + timedelta(days=day) for day in days]
    places = found(line(Kind.DATE, [day.isoformat() for day in dates], DateGrid()))
    wanted = [
        (code, dates[code].replace(day=1).isoformat())
        for code in range(1, len(dates))
        if (dates[code - 1].year, dates[code - 1].month) != (dates[code].year, dates[code].month)
    ]
    assert pairs(places) == wanted
    for _, at in wanted:
        assert date.fromisoformat(places.before(at)) + timedelta(days=1) == date.fromisoformat(at)


@given(st.lists(st.integers(0, 1439), min_size=2, max_size=20, unique=True).map(sorted))
def test_times_are_cut_at_hours(minutes):
    texts = [f"{at // 60:02d}:{at % 60:02d}:00" for at in minutes]
    places = found(line(Kind.DATE, texts, ClockGrid()))
    for code, at in pairs(places):
        assert texts[code - 1] < at <= texts[code]
        assert at.endswith(":00:00")
    crossed = sum(a // 60 != b // 60 for a, b in pairwise(minutes))
    assert len(places.at) == crossed


@settings(max_examples=60)
@given(
    st.lists(st.text("0123", min_size=4, max_size=4), min_size=2, max_size=12, unique=True),
    st.data(),
)
def test_a_cut_of_texts_says_no_more_than_enough_records_share(texts, data):
    texts = sorted(texts)
    records = data.draw(st.lists(st.integers(1, 4), min_size=len(texts), max_size=len(texts)))
    least = data.draw(st.integers(1, 6))
    tree = Mask().build("x", texts)
    domain = tree_domain("x", Kind.CATEGORICAL, texts, tree, missing=False, weight=1.0)
    labels = [str(label) for label in domain.labels]
    count = {text: records[labels.index(text)] for text in texts}
    places = found(domain, Mask(), records=records, least=least)
    for code, at in pairs(places):
        assert labels[code - 1] < at <= labels[code]
        assert sum(n for text, n in count.items() if text.startswith(at)) >= least
        assert not labels[code - 1].startswith(at)
    if least == 1:  # nothing is in the way of any cut
        assert places.codes.tolist() == list(range(1, len(texts)))


TREE = Hierarchy.from_rows(
    "x",
    [(leaf, leaf[0] + "?", "*") for leaf in ("aa", "ab", "ba", "bb", "ca", "cb", "cc")],
)


@given(st.sets(st.sampled_from([TREE.labels[leaf] for leaf in TREE.leaves]), min_size=2))
def test_a_cut_of_a_hierarchy_parts_what_is_below_different_nodes(leaves):
    some = sorted(leaves, key=TREE.index)
    domain = tree_domain("x", Kind.CATEGORICAL, some, TREE, missing=False, weight=1.0)
    for code, node in pairs(found(domain, TREE)):
        left, right = (TREE.index(str(domain.labels[at])) for at in (code - 1, code))
        assert left < node <= right
        if TREE.parents[left] != TREE.parents[right]:
            assert TREE.parents[left] < node  # the whole group is on the left side


@pytest.mark.parametrize("missing", [False, True])
def test_missing_values_have_no_place_on_the_line(missing):
    labels = [*([None] if missing else []), "1", "5", "9"]
    places = found(line(Kind.NUMERIC, labels))
    assert pairs(places) == [(1 + missing, "5"), (2 + missing, "9")]
    assert (places.first, places.last) == ("1", "9")
    assert places.codes.dtype == np.int32


def test_one_value_or_none_has_no_cut():
    assert pairs(found(line(Kind.NUMERIC, ["7"], NumberGrid(digits=0)))) == []
    assert found(line(Kind.NUMERIC, [None])) is None
