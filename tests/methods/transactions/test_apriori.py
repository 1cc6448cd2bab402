"""AA, LRA and VPA: whole subtrees, what holds, and how far from the best of all cuts."""

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
    skewed,
)
from tests.naive import transactions as naive

from shoal.core.errors import InputError, MethodError
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.transactions.apriori import (
    cut_of,
    ladder_of,
    search_apriori,
    search_lra,
    search_vpa,
)
from shoal.methods.transactions.goal import SetGoal, reaches
from shoal.table.baskets import Baskets


def goal(k, m=2):
    return SetGoal(k=k, m=m, tree=TREE)


def is_possible(table, k):
    return sum(bool(record) for record in records_of(table)) >= k


@settings(max_examples=60, deadline=None)
@given(baskets(), st.integers(1, 4), st.sampled_from([1, 2, 3, None]))
def test_what_is_found_holds_and_covers_every_item(table, k, m):
    found = search_apriori(table, goal(k, m))
    assert covers_everything(found)
    if is_possible(table, k):
        longest = max((len(record) for record in records_of(table)), default=1)
        assert naive.is_frequent(released_of(found), k, longest if m is None else m)


@settings(max_examples=60, deadline=None)
@given(baskets(), st.integers(1, 4))
def test_a_cut_raises_whole_subtrees(table, k):
    ladder = ladder_of(table, goal(k), "apriori")
    cut = cut_of(table, goal(k), ladder)
    for item, level in enumerate(cut.tolist()):
        below = ladder[level] == ladder[level, item]
        assert (cut[below] >= level).all()


@settings(max_examples=12, deadline=None)
@given(baskets(least=4, most=8), st.integers(2, 3))
def test_no_cut_at_all_loses_less_than_the_best_and_aa_is_one_of_them(table, k):
    if len(table.items) > 4 or not is_possible(table, k):
        return
    ladder = ladder_of(table, goal(k), "apriori")
    support = table.support()
    sizes = np.array([np.bincount(row, minlength=len(table.items))[row] for row in ladder])

    def loss(cut):
        return float(sum((sizes[n, i] - 1) * support[i] for i, n in enumerate(cut)))

    best = naive.best_cut(records_of(table), ladder.tolist(), k, 2, loss)
    found = cut_of(table, goal(k), ladder)
    assert best <= loss(tuple(found.tolist()))


@settings(max_examples=40, deadline=None)
@given(baskets(least=6), st.integers(1, 3), st.integers(1, 4))
def test_parts_of_the_records_hold_each_by_itself(table, k, parts):
    found = search_lra(table, goal(k), parts=parts)
    assert covers_everything(found)
    if all(records_of(table)) and table.records >= k:
        assert naive.is_frequent(released_of(found), k, 2)


@settings(max_examples=40, deadline=None)
@given(baskets(), st.integers(1, 4), st.integers(1, 4))
def test_parts_of_the_items_end_in_one_cut_that_holds(table, k, parts):
    found = search_vpa(table, goal(k), parts=parts)
    assert covers_everything(found)
    if is_possible(table, k):
        assert naive.is_frequent(released_of(found), k, 2)


def test_one_part_of_the_records_is_aa():
    table = Baskets.of([list("ab"), list("ac"), list("bd"), list("ef"), list("gh"), list("ag")] * 2)
    one, other = search_lra(table, goal(3), parts=1), search_apriori(table, goal(3))
    assert released_of(one) == released_of(other)
    assert reaches(one, goal(3))


def test_a_hierarchy_is_needed_and_must_know_every_item():
    table = skewed(20, 5, 0)
    with pytest.raises(MethodError, match="hierarchy of the items"):
        search_apriori(table, SetGoal(k=2))
    tree = Hierarchy.flat("items", ["i000", "i001"])
    with pytest.raises(InputError, match="3 of 5 items are missing") as caught:
        search_apriori(table, SetGoal(k=2, tree=tree))
    assert "i002" not in str(caught.value)
