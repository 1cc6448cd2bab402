"""Grouping of classes that stay whole: the best of each pool, and never worse than before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.releases import least
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import tables
from tests.methods.sensitive_tables import PROMISES, counted
from tests.naive.nested import least_loss

from shoal.methods.arrays import promise_of
from shoal.methods.clustering.clusters import Clusters, box_losses, boxes_of, histograms_of
from shoal.methods.clustering.regroup import ATOMS, Atoms, best_groups, regroup
from shoal.methods.clustering.space import space_of
from shoal.methods.verdicts import breaking
from shoal.privacy import KAnonymity


def atoms_of(table, label, models):
    low, high = boxes_of(table.codes, label)
    sizes = np.bincount(label, weights=table.counts).astype(np.int64)
    clusters = Clusters(np.arange(table.rows), label, table.counts)
    return Atoms(
        low, high, sizes, histograms_of(table, clusters, len(low)),
        space_of(table.domains), promise_of(models, table),
    )  # fmt: skip


def loss_of(atoms, group):
    low = atoms.low[group].min(axis=0, keepdims=True)
    high = atoms.high[group].max(axis=0, keepdims=True)
    return int(atoms.sizes[group].sum() * box_losses(atoms.space, low, high)[0])


def holds(atoms, group):
    sizes, histograms = atoms.sizes[group].sum(), atoms.histograms[group].sum(axis=0)
    return not breaking(atoms.promise, np.array([sizes]), histograms[None])[0]


def lost(atoms, label):
    return sum(loss_of(atoms, np.flatnonzero(label == c)) for c in range(label.max() + 1))


@st.composite
def grouped(draw, table, most=6):
    """Classes of a table's rows, none of them empty."""
    found = draw(table)
    chosen = draw(st.lists(st.integers(0, most - 1), min_size=found.rows, max_size=found.rows))
    return found, np.unique(np.array(chosen), return_inverse=True)[1].astype(np.int64)


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
@settings(max_examples=15, deadline=None)
@given(case=grouped(counted()))
def test_a_pool_is_grouped_as_well_as_it_can_be(promise, case):
    table, label = case
    atoms = atoms_of(table, label, [promise])
    every = np.arange(len(atoms.sizes))
    assume(holds(atoms, every))
    groups = best_groups(atoms, len(every))[0]
    found = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    for group in found:
        assert holds(atoms, group)
    naive = least_loss(
        every.tolist(), lambda g: loss_of(atoms, np.array(g)), lambda g: holds(atoms, np.array(g))
    )
    assert sum(loss_of(atoms, group) for group in found) == naive


@settings(max_examples=40, deadline=None)
@given(case=grouped(tables(), most=12), k=st.integers(2, 6), seed=st.integers(0, 3))
def test_every_group_holds_and_all_together_lose_no_more(case, k, seed):
    table, label = case
    assume(table.records >= k)
    atoms = atoms_of(table, label, [KAnonymity(k)])
    whole = np.zeros(len(atoms.sizes), dtype=np.int64)
    found = regroup(atoms, whole, seed=seed)
    assert sorted(set(found.tolist())) == list(range(found.max() + 1))
    assert all(holds(atoms, np.flatnonzero(found == c)) for c in range(found.max() + 1))
    assert lost(atoms, found) <= lost(atoms, whole)
    assert regroup(atoms, whole, seed=seed).tolist() == found.tolist()


def test_many_pools_are_grouped_side_by_side():
    """Pairs along a line, put together crosswise: each finds its neighbour again."""
    table = replace_line(400)
    atoms = atoms_of(table, np.arange(400), [KAnonymity(2)])
    far = np.arange(400) % 200  # 0 with 200, 1 with 201 …
    found = regroup(atoms, far.astype(np.int64), seed=0)
    assert lost(atoms, found) <= lost(atoms, far) / 50
    assert np.bincount(found).min() >= 2
    assert len(far) > ATOMS


def replace_line(rows):
    from tests.methods.clustering.test_laws import numbers

    return replace(
        numbers(rows, 1, rows), codes=np.arange(rows, dtype=np.int32)[:, None],
        counts=np.ones(rows, dtype=np.int64), sensitive=np.zeros((rows, 0), dtype=np.int32),
    )  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(case=grouped(counted()), k=st.integers(2, 6))
def test_the_floor_of_the_benchmark_is_above_no_grouping(case, k):
    """What the guide says that no union of classes can lose less than."""
    table, label = case
    atoms = atoms_of(table, label, [KAnonymity(k)])
    assume(atoms.sizes.sum() >= k)
    naive = least_loss(
        list(range(len(atoms.sizes))), lambda g: loss_of(atoms, np.array(g)),
        lambda g: holds(atoms, np.array(g)),
    )  # fmt: skip
    assert least(atoms, k) <= naive + 1e-6 * naive
