from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import privacy as naive

from shoal.core.errors import PrivacyError
from shoal.privacy.distances import (
    DISTANCES,
    Reference,
    chi_square_distance,
    equal_distance,
    hierarchical_distance,
    ordered_distance,
)

COUNTS = st.integers(0, 4)


@st.composite
def two_spreads(draw, size=None):
    size = size or draw(st.integers(1, 5))
    spread = st.lists(COUNTS, min_size=size, max_size=size).filter(any)
    return draw(spread), draw(spread)


@st.composite
def trees(draw):
    """A post-order tree, often unbalanced: (parents, heights)."""

    def grow(depth):
        below = draw(st.integers(0, 3)) if depth else 0
        return [grow(depth - 1) for _ in range(below)]

    parents: list[int] = []
    heights: list[int] = []

    def number(branch):
        children = [number(child) for child in branch]
        parents.append(-1)
        heights.append(1 + max((heights[child] for child in children), default=-1))
        for child in children:
            parents[child] = len(parents) - 1
        return len(parents) - 1

    number([grow(2) for _ in range(draw(st.integers(1, 3)))])
    return parents, heights


@given(two_spreads())
def test_equal_distance_is_the_cheapest_transport(spreads):
    p, q = spreads
    expected = naive.earth_movers_distance(p, q, naive.equal_ground)
    assert equal_distance(p, q) == float(expected)


@given(two_spreads())
def test_ordered_distance_is_the_cheapest_transport(spreads):
    p, q = spreads
    expected = naive.earth_movers_distance(p, q, naive.ordered_ground(len(p)))
    assert ordered_distance(p, q) == float(expected)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_hierarchical_distance_is_the_cheapest_transport(data):
    parents, heights = data.draw(trees())
    # Any node may hold a value, inner nodes too; a few of them keep the twin quick.
    seats = data.draw(st.sets(st.sampled_from(range(len(parents))), min_size=1, max_size=5))
    few_p, few_q = data.draw(two_spreads(size=len(seats)))
    p, q = [0] * len(parents), [0] * len(parents)
    for seat, ours, theirs in zip(sorted(seats), few_p, few_q, strict=True):
        p[seat], q[seat] = ours, theirs
    expected = naive.earth_movers_distance(p, q, naive.hierarchical_ground(parents, heights))
    assert hierarchical_distance(p, q, parents=parents, heights=heights) == float(expected)


@given(two_spreads())
def test_chi_square_distance_agrees_with_exact_fractions(spreads):
    p, q = spreads
    assert chi_square_distance(p, q) == float(naive.chi_square(p, q))


@given(two_spreads(), st.integers(1, 10**9))
def test_distances_are_symmetric_bounded_and_blind_to_scale(spreads, factor):
    p, q = spreads
    for distance in (equal_distance, ordered_distance, chi_square_distance):
        value = distance(p, q)
        assert 0 <= value <= 1
        assert distance(q, p) == value
        assert distance([count * factor for count in p], q) == value
        assert distance(p, p) == 0


def test_examples_of_the_t_closeness_paper():
    salaries = [1] * 9  # 3k … 11k, section 5
    assert ordered_distance([1, 1, 1, 0, 0, 0, 0, 0, 0], salaries) == 0.375
    assert ordered_distance([0, 0, 0, 1, 0, 1, 0, 0, 1], salaries) == 1 / 6


def test_a_tree_of_one_level_is_the_equal_distance():
    p, q = [3, 0, 1, 0], [1, 1, 2, 0]
    star = {"parents": [3, 3, 3, -1], "heights": [0, 0, 0, 1]}
    assert hierarchical_distance(p, q, **star) == equal_distance(p, q)


def test_a_single_value_is_no_distance_away():
    assert ordered_distance([3], [9]) == 0
    assert hierarchical_distance([3], [9], parents=[-1], heights=[0]) == 0


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_three_million_records_do_not_overflow_whatever_the_array_type(dtype):
    p = np.array([3_000_000, 0, 1], dtype=dtype)
    q = np.array([1, 0, 3_000_000], dtype=dtype)
    expected = 2_999_999 / 3_000_001
    assert equal_distance(p, q) == expected
    assert ordered_distance(p, q) == expected
    assert chi_square_distance(p, q) == float(naive.chi_square(p.tolist(), q.tolist()))
    star = {"parents": [3, 3, 3, -1], "heights": [0, 0, 0, 1]}
    assert hierarchical_distance([*p, 0], [*q, 0], **star) == expected


