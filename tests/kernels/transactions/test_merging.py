"""Merging of sets: as the twin does it, nothing stays rare, the same seed gives the same sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.transactions.tables import baskets, records_of, skewed
from tests.naive import transactions as naive

from shoal.core.errors import KernelInputError
from shoal.kernels.transactions.merging import merge_items, seeded
from shoal.table.baskets import Baskets


def sets_of(head):
    found = {}
    for item, top in enumerate(head.tolist()):
        found.setdefault(top, set()).add(item)
    return {top: frozenset(members) for top, members in found.items()}


def merge(table, *, k, m=2, within=None, rounds=0, seed=0):
    items = len(table.items)
    groups = np.zeros((1, items), dtype=np.int32) if within is None else within
    ones = np.ones(items, dtype=np.int32)
    return merge_items(
        table.starts, table.codes, ones, k=k, m=m, within=groups, rounds=rounds, seed=seed
    )


@settings(max_examples=60, deadline=None)
@given(baskets(), st.integers(1, 5))
def test_the_twin_merges_the_same_sets(table, k):
    head, _ = merge(table, k=k)
    items = len(table.items)
    assert sets_of(head) == naive.merged(records_of(table), items, k, [[0] * items])


@settings(max_examples=60, deadline=None)
@given(baskets(), st.integers(1, 5), st.data())
def test_sets_stay_within_their_group_as_long_as_that_is_enough(table, k, data):
    items = len(table.items)
    fine = data.draw(st.lists(st.integers(0, 2), min_size=items, max_size=items))
    levels = np.array([fine, [0] * items], dtype=np.int32).reshape(2, items)
    head, _ = merge(table, k=k, within=levels)
    assert sets_of(head) == naive.merged(records_of(table), items, k, levels.tolist())


@settings(max_examples=60, deadline=None)
@given(baskets(), st.integers(1, 5), st.sampled_from([2, 3]), st.integers(0, 20))
def test_nothing_is_rare_where_that_is_said(table, k, m, rounds):
    head, holds = merge(table, k=k, m=m, rounds=rounds)
    held = naive.relabelled(records_of(table), sets_of(head))
    if holds:
        assert naive.is_frequent(held, k, m)
    else:
        assert sum(bool(record) for record in held) < k


def test_rounds_lose_less_and_a_seed_repeats_them():
    table = skewed(400, 30, 1)
    support = table.support()

    def loss(head):
        return int(((np.bincount(head, minlength=head.size)[head] - 1) * support).sum())

    once, _ = merge(table, k=5)
    often, holds = merge(table, k=5, rounds=200, seed=3)
    again, _ = merge(table, k=5, rounds=200, seed=3)
    assert holds
    assert loss(often) < loss(once)
    assert often.tolist() == again.tolist()


def test_a_label_may_stand_for_several_items_already():
    table = skewed(200, 12, 2)
    heavy = np.ones(12, dtype=np.int32)
    heavy[0] = 50
    head, holds = merge_items(
        table.starts, table.codes, heavy, k=20, within=np.zeros((1, 12), np.int32), rounds=50
    )
    assert holds
    assert naive.is_frequent(naive.relabelled(records_of(table), sets_of(head)), 20, 2)


def test_what_does_not_fit_is_refused():
    table = skewed(5, 4, 0)
    ones, groups = np.ones(4, np.int32), np.zeros((1, 4), np.int32)
    with pytest.raises(KernelInputError, match="int32"):
        merge_items(table.starts, table.codes.astype(np.int64), ones, k=2, within=groups)
    with pytest.raises(KernelInputError, match="label"):
        merge_items(table.starts, table.codes + 7, ones, k=2, within=groups)


def test_seeds_are_different_states():
    assert len({int(seeded(seed)[0]) for seed in range(50)}) == 50
    assert all(int(seeded(seed)[0]) for seed in range(50))


@settings(max_examples=40, deadline=None)
@given(baskets(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_order_of_the_records_is_of_no_account(table, k, chance):
    rows = [[table.items[item] for item in sorted(record)] for record in records_of(table)]
    mixed = rows.copy()
    chance.shuffle(mixed)
    head, holds = merge(table, k=k)
    other, same = merge(Baskets.of(mixed), k=k)
    assert sets_of(head) == sets_of(other)
    assert holds == same


@settings(max_examples=40, deadline=None)
@given(baskets(), st.integers(0, 10))
def test_k_1_merges_nothing(table, rounds):
    head, holds = merge(table, k=1, rounds=rounds)
    assert holds
    assert head.tolist() == list(range(len(table.items)))


@settings(max_examples=40, deadline=None)
@given(baskets(), st.integers(1, 4), st.integers(0, 8))
def test_heads_are_members_of_their_own_sets_and_arguments_stay(table, k, rounds):
    before = (table.starts.tolist(), table.codes.tolist())
    head, _ = merge(table, k=k, rounds=rounds)
    assert head.dtype == np.int32
    assert (head[head] == head).all()
    assert (table.starts.tolist(), table.codes.tolist()) == before


@settings(max_examples=30, deadline=None)
@given(baskets(), st.integers(1, 4), st.integers(2, 3))
def test_a_table_twice_over_needs_no_more_than_half_of_k(table, k, times):
    rows = [[table.items[item] for item in sorted(record)] for record in records_of(table)]
    head, holds = merge(table, k=k)
    other, same = merge(Baskets.of(rows * times), k=k * times)
    assert sets_of(head) == sets_of(other)
    assert holds == same
