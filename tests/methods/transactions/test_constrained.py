"""COAT and PCTA: requirements are met, nothing else is touched, suppression is the last resort."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.transactions.tables import (
    baskets,
    covers_everything,
    records_of,
    released_of,
)
from tests.naive import transactions as naive

from shoal.methods.transactions.constrained import (
    SUPPRESSED,
    meet_requirements,
    recoded,
    search_constrained,
    utility_loss,
)
from shoal.methods.transactions.goal import SetGoal, fits
from shoal.table.baskets import Baskets


def fitted(released, required):
    """Count the records that a requirement fits, from the labels."""
    return sum(all(any(i in label for label in record) for i in required) for record in released)


@settings(max_examples=80, deadline=None)
@given(baskets(), st.integers(1, 4), st.booleans(), st.data())
def test_every_requirement_fits_k_records_or_none(table, k, rarest, data):
    items = len(table.items)
    if not items:
        return
    sets = st.lists(st.integers(0, items - 1), min_size=1, max_size=3, unique=True).map(tuple)
    required = tuple(data.draw(st.lists(sets, min_size=1, max_size=4)))
    found = search_constrained(table, SetGoal(k=k, m=0, required=required), rarest=rarest)
    released = released_of(found)
    assert covers_everything(found)
    for each in required:
        number = fitted(released, each)
        assert number == 0 or number >= k
        assert number == fits(found, each)


@settings(max_examples=60, deadline=None)
@given(baskets(), st.integers(1, 4), st.booleans(), st.sampled_from([1, 2, 3]))
def test_without_requirements_they_keep_km(table, k, rarest, m):
    found = search_constrained(table, SetGoal(k=k, m=m), rarest=rarest)
    if sum(bool(record) for record in records_of(table)) >= k:
        assert naive.is_frequent(released_of(found), k, m)


def test_what_no_requirement_names_stays_as_it_is():
    table = Baskets.of([list("ax"), list("by"), list("cx"), list("a"), list("b"), list("c")])
    found = search_constrained(table, SetGoal(k=2, m=0, required=((0, 1),)), rarest=False)
    assert all(len(label) == 1 for label in found.labels)
    rare = search_constrained(table, SetGoal(k=2, m=0, required=((0, 3),)), rarest=False)
    touched = {item for label in rare.labels if len(label) > 1 for item in label}
    assert touched & {0, 3}
    assert len(touched) == 2


def test_sets_do_not_cross_what_an_owner_allows():
    table = Baskets.of([list("ax"), list("bx"), list("cx"), list("a"), list("b"), list("c")] * 2)
    goal = SetGoal(k=5, m=0, required=((0, 3),), utility=((0, 1), (2,), (3,)))
    found = search_constrained(table, goal, rarest=True)
    assert all(set(label) <= {0, 1} or len(label) == 1 for label in found.labels)
    assert fits(found, (0, 3)) in (0, *range(5, 13))


def test_an_item_without_partner_is_suppressed():
    table = Baskets.of([list("a"), list("b")])
    goal = SetGoal(k=2, m=0, required=((0,),), utility=((0,), (1,)))
    head = meet_requirements(table, goal, np.arange(2, dtype=np.int32), rarest=True)
    assert head.tolist() == [SUPPRESSED, 1]
    found = recoded(table, head)
    assert released_of(found) == [frozenset(), frozenset({(1,)})]
    assert found.ncp() == pytest.approx(0.5)


def test_utility_loss_is_the_share_of_subsets():
    assert utility_loss(1, 4, 3, 8) == pytest.approx((2**1 - 1) / (2**3 - 1) * 4 / 8)
    assert utility_loss(3, 8, 3, 8) == pytest.approx(1)
    assert utility_loss(2, 1, 4000, 10) >= 0
    assert math.isfinite(utility_loss(3999, 1, 4000, 10))
