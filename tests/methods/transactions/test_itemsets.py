"""Our own search: it holds, it stays within an aisle where it can, and it beats the others."""

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
from tests.naive import itemsets as itemsets_by_hand
from tests.naive import transactions as naive

from shoal.hierarchies.tree import Hierarchy
from shoal.methods.method import Setting
from shoal.methods.transactions import itemsets
from shoal.methods.transactions.apriori import search_apriori
from shoal.methods.transactions.constrained import search_constrained
from shoal.methods.transactions.goal import SetGoal
from shoal.methods.transactions.itemsets import search_itemsets
from shoal.table.baskets import Baskets


def search(table, goal, *, effort="fast", across=False, local=True, seed=0):
    return search_itemsets(
        table, goal, Setting(seed=seed), effort=effort, across=across, local=local
    )


def is_possible(table, k):
    return sum(bool(record) for record in records_of(table)) >= k


@settings(max_examples=60, deadline=None)
@given(baskets(), st.integers(1, 4), st.sampled_from([1, 2, 3, 4, None]), st.booleans())
def test_what_is_found_holds_and_covers_every_item(table, k, m, across):
    found = search(table, SetGoal(k=k, m=m, tree=TREE), across=across)
    assert covers_everything(found)
    assert (found.choice >= 0).all()
    if not is_possible(table, k):
        return
    released = released_of(found)
    if m is not None:
        assert naive.is_frequent(released, k, m)
        return
    texts = [frozenset(map(str, record)) for record in released]
    assert all(itemsets_by_hand.support(texts, record) >= k for record in texts if record)


@settings(max_examples=40, deadline=None)
@given(baskets(), st.integers(1, 4), st.data())
def test_requirements_are_met_beside_km(table, k, data):
    items = len(table.items)
    if not items or not is_possible(table, k):
        return
    one = st.lists(st.integers(0, items - 1), min_size=1, max_size=3, unique=True).map(tuple)
    required = tuple(data.draw(st.lists(one, min_size=1, max_size=3)))
    found = search(table, SetGoal(k=k, m=2, required=required))
    released = released_of(found)
    assert naive.is_frequent(released, k, 2)
    for each in required:
        number = sum(all(any(i in label for label in r) for i in each) for r in released)
        assert number == 0 or number >= k


def test_it_loses_less_than_the_others_on_a_table_like_a_shop():
    table = skewed(1500, 40, 7)
    tree = Hierarchy.from_rows(
        "items", [(item, f"aisle {n % 4}", "*") for n, item in enumerate(table.items)]
    )
    goal = SetGoal(k=5, m=2, tree=tree)
    own = search(table, goal).ncp()
    assert own < search(table, goal, local=False).ncp()
    assert own < 0.5 * search_apriori(table, goal).ncp()
    assert own < search_constrained(table, goal, rarest=False).ncp()
    assert own < search_constrained(table, goal, rarest=True).ncp()


def test_sets_stay_within_an_aisle_unless_it_is_asked():
    table = skewed(1500, 24, 5)
    aisle = {item: n % 3 for n, item in enumerate(table.items)}
    tree = Hierarchy.from_rows("items", [(i, f"aisle {n}", "*") for i, n in aisle.items()])
    goal = SetGoal(k=4, m=2, tree=tree)

    def crossing(found):
        named = [{aisle[table.items[item]] for item in label} for label in found.labels]
        return sum(len(each) > 1 for each in named)

    assert crossing(search(table, goal)) == 0
    assert search(table, goal, across=True, local=False).ncp() > 0


def test_the_same_seed_gives_the_same_recoding():
    table = skewed(600, 30, 3)
    one, other = (search(table, SetGoal(k=5), seed=9) for _ in range(2))
    assert released_of(one) == released_of(other)


@pytest.mark.parametrize("m", [2, 3, 30])
def test_few_records_or_no_items_are_no_trouble(m):
    for rows in ([], [[]], [["a"]], [["a"], ["b"]], [["a", "b"]] * 3):
        found = search(Baskets.of(rows), SetGoal(k=2, m=m))
        assert covers_everything(found)
        assert len(found.choice) == sum(map(len, rows))


def test_of_many_items_rare_ones_are_put_together_first(monkeypatch):
    monkeypatch.setattr(itemsets, "MOST_LABELS", 12)
    table = skewed(2000, 60, 11)
    found = search(table, SetGoal(k=3))
    assert covers_everything(found)
    assert naive.is_frequent(released_of(found), 3, 2)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=40), st.integers(3, 10))
def test_packing_leaves_no_more_than_was_asked_and_crosses_no_group(support, most):
    counts = np.array(support)
    group = np.arange(counts.size, dtype=np.int32) % 2
    head = itemsets._packed(counts, group, most)
    assert np.unique(head).size <= most
    assert all(group[item] == group[top] for item, top in enumerate(head.tolist()))
