"""Annealing: sizes, the error that is tracked, and what a cold search may do; paths cut best."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import microaggregation as naive

from shoal.core.errors import KernelInputError
from shoal.kernels.microaggregation.annealing import Crowd, anneal, cut

COLD = (1e-9, 1e-9)
POINTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=11)


def crowd_of(points, counts=None, held=None):
    """Return records whose rows all see each other; held: immovable records of each row."""
    points = np.array(points, dtype=np.float64).reshape(len(points), -1)
    rows = len(points)
    counts = np.ones(rows, np.int64) if counts is None else np.array(counts)
    held = np.zeros(rows, np.int64) if held is None else np.array(held)
    row = np.repeat(np.arange(rows), counts)
    gaps = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(gaps, -1.0)  # each row itself comes first
    heavy = np.flatnonzero(held)
    core = np.full(rows, -1)
    core[heavy] = np.arange(len(heavy))
    return Crowd(
        at=points[row],
        row=row,
        first=np.concatenate(([0], np.cumsum(counts))),
        core=core,
        held=held[heavy],
        base=points[heavy],
        near=np.argsort(gaps, axis=1, kind="stable").astype(np.int32),
        scale=np.ones(len(row)),
    )


def groups_of(label):
    return [np.flatnonzero(label == g).tolist() for g in np.unique(label)]


def error_of(crowd, label):
    """Return the sum of squared errors of all records, the immovable ones with them."""
    points = np.concatenate((crowd.at, np.repeat(crowd.base, crowd.held, axis=0))).tolist()
    where = np.concatenate((label, np.repeat(np.arange(len(crowd.held)), crowd.held)))
    return naive.error(points, groups_of(where))


def annealed(crowd, label, k, *, steps=3_000, heat=(0.5, 0.02), seed=0):
    chance = np.random.default_rng(seed)
    return anneal(crowd, label, k=k, steps=steps, heat=heat, chance=chance)


def start_of(rows, k):
    """Return groups of k to 2k - 1 records, in no good order."""
    return np.arange(rows) % max(rows // k, 1)


@pytest.mark.parametrize("heat", [COLD, (0.5, 0.02), (50.0, 50.0)])
@pytest.mark.parametrize(("rows", "k"), [(12, 2), (17, 3), (40, 4), (60, 2)])
def test_the_error_is_that_of_the_groups_and_none_is_too_small(rows, k, heat):
    for seed in range(3):
        chance = np.random.default_rng((rows, seed))
        crowd = crowd_of(chance.integers(0, 30, (rows, 2)))
        start = start_of(rows, k)
        label, error = annealed(crowd, start, k, heat=heat, seed=seed)
        assert error == pytest.approx(error_of(crowd, label))
        sizes = [len(group) for group in groups_of(label)]
        assert min(sizes) >= k
        assert max(sizes) <= 2 * k - 1
        assert (start == start_of(rows, k)).all()
        if heat == COLD:
            assert error < error_of(crowd, start)


def test_immovable_records_count_in_the_error():
    chance = np.random.default_rng(4)
    counts, held = chance.integers(0, 4, 15), np.zeros(15, np.int64)
    held[[2, 7]] = 5, 9
    crowd = crowd_of(chance.integers(0, 30, (15, 2)), counts, held)
    records, k = len(crowd.row), 3
    start = 2 + start_of(records, k)  # groups 0 and 1 are those of the immovable ones
    label, error = annealed(crowd, start, k)
    assert error == pytest.approx(error_of(crowd, label))
    assert error < error_of(crowd, start)
    movable = np.bincount(label)
    assert movable.max() <= 2 * k - 1
    assert min(n for n in movable[2:] if n) >= k


def test_a_record_that_can_be_spared_joins_its_immovable_copies():
    crowd = crowd_of([(0,), (100,)], [1, 3], [5, 0])
    label, error = annealed(crowd, np.ones(4, np.int64), 3, heat=COLD)
    assert label.tolist() == [0, 1, 1, 1]
    assert error == pytest.approx(0.0, abs=1e-9)
    # Without one to spare the group keeps its k records.
    crowd = crowd_of([(0,), (100,)], [1, 2], [5, 0])
    label, error = annealed(crowd, np.ones(3, np.int64), 3, heat=COLD)
    assert error == pytest.approx(error_of(crowd, label))
    assert np.bincount(label, minlength=2)[1] in (0, 3)


@settings(max_examples=25, deadline=None)
@given(points=POINTS, k=st.integers(2, 3), seed=st.integers(0, 9))
def test_a_cold_search_only_gains_and_never_beats_the_best(points, k, seed):
    if not k <= len(points) <= 7:
        return
    crowd = crowd_of(points)
    start = start_of(len(points), k)
    label, error = annealed(crowd, start, k, heat=COLD, seed=seed)
    everyone = list(range(len(points)))
    best = min(naive.error(points, groups) for groups in naive.groupings(everyone, k))
    assert best - 1e-9 <= error <= error_of(crowd, start) + 1e-9
    assert error == pytest.approx(error_of(crowd, label), abs=1e-9)


def test_no_step_changes_nothing_and_the_same_chance_gives_the_same():
    crowd = crowd_of(np.random.default_rng(0).integers(0, 30, (20, 3)))
    start = start_of(20, 3)
    label, error = annealed(crowd, start, 3, steps=0)
    assert label.tolist() == start.tolist()
    assert error == pytest.approx(error_of(crowd, start))
    one, again, other = (annealed(crowd, start, 3, seed=seed)[0] for seed in (1, 1, 2))
    assert one.tolist() == again.tolist() != other.tolist()


def test_mixed_heaps_are_told_apart_by_swaps_alone():
    heaps = [(x + i % 2, 0) for x in (0, 100, 200) for i in range(4)]
    label, error = annealed(crowd_of(heaps), np.arange(12) % 3, 4, heat=COLD)
    assert sorted(groups_of(label)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert error == pytest.approx(3.0)


def test_a_new_group_is_made_where_that_gains():
    heaps = [(0,)] * 3 + [(100,)] * 3
    label, error = annealed(crowd_of([(0,), (100,)], [3, 3]), np.zeros(6, np.int64), 4, steps=2_000)
    assert len(groups_of(label)) == 1  # 6 records are fewer than twice 4
    assert error == pytest.approx(naive.error(heaps, [range(6)]))
    nine = crowd_of([(0,), (50,), (100,)], [3, 3, 3])
    label, error = annealed(nine, np.array([0, 0, 1, 0, 1, 1, 0, 0, 1]), 3, steps=5_000)
    assert sorted(groups_of(label)) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert error == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_k_and_2k_minus_1_records_stay_one_group(k):
    for rows in (k, 2 * k - 1):
        crowd = crowd_of([(i * i, 1) for i in range(rows)])
        label, error = annealed(crowd, np.zeros(rows, np.int64), k, heat=(9.0, 9.0))
        assert len(set(label.tolist())) == 1
        assert error == pytest.approx(error_of(crowd, label))


def test_one_place_has_no_error():
    label, error = annealed(crowd_of([(3, 4)], [9]), start_of(9, 3), 3)
    assert error == 0.0
    assert min(len(group) for group in groups_of(label)) >= 3


def test_what_compiled_code_must_not_see_is_refused():
    crowd = crowd_of([(i,) for i in range(6)])
    for label, k in (
        (start_of(5, 2), 2),
        (start_of(6, 2), 1),
        (np.zeros(6, np.int64), 3),  # 2k records in one group
    ):
        with pytest.raises(KernelInputError):
            annealed(crowd, label, k)
    with pytest.raises(KernelInputError):
        annealed(crowd._replace(row=crowd.row[:5]), start_of(6, 2), 2)


@settings(max_examples=40, deadline=None)
@given(points=POINTS, k=st.integers(1, 4))
def test_a_path_is_cut_into_the_best_runs(points, k):
    at = np.array(points, dtype=np.float64)
    if len(points) < k:
        with pytest.raises(KernelInputError):
            cut(at, k=k)
        return
    label = cut(at, k=k)
    assert label[0] == 0
    assert set(np.diff(label).tolist()) <= {0, 1}
    groups = groups_of(label)
    assert all(k <= len(group) <= 2 * k - 1 for group in groups)
    best = min(naive.error(points, runs) for runs in naive.cuts(list(range(len(points))), k))
    assert naive.error(points, groups) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_short_paths_and_equal_points(k):
    for size in (k, 2 * k - 1):
        assert cut(np.arange(size, dtype=np.float64)[:, None], k=k).tolist() == [0] * size
    sizes = np.bincount(cut(np.ones((20, 2)), k=k))
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    with pytest.raises(KernelInputError):
        cut(np.zeros((3, 1)), k=0)