def test_one_record_of_three_million_is_seen():
    assert equal_distance([1_500_000, 1_500_000], [1_500_001, 1_499_999]) == 1 / 3_000_000


@pytest.mark.parametrize(
    ("p", "q", "problem"),
    [
        ([1, 2], [1, 2, 3], "2 values"),
        ([0, 0], [1, 2], "without records"),
        ([1, 2], [0, 0], "without records"),
        ([], [], "without records"),
        ([2, -1], [1, 1], "negative"),
        ([0.5, 0.5], [1, 1], "whole numbers"),
    ],
)
def test_counts_that_make_no_spread_are_refused(p, q, problem):
    for distance in (equal_distance, ordered_distance, chi_square_distance):
        with pytest.raises(PrivacyError, match=problem):
            distance(p, q)


@pytest.mark.parametrize(
    ("parents", "heights"),
    [
        ([2, 2], [0, 0, 1]),  # lengths
        ([2, 2, 0], [0, 0, 1]),  # no root
        ([2, -1, -1], [0, 0, 1]),  # two roots
        ([1, 0, -1], [0, 0, 1]),  # a parent before its child
        ([2, 3, -1], [0, 0, 1]),  # a parent outside
        ([2, 2, -1], [0, 0, 0]),  # heights that do not grow
    ],
)
def test_what_is_not_a_post_order_tree_is_refused(parents, heights):
    with pytest.raises(PrivacyError):
        hierarchical_distance([1, 1, 0], [1, 2, 0], parents=parents, heights=heights)


def tree_reference(**changes):
    #       4
    #     2   3
    #    0 1
    facts = {
        "counts": [2, 2, 4],
        "parents": [2, 2, 4, 4, -1],
        "heights": [0, 0, 1, 0, 2],
        "node_of_value": [3, 0, 1],
    }
    return Reference(**(facts | changes))


def test_values_take_their_place_in_the_tree():
    reference = tree_reference()
    assert reference.distance("hierarchical", [0, 1, 0], other=[0, 0, 1]) == 0.5
    assert reference.distance("hierarchical", [0, 1, 0], other=[1, 0, 0]) == 1


def test_a_missing_value_is_far_from_all_others():
    reference = tree_reference(counts=[2, 2, 4, 1, 1], node_of_value=[-1, 0, 1, 4, 2])
    for other in range(1, 5):
        unit = [int(i == other) for i in range(5)]
        assert reference.distance("hierarchical", [1, 0, 0, 0, 0], other=unit) == 1
    assert reference.distance("hierarchical", [0, 1, 0, 0, 0], other=[0, 0, 0, 0, 1]) == 0.5
    lone = Reference([1, 1], parents=[-1], heights=[0], node_of_value=[0, -1])
    assert lone.distance("hierarchical", [1, 0], other=[0, 1]) == 1


def test_reference_compares_with_the_whole_table_by_every_distance():
    reference = tree_reference()
    for kind in DISTANCES:
        assert reference.distance(kind, [1, 1, 2]) == 0
        assert reference.distance(kind, [4, 0, 0]) > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"counts": []},
        {"counts": [0, 0, 0]},
        {"values": ["a", "b"]},
        {"heights": None},
        {"node_of_value": [0, 1]},
        {"node_of_value": [0, 1, 5]},
        {"node_of_value": [0, 1, 1]},
        {"node_of_value": [0, 1, "2"]},
        {"parents": [2, 2, 1, 4, -1]},
        {"parents": [], "heights": []},
    ],
)
def test_a_reference_whose_parts_do_not_fit_is_refused(changes):
    with pytest.raises(PrivacyError):
        tree_reference(**changes)


def test_unknown_distance_and_missing_tree_are_refused():
    with pytest.raises(PrivacyError, match="equal, ordered"):
        Reference([1]).distance("euclid", [1])  # type: ignore[arg-type]
    with pytest.raises(PrivacyError, match="needs a hierarchy"):
        Reference([1, 2]).distance("hierarchical", [1, 0])


def test_reference_hides_its_values_and_survives_a_worker():
    reference = Reference([1, 2], values=["asthma", None])
    assert "asthma" not in repr(reference)
    assert pickle.loads(pickle.dumps(tree_reference())) == tree_reference()
