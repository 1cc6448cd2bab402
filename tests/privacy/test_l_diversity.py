"""l-diversity of each kind follows its definition, also where floats would not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.naive import privacy as naive
from tests.privacy.classes import DECIMALS, HISTOGRAMS, class_of

from shoal.privacy import (
    LDiversity,
)


@given(HISTOGRAMS, st.integers(1, 6))
def test_distinct_l_follows_its_definition(histogram, l):
    assert LDiversity(l).holds(class_of(histogram)) == naive.distinct_l(histogram, l)


@given(HISTOGRAMS, st.integers(1, 6))
def test_entropy_l_follows_its_definition(histogram, l):
    model = LDiversity(l, kind="entropy")
    assert model.holds(class_of(histogram)) == naive.entropy_l(histogram, l)


@given(HISTOGRAMS, DECIMALS, st.integers(1, 6))
def test_recursive_l_follows_its_definition(histogram, c, l):
    model = LDiversity(l, kind="recursive", c=c)
    assert model.holds(class_of(histogram)) == naive.recursive_l(histogram, c, l)


@given(HISTOGRAMS, DECIMALS)
def test_recursive_measure_is_the_largest_l_that_holds(histogram, c):
    attained = LDiversity(1, kind="recursive", c=c).measure(class_of(histogram))
    assert attained == max(
        (l for l in range(1, 7) if naive.recursive_l(histogram, c, l)), default=0
    )


def test_recursive_sorts_from_the_commonest_value_downwards():
    # r = 3, 2, 1. Sorted upwards, r1 would be 1 and the tail 2 + 3: everything would pass.
    model = LDiversity(2, kind="recursive", c=1)
    assert not model.holds(class_of([1, 2, 3]))
    assert LDiversity(2, kind="recursive", c=1.1).holds(class_of([2, 1, 3]))


def test_recursive_tie_fails_also_where_floats_would_let_it_pass():
    assert 55 < 1.1 * 50  # the trap
    assert not LDiversity(2, kind="recursive", c=1.1).holds(class_of([55, 50]))


def test_recursive_fails_with_fewer_values_than_l():
    assert not LDiversity(3, kind="recursive", c=1000).holds(class_of([5, 5, 0]))


@given(st.integers(1, 400), st.integers(1, 10**7), st.integers(0, 3))
def test_entropy_of_equal_shares_reaches_exactly_l(l, each, unused):
    summary = class_of([each] * l + [0] * unused)
    assert LDiversity(l, kind="entropy").measure(summary) == l
    assert LDiversity(l, kind="entropy").holds(summary)
    assert not LDiversity(l + 1, kind="entropy").holds(summary)


def test_entropy_reaches_l_exactly_with_unequal_shares_too():
    # 1/2 and four times 1/8: two bits, so exactly 4-diverse over five values.
    assert LDiversity(4, kind="entropy").holds(class_of([4, 1, 1, 1, 1]))
    # 12^12 = 3^12 · 8^8, yet logarithms give 2.9999999999999996.
    assert naive.entropy_l([8, 1, 1, 1, 1], 3)
    assert LDiversity(3, kind="entropy").holds(class_of([8, 1, 1, 1, 1]))
    assert not LDiversity(2, kind="entropy").holds(class_of([4, 1]))


def test_entropy_l_may_be_a_fraction():
    assert LDiversity(1.5, kind="entropy").holds(class_of([4, 1]))
    assert not LDiversity(1.7, kind="entropy").holds(class_of([4, 1]))


def test_a_command_line_writes_l_as_a_fraction_and_means_a_whole_number():
    assert LDiversity.from_flags({"l": 2.0}) == LDiversity(2)
    assert LDiversity.from_flags({"l": "3", "l_kind": "recursive", "c": 2.0}) == LDiversity(
        3, "recursive", c=2.0
    )
    assert isinstance(LDiversity.from_flags({"l": 2.0}).l, int)
    assert LDiversity.from_flags({"l": 2.5, "l_kind": "entropy"}).l == 2.5


def test_kinds_are_not_compared_with_each_other():
    assert LDiversity(3).implies(LDiversity(2))
    assert not LDiversity(3, "entropy").implies(LDiversity(2))
    assert LDiversity(2, "recursive", c=1).implies(LDiversity(2, "recursive", c=2))


def test_one_value_is_in_every_class():
    assert LDiversity(1).is_void
    assert LDiversity(1, "recursive", c=1.5).is_void
    assert not LDiversity(1, "recursive", c=0.5).is_void
    assert not LDiversity(2).is_void
