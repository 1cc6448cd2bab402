"""Sets recoded in each class by itself, and what a search is asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.transactions.tables import (
    TREE,
    baskets,
    covers_everything,
    records_of,
    released_of,
)
from tests.naive import transactions as naive

from shoal.core.errors import MethodError, NoSolutionError, SchemaError
from shoal.methods.method import Setting
from shoal.methods.registry import kind_named, listed, method_named
from shoal.methods.transactions.catalogue import SET_METHODS, ItemSets, SetMethod
from shoal.methods.transactions.classes import check_known, goal_of, recode
from shoal.methods.transactions.goal import SetGoal
from shoal.privacy import KmAnonymity, Requirements
from shoal.table.baskets import Baskets


@settings(max_examples=40, deadline=None)
@given(
    baskets(least=6),
    st.sampled_from(sorted({*SET_METHODS} - {"disassociation"})),
    st.integers(1, 2),
    st.data(),
)
def test_every_method_keeps_km_in_every_class(table, name, k, data):
    number = np.array(
        data.draw(st.lists(st.integers(0, 1), min_size=table.records, max_size=table.records)),
        dtype=np.int64,
    )
    number = np.unique(number, return_inverse=True)[1].astype(np.int64)
    if np.bincount(number).min() < k:
        return
    parameters = {"effort": "fast"} if name == "itemsets" else {}
    method = method_named(name, parameters)
    if name == "lra":
        method = method_named("lra", {"parts": 1})
    found = recode(table, number, [KmAnonymity(k, 2)], method, Setting(), TREE)
    assert covers_everything(found)
    released = released_of(found)
    for each in np.unique(number).tolist():
        part = [released[row] for row in np.flatnonzero(number == each)]
        assert naive.is_frequent(part, k, 2)


def test_a_class_with_few_items_at_all_is_released_without_them():
    table = Baskets.of([["a"], [], [], ["a"], ["a"], ["a"]])
    number = np.array([0, 0, 0, 1, 1, 1], dtype=np.int64)
    found = recode(table, number, [KmAnonymity(2, 1)], ItemSets(effort="fast"), Setting(), None)
    assert [len(each) for each in released_of(found)] == [0, 0, 0, 1, 1, 1]
    assert found.ncp() == pytest.approx(1 / 4)


def test_too_few_records_are_refused():
    table = Baskets.of([["a"], ["a"]])
    with pytest.raises(NoSolutionError, match="2 records are fewer than k = 3"):
        recode(table, np.zeros(2, np.int64), [KmAnonymity(3, 1)], ItemSets(), Setting(), None)


def test_the_goal_is_the_strictest_of_the_promise():
    table = Baskets.of([["a", "b"], ["c"]])
    required = Requirements(4, (("a", "b"), ("z",)))
    found = goal_of([KmAnonymity(5, 2), KmAnonymity(3, 3), required], table, TREE)
    assert (found.k, found.m, found.required, found.tree) == (5, 3, ((0, 1),), TREE)
    assert goal_of([KmAnonymity(5, 2), KmAnonymity(3)], table, None).m is None
    assert goal_of([required], table, None).m == 0
    assert len(records_of(table)) == 2


def test_promises_about_items_that_do_not_occur_are_refused():
    table = Baskets.of([["a", "b"]])
    check_known([Requirements(2, (("a", "b"),)), KmAnonymity(2)], table)
    with pytest.raises(SchemaError, match="2 of 3 items do not occur") as caught:
        check_known([Requirements(2, (("a", "secret"), ("x",)))], table)
    assert "secret" not in str(caught.value)


def test_methods_for_sets_are_listed_behind_the_others_and_found_by_name():
    names = [kind.name for kind in listed()]
    assert names[-len(SET_METHODS) :] == list(SET_METHODS)
    assert kind_named("pcta") is SET_METHODS["pcta"]
    assert method_named("lra", {"parts": 2}).to_document() == {"name": "lra", "parts": 2}
    assert not any(kind().must_compile() for kind in SET_METHODS.values())
    with pytest.raises(MethodError, match="did you mean 'itemsets'"):
        method_named("itemset")
    with pytest.raises(NotImplementedError):
        SetMethod().search_sets(Baskets.of([]), SetGoal(k=1), Setting())
