"""Bins: at most a dozen, covering every value, with names that say what is in them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies.tree import Hierarchy
from shoal.measures.binning import (
    BINS,
    MISSING,
    bins_of,
    spread_nodes,
    spread_points,
    spread_runs,
)
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain

NUMBERS = st.lists(
    st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=60, unique=True
).map(sorted)


def numbers(values, *, missing=False, kind=Kind.NUMERIC):
    """Return a domain on a line."""
    labels = [None] * missing + [f"{value:g}" for value in values]
    places = [float(values[0] if values else 0)] * missing + [float(value) for value in values]
    return line_domain("x", kind, labels, places)


@given(NUMBERS, st.booleans())
def test_every_number_has_a_bin_and_its_place_lies_in_it(values, missing):
    domain = numbers(values, missing=missing)
    found = bins_of(domain, None)
    assert found.size <= BINS + 1 + missing
    assert len(found.of_code) == len(domain)
    assert found.of_code.min() >= 0
    assert found.of_code.max() < found.size
    if missing:
        assert found.names[0] == MISSING
        assert (found.of_code[1:] > 0).all()
    if found.edges is not None:
        inner = found.of_code[missing:] - missing
        places = np.array(values)
        assert (found.edges[inner] <= places + 1e-9).all()
        assert (places <= found.edges[inner + 1] + 1e-9).all()


@given(NUMBERS, st.data())
def test_a_run_is_shared_out_wholly_and_only_where_it_lies(values, data):
    domain = numbers(values)
    found = bins_of(domain, None)
    low = data.draw(st.integers(0, len(values) - 1))
    high = data.draw(st.integers(low, len(values) - 1))
    (shares,) = spread_runs(found, domain, np.array([low]), np.array([high]))
    assert shares.sum() == pytest.approx(1)
    assert shares.min() >= 0
    touched = np.flatnonzero(shares > 0)
    assert touched.min() >= found.of_code[low]
    assert touched.max() <= found.of_code[high]


def test_whole_numbers_are_named_by_the_last_one_before_the_next_step():
    found = bins_of(numbers(range(17, 91)), None)
    assert found.names[:3] == ("10 – 19", "20 – 29", "30 – 39")
    assert found.names[-1] == "90 – 99"
    assert found.of_code[0] == 0


def test_fractions_are_named_by_both_ends():
    found = bins_of(numbers([i / 10 for i in range(31)]), None)
    assert found.names[0] == "0 – 0.5"


def test_dates_are_binned_by_equal_steps_of_time_that_occur():
    days = [*range(20), 1000]
    found = bins_of(numbers(days, kind=Kind.DATE), None)
    assert found.names == ("0 – 19", "1000")
    assert found.edges is None


def test_ordered_values_are_binned_in_runs_of_equal_length():
    found = bins_of(numbers(range(24), kind=Kind.ORDINAL), None)
    assert found.size == BINS
    assert np.bincount(found.of_code).tolist() == [2] * BINS
    assert found.names[0] == "0 – 1"


def test_categories_are_binned_by_the_deepest_level_with_few_enough_nodes():
    rows = [(f"{a}{b}{c}", f"{a}{b}*", f"{a}**", "*") for a in "xy" for b in "1234" for c in "pqr"]
    tree = Hierarchy.from_rows("zip", rows)
    domain = tree_domain(
        "zip", Kind.CATEGORICAL, [row[0] for row in rows], tree, missing=True, weight=1.0
    )
    found = bins_of(domain, None)
    assert set(found.names) == {MISSING, *(f"{a}{b}*" for a in "xy" for b in "1234")}
    nodes = np.array([tree_index(domain, "x**"), tree_index(domain, "*")])
    shares = spread_nodes(found, domain.tree, domain.position.astype(np.int64), nodes)
    named = dict(zip(found.names, shares[0], strict=True))
    assert named["x1*"] == pytest.approx(1 / 4)
    assert named["y1*"] == named[MISSING] == 0
    assert shares[1].sum() == pytest.approx(1)
    assert shares[1].min() > 0


def tree_index(domain, label):
    """Return the node with a label."""
    return domain.tree.index(label)


def test_a_flat_hierarchy_of_many_values_names_the_commonest():
    values = [f"v{i:02}" for i in range(30)]
    domain = tree_domain(
        "x", Kind.CATEGORICAL, values, Hierarchy.flat("x", values), missing=False, weight=1.0
    )
    weights = np.arange(30, dtype=np.float64)
    found = bins_of(domain, weights)
    assert found.names[-1] == "19 others"
    assert "v29" in found.names
    assert "v00" not in found.names
    assert (np.bincount(found.of_code) == [*[1] * 11, 19]).all()


def test_points_stand_in_their_bin_and_what_stands_nowhere_is_spread():
    domain = numbers(range(100))
    found = bins_of(domain, None)
    points = np.array([[4.5, 4.0], [95.0, 95.0], [np.nan, np.nan]])
    shares = spread_points(found, points)
    assert shares[0].argmax() == found.of_code[4]
    assert shares[1].argmax() == found.of_code[95]
    assert shares[2] == pytest.approx(np.full(found.size, 1 / found.size))


def test_a_missing_centroid_stands_in_the_missing_bin():
    domain = numbers(range(100), missing=True)
    shares = spread_points(bins_of(domain, None), np.array([[0.0, 0.0], [0.0, 1.0]]))
    assert shares[0].argmax() == 0
    assert shares[1].argmax() == 1


def test_numbers_that_are_all_alike_have_one_bin():
    found = bins_of(numbers([7]), None)
    assert found.names == ("7",)
    assert bins_of(line_domain("x", Kind.NUMERIC, [None], [0.0]), None).names == (MISSING,)
