"""Local choice: what is released as an item is frequent, and so is what stays in its set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.transactions.tables import baskets, released_of, skewed
from tests.naive import transactions as naive

from shoal.core.errors import KernelInputError
from shoal.kernels.transactions.descending import descend_items
from shoal.kernels.transactions.merging import merge_items
from shoal.table.baskets import Baskets, SetRecoding


def partition(table, k, m):
    items = len(table.items)
    head, holds = merge_items(
        table.starts, table.codes, np.ones(items, np.int32), k=k, m=m,
        within=np.zeros((1, items), np.int32),
    )  # fmt: skip
    return head, np.bincount(head, minlength=items), holds


@settings(max_examples=120, deadline=None)
@given(baskets(), st.integers(1, 4), st.sampled_from([2, 3]), st.integers(0, 4))
def test_every_set_of_labels_stays_frequent(table, k, m, rounds):
    head, size, holds = partition(table, k, m)
    if not holds:
        return
    down = descend_items(
        table.starts, table.codes, head, size, k=k, m=m, rounds=rounds, seed=rounds
    )
    found = SetRecoding.local(table, head, down)
    assert naive.is_frequent(released_of(found), k, m)
    assert found.ncp() <= SetRecoding.of_partition(table, head).ncp()


@settings(max_examples=60, deadline=None)
@given(baskets(), st.integers(2, 4))
def test_labels_alone_stay_frequent_where_one_item_is_known(table, k):
    head, size, holds = partition(table, k, 2)
    if not holds:
        return
    down = descend_items(table.starts, table.codes, head, size, k=k, m=1)
    assert naive.is_frequent(released_of(SetRecoding.local(table, head, down)), k, 1)


def test_an_item_comes_down_where_it_is_frequent_and_nowhere_else():
    rows = [["a"]] * 5 + [["b"]] * 2 + [["a", "x"]] + [["x"]] * 6
    table = Baskets.of(rows)
    head = np.array([0, 0, 2], dtype=np.int32)  # a and b are one set
    down = descend_items(table.starts, table.codes, head, np.array([2, 0, 1]), k=3, m=1)
    released = released_of(SetRecoding.local(table, head, down))
    assert released.count(frozenset({(0, 1)})) == 3  # one of a went back: b alone is rare
    assert released.count(frozenset({(0,)})) == 4
    assert naive.is_frequent(released, 3, 1)


def test_rounds_lose_no_more_and_a_seed_repeats_them():
    table = skewed(500, 30, 4)
    head, size, _ = partition(table, 5, 2)
    found = [
        descend_items(table.starts, table.codes, head, size, k=5, m=2, rounds=rounds, seed=2)
        for rounds in (0, 40, 40)
    ]
    lost = [SetRecoding.local(table, head, down).ncp() for down in found]
    assert lost[1] <= lost[0] < SetRecoding.of_partition(table, head).ncp()
    assert (found[1] == found[2]).all()


def test_what_does_not_fit_is_refused():
    table = skewed(5, 4, 0)
    head, size = np.arange(4, dtype=np.int32), np.ones(4, np.int64)
    with pytest.raises(KernelInputError, match="1 to 3"):
        descend_items(table.starts, table.codes, head, size, k=2, m=4)


@settings(max_examples=50, deadline=None)
@given(baskets(), st.integers(1, 4), st.sampled_from([1, 2, 3]))
def test_where_nothing_is_merged_nothing_is_lost(table, k, m):
    items = len(table.items)
    head, size = np.arange(items, dtype=np.int32), np.ones(items, np.int64)
    down = descend_items(table.starts, table.codes, head, size, k=k, m=m)
    found = SetRecoding.local(table, head, down)
    assert found.ncp() == 0
    assert released_of(found) == released_of(SetRecoding.of_items(table))


@settings(max_examples=50, deadline=None)
@given(baskets(), st.sampled_from([1, 2, 3]))
def test_with_k_1_every_item_comes_down(table, m):
    items = len(table.items)
    head = np.zeros(items, dtype=np.int32)
    size = np.bincount(head, minlength=items).astype(np.int64)
    down = descend_items(table.starts, table.codes, head, size, k=1, m=m)
    assert SetRecoding.local(table, head, down).ncp() == 0


@settings(max_examples=50, deadline=None)
@given(baskets(), st.integers(2, 4), st.sampled_from([2, 3]))
def test_what_stays_in_its_set_is_as_frequent_as_what_came_down(table, k, m):
    head, size, holds = partition(table, k, m)
    if not holds:
        return
    before = (head.tolist(), size.tolist())
    down = descend_items(table.starts, table.codes, head, size, k=k, m=m)
    assert down.dtype == np.bool_
    assert (head.tolist(), size.tolist()) == before
    held = [label for record in released_of(SetRecoding.local(table, head, down))
            for label in record]  # fmt: skip
    assert all(held.count(label) >= k for label in set(held))
