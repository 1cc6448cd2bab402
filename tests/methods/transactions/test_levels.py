"""Local choice along a hierarchy: nodes only, nothing rare, never more lost than by the cut."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.transactions.tables import (
    ITEMS,
    TREE,
    baskets,
    covers_everything,
    released_of,
    skewed,
)
from tests.naive.transactions import is_frequent

from shoal.hierarchies.tree import Hierarchy
from shoal.methods.method import Setting
from shoal.methods.transactions.catalogue import Apriori
from shoal.methods.transactions.goal import SetGoal

NODES = {frozenset(ITEMS), *(frozenset(part) for part in ("abc", "def", "gh")),
         *(frozenset(item) for item in ITEMS)}  # fmt: skip


def searched(found, *, local, **goal):
    goal = SetGoal(**{"tree": TREE, **goal})
    return Apriori(local=local).search_sets(found, goal, Setting(seed=1))


@settings(max_examples=50, deadline=None)
@given(baskets(least=6), st.integers(2, 5), st.sampled_from([1, 2, 3]))
def test_labels_are_nodes_and_any_m_of_them_are_frequent(found, k, m):
    cut = searched(found, local=False, k=k, m=m)
    made = searched(found, local=True, k=k, m=m)
    assert covers_everything(made)
    assert made.ncp() <= cut.ncp() + 1e-12
    held = sum(1 for record in released_of(made) if record)
    if held >= k:
        assert is_frequent(released_of(made), k, m)
    there = set(found.items)
    for label in made.labels:
        named = {found.items[item] for item in label}
        assert any(named == node & there for node in NODES)


def test_many_records_keep_most_of_their_items():
    found = skewed(600, 24, seed=4)
    rows = [(item, f"g{n // 8}", f"h{n // 4}", "*") for n, item in enumerate(found.items)]
    tree = Hierarchy.from_rows("items", [(r[0], r[2], r[1], r[3]) for r in rows])
    cut = searched(found, local=False, k=5, m=2, tree=tree)
    made = searched(found, local=True, k=5, m=2, tree=tree)
    assert is_frequent(released_of(made), 5, 2)
    assert made.ncp() < 0.5 * cut.ncp()
    assert {len(label) for label in made.labels} > {1}


def test_beyond_three_items_the_cut_stays():
    found = skewed(80, 8, seed=1)
    rows = [(item, "a" if n < 4 else "b", "*") for n, item in enumerate(found.items)]
    tree = Hierarchy.from_rows("items", rows)
    one = searched(found, local=True, k=3, m=4, tree=tree)
    two = searched(found, local=False, k=3, m=4, tree=tree)
    assert one.ncp() == two.ncp()
