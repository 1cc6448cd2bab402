import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import kmember, kmember_parallel
from tests.methods.clustering.tables import check_release, domains, groups_of_members, tables
from tests.naive import clustering_more as naive
from tests.naive.clustering import SCALE

from shoal.kernels.clustering import kmember_parallel as kernel
from shoal.measures.utility import grouping_of, utility_of
from shoal.methods.clustering import parallel as method
from shoal.methods.clustering.parallel import split, tuples_of
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity
from shoal.table.frequency import from_codes


def both(table, k, seed, groups, *, short=256, classes=None, penalty=0, threads=1):
    """Return the clusters of tuples, and those of the figure."""
    tuples = tuples_of(table, classes)
    space = space_of(table.domains, short=short)
    found = method._clustered(
        table, tuples, space, k=k, penalty=penalty, groups=groups,
        chance=np.random.default_rng(seed), threads=threads,
    )  # fmt: skip
    unit = np.repeat(np.arange(len(tuples.counts)), tuples.counts)
    data = [tuple(map(int, tuples.codes[u])) for u in unit]
    kinds = [0 if tuples.target is None else int(tuples.target[u]) for u in unit]
    twin = naive.Parallel(data, kinds, k, domains=table.domains, penalty=penalty)
    if len(data) < k:
        clusters = twin.clusters([], 0)
    else:
        chance = np.random.default_rng(seed)
        group = split(table.domains, tuples.codes, groups=groups, chance=chance)[unit]
        parts = [[int(r) for r in np.flatnonzero(group == g)] for g in range(int(group.max()) + 1)]
        clusters = twin.clusters(parts, int(chance.integers(len(data))))
    return groups_of_members(*found), sorted(sorted(int(unit[r]) for r in c) for c in clusters)


@settings(max_examples=60, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6), seed=st.integers(0, 9),
       groups=st.integers(1, 4), short=st.sampled_from([0, 256]))  # fmt: skip
def test_clusters_are_those_of_figure_3_1(table, k, seed, groups, short):
    found, expected = both(table, k, seed, groups, short=short)
    assert found == expected


@settings(max_examples=60, deadline=None)
@given(table=tables(sensitive=True, most=14), k=st.integers(1, 4), seed=st.integers(0, 9))
def test_clusters_with_the_classification_penalty_are_those_of_the_seed(table, k, seed):
    classes = table.sensitive[:, 0]
    found, expected = both(table, k, seed, 2, classes=classes, penalty=SCALE)
    assert found == expected


def test_leftovers_are_placed_all_at_once_by_il_of_cluster_and_record():
    line, place, sex = domains()
    codes = np.array([[0, 0, 0], [3, 0, 0], [5, 0, 0]], dtype=np.int32)
    tuples = tuples_of(from_codes((line, place, sex), codes, np.array([4, 1, 4])), None)
    space = space_of((line, place, sex))
    pieces, boxes = method.grown(tuples, np.array([0, 2]), np.array([4, 4]), space=space, k=4)
    placed = method.place_at_once(tuples, pieces, boxes, space=space)
    assert dict(zip(placed.row.tolist(), placed.label.tolist(), strict=True)) == {0: 0, 1: 0, 2: 1}


@settings(max_examples=30, deadline=None)
@given(table=tables(sensitive=True), k=st.integers(1, 6), cm=st.booleans())
def test_every_class_has_k_records(table, k, cm):
    made = kmember_parallel(table, [KAnonymity(k)], cm=cm)
    check_release(made, k if table.records >= k else 0)


@settings(max_examples=30, deadline=None)
@given(table=tables(missing=True), k=st.integers(2, 5), times=st.integers(1, 3))
def test_it_loses_nothing_where_every_tuple_has_a_multiple_of_k_records(table, k, times):
    counts = table.counts * 0 + times * k
    counts[0] += k - 1  # these have a cluster of their own to go to
    table = from_codes(table.domains, table.codes, counts)
    for seed in range(3):
        made = kmember_parallel(table, [KAnonymity(k)], seed=seed)
        assert utility_of(grouping_of(made))["il"] == 0


def many_of_few(k=5):
    chance = np.random.default_rng(0)
    codes = np.stack([np.repeat([0, 2, 5], 3), np.tile([0, 3, 5], 3), chance.integers(0, 3, 9)])
    counts = chance.multinomial(20_000 // k, np.ones(9) / 9) * k
    return from_codes(domains(), codes.T.astype(np.int32), counts.astype(np.int64))


def test_20000_records_with_9_distinct_tuples_are_fast_and_lose_nothing():
    table = many_of_few()
    assert (table.records, table.rows) == (20_000, 9)
    kmember_parallel(table, [KAnonymity(5)])  # compiled
    began = time.process_time()
    made = kmember_parallel(table, [KAnonymity(5)])
    assert time.process_time() - began < 1
    assert utility_of(grouping_of(made))["il"] == 0
    assert utility_of(grouping_of(kmember(table, [KAnonymity(5)])))["il"] == 0


def test_kmember_parallel_gives_the_same_classes_with_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(kernel, "BLOCK", 64)
    chance = np.random.default_rng(3)
    codes = np.stack([chance.integers(0, len(d), 400) for d in domains()], axis=1)
    table = from_codes(domains(), codes.astype(np.int32), chance.integers(1, 4, 400))
    made = [kmember_parallel(table, [KAnonymity(7)], threads=threads) for threads in (1, 2, 5)]
    for other in made[1:]:
        assert (made[0].label == other.label).all()
        assert (made[0].count == other.count).all()


def test_clusters_are_looked_at_in_several_threads(monkeypatch):
    monkeypatch.setattr(kernel, "BLOCK", 64)
    seen, look = set(), kernel.list_wishes

    def noted(*arguments):
        seen.add(threading.current_thread().name)
        look(*arguments)

    monkeypatch.setattr(kernel, "list_wishes", noted)
    chance = np.random.default_rng(3)
    codes = np.stack([chance.integers(0, len(d), 400) for d in domains()], axis=1)
    table = from_codes(domains(), codes.astype(np.int32), np.ones(400, dtype=np.int64))
    kmember_parallel(table, [KAnonymity(7)], threads=3)
    assert len(seen) > 1


@pytest.mark.parametrize("groups", [1, 3])
@settings(max_examples=15, deadline=None)
@given(table=tables())
def test_groups_are_numbered_and_not_too_many(groups, table):
    group = split(table.domains, table.codes, groups=groups, chance=np.random.default_rng(0))
    assert sorted(set(group)) == list(range(int(group.max()) + 1))
    assert group.max() < groups * groups
