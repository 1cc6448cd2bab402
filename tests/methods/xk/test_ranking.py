"""Ranks, points and ties of outcomes, against counting one by one."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import MethodError
from shoal.methods.xk.candidates import Ranks
from shoal.methods.xk.ranking import (
    Measures,
    Preference,
    best_first,
    points,
    preference_of,
    ranks_of,
)

MEASURES = st.builds(
    Measures, st.integers(0, 5), st.fractions(0, 1, max_denominator=4), st.integers(0, 5)
)
RANKS = st.builds(Ranks, *(st.integers(1, 4) for _ in range(3)))


@given(found=st.lists(MEASURES, max_size=8))
def test_a_rank_is_one_more_than_the_worse_outcomes(found):
    distinct = set(found)
    for each, ranks in zip(found, ranks_of(found), strict=True):
        assert ranks.difference == 1 + sum(o.difference > each.difference for o in distinct)
        assert ranks.precision == 1 + sum(o.share < each.share for o in distinct)
        assert ranks.originals == 1 + sum(o.originals < each.originals for o in distinct)


def test_equal_outcomes_lift_nobody():
    worst, best = Measures(9, Fraction(1, 2), 1), Measures(1, Fraction(1), 5)
    assert ranks_of([worst, worst, worst, best])[-1] == Ranks(2, 2, 2)


@given(ranks=RANKS)
def test_the_preferred_rank_counts_twice(ranks):
    assert points(ranks, Preference.NONE) == sum(ranks)
    assert points(ranks, Preference.PRECISION) == sum(ranks) + ranks.precision
    assert points(ranks, Preference.ORIGINALS) == sum(ranks) + ranks.originals


@given(
    ranks=st.lists(RANKS, min_size=1, max_size=7),
    preference=st.sampled_from(list(Preference)),
)
def test_the_best_comes_first_and_nobody_is_lost(ranks, preference):
    order = best_first(ranks, preference, last=range(len(ranks)))
    assert sorted(order) == list(range(len(ranks)))
    totals = [points(ranks[i], preference) for i in order]
    assert totals == sorted(totals, reverse=True)
    for a, b in pairwise(order):
        if ranks[a] == ranks[b]:
            assert a > b  # the highest of equals


def test_where_points_are_equal_the_difference_decides():
    one, other = Ranks(3, 1, 1), Ranks(1, 2, 2)
    assert best_first([other, one], Preference.NONE, last=[0, 0]) == [1, 0]


def test_a_preference_is_found_by_its_name():
    assert preference_of("precision") is Preference.PRECISION
    with pytest.raises(MethodError, match="one of none, originals, precision"):
        preference_of("speed")
