"""t-closeness: the bound is kept exactly, by every distance."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.privacy.classes import THREE, TREE, class_of

from shoal.privacy import (
    Reference,
    TCloseness,
)

KINDS = ("equal", "ordered", "hierarchical", "chi2")


@pytest.mark.parametrize("distance", KINDS)
def test_t_is_not_ignored(distance):
    summary = class_of([2, 1, 0], Reference([2, 2, 2], **TREE))
    attained = TCloseness(1, distance).measure(summary)
    assert 0 < attained < 1
    assert TCloseness(attained, distance).holds(summary)
    assert not TCloseness(attained * 0.999, distance).holds(summary)


@pytest.mark.parametrize("tenths", range(6))
def test_a_distance_of_exactly_t_holds(tenths):
    summary = class_of([5, 5], Reference([5 + tenths, 5 - tenths]))
    assert TCloseness(tenths / 10).holds(summary)


def test_a_smaller_t_is_the_stricter_promise_of_one_distance():
    assert TCloseness(0.1).implies(TCloseness(0.2))
    assert not TCloseness(0.2).implies(TCloseness(0.1))
    assert not TCloseness(0.1, "ordered").implies(TCloseness(0.2))


def test_no_distance_exceeds_one():
    assert TCloseness(1).is_void
    assert not TCloseness(0.99).is_void


def test_it_says_what_it_reads_of_its_column():
    found = {d: (TCloseness(0.2, d).reads_order, TCloseness(0.2, d).reads_hierarchy) for d in KINDS}
    assert found["ordered"] == (True, False)
    assert found["hierarchical"] == (False, True)
    assert found["equal"] == found["chi2"] == (False, False)


def test_with_n_a_t_asks_for_another_promise():
    assert TCloseness.is_asked({"t": 0.2})
    assert not TCloseness.is_asked({"t": 0.2, "n": 100})
    asked = {"t": 0.2, "t_distance": "ordered"}
    assert TCloseness.from_flags(asked) == TCloseness(0.2, "ordered")


@given(THREE, THREE)
def test_a_class_like_the_table_is_at_no_distance(histogram, rest):
    table = Reference([a + b for a, b in zip(histogram, rest, strict=True)], **TREE)
    for distance in KINDS:
        whole = class_of(table.counts, table)
        assert TCloseness(0, distance).measure(whole) == 0
        assert 0 <= TCloseness(0, distance).measure(class_of(histogram, table)) <= 1
