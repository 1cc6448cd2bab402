"""All clusters at once: seeds far apart and wishes, against the figure record by record."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import domains
from tests.naive.clustering import SCALE
from tests.naive.clustering_more import Parallel

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering import kmember_parallel as kernel
from shoal.kernels.clustering.kmember_parallel import WISHES, Growing, far_apart, grow_together
from shoal.methods.clustering.space import space_of

DOMAINS = domains()
SPACE = space_of(DOMAINS)


def tuples(seed, rows):
    """Return distinct tuples, their records and groups that are numbered without a gap."""
    chance = np.random.default_rng(seed)
    codes = np.stack([chance.integers(0, len(d), rows) for d in DOMAINS], axis=1)
    codes = np.unique(codes.astype(np.int32), axis=0)
    counts = chance.integers(1, 5, len(codes))
    _, group = np.unique(chance.integers(0, 3, len(codes)), return_inverse=True)
    return codes, counts, group.astype(np.int64)


def twin_of(codes, counts, k, target=None, penalty=0):
    """Return the twin and the tuple of each of its records."""
    unit = np.repeat(np.arange(len(codes)), counts)
    kinds = [0 if target is None else int(target[u]) for u in unit]
    data = [tuple(map(int, codes[u])) for u in unit]
    return Parallel(data, kinds, k, domains=DOMAINS, penalty=penalty), unit


def growing_of(codes, chosen, taken, target=None, wishes=WISHES):
    small = codes[chosen].astype(np.int64)
    number = len(chosen)
    histogram = np.zeros((number, 1 if target is None else int(target.max()) + 1), np.int64)
    if target is not None:
        histogram[np.arange(number), target[chosen]] = taken
    return Growing(
        small.copy(), small.copy(), taken.copy(), histogram,
        np.full((number, 2 * wishes), -1), np.full(number, -1), np.zeros(number, np.int64),
    )  # fmt: skip


def grown(codes, counts, chosen, k, *, target=None, wishes=WISHES, **options):
    """Grow one record a seed; return what each cluster was given, the boxes, what is left."""
    left = counts.copy()
    np.subtract.at(left, chosen, 1)
    growing = growing_of(codes, chosen, np.ones(len(chosen), np.int64), target, wishes)
    given_out, to = grow_together(
        codes, left, growing, space=SPACE, k=k, target=target, **options
    )  # fmt: skip
    clusters = [sorted([int(c), *given_out[to == b].tolist()]) for b, c in enumerate(chosen)]
    return clusters, growing, left


def seeds(codes, counts, k):
    """Return as many tuples as there may be clusters, one record each."""
    number = max(int(counts.sum()) // k, 1)
    return np.arange(len(codes))[:number]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 999), rows=st.integers(1, 16), k=st.integers(1, 5), data=st.data())
def test_seeds_are_those_of_the_figure(seed, rows, k, data):
    codes, counts, group = tuples(seed, rows)
    number = int(counts.sum()) // k
    if not number:
        return
    first = data.draw(st.integers(0, len(codes) - 1))
    before = counts.copy()
    chosen, taken = far_apart(codes, counts, group, space=SPACE, number=number, k=k, first=first)
    twin, unit = twin_of(codes, counts, k)
    parts = [np.flatnonzero(group[unit] == g).tolist() for g in range(int(group.max()) + 1)]
    expected = twin.find_records(parts, number, int(np.searchsorted(unit, first)))
    assert chosen.tolist() == [int(unit[c[0]]) for c in expected]
    assert taken.tolist() == [len(c) for c in expected]
    assert (counts == before).all()


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 999), rows=st.integers(1, 16), k=st.integers(2, 5),
    penalty=st.sampled_from([None, 0, SCALE]), wishes=st.sampled_from([1, 2, WISHES]),
)  # fmt: skip
def test_each_round_gives_every_cluster_its_best_record(seed, rows, k, penalty, wishes):
    codes, counts, group = tuples(seed, rows)
    target = None if penalty is None else group
    chosen = seeds(codes, counts, k)
    found, growing, left = grown(
        codes, counts, chosen, k, target=target, penalty=penalty or 0, wishes=wishes
    )
    twin, unit = twin_of(codes, counts, k, target, penalty or 0)
    clusters = [[int(np.searchsorted(unit, c))] for c in chosen]
    rest = sorted(set(range(len(unit))) - {c[0] for c in clusters})
    while rest and any(len(c) < k for c in clusters):
        twin.find_and_append_best_records(rest, clusters)
    assert found == [sorted(int(unit[r]) for r in c) for c in clusters]
    assert left.tolist() == np.bincount(unit[rest], minlength=len(codes)).tolist()
    for b, members in enumerate(found):
        assert growing.sizes[b] == len(members)
        assert growing.low[b].tolist() == codes[members].min(axis=0).tolist()
        assert growing.high[b].tolist() == codes[members].max(axis=0).tolist()
        if target is not None:
            tally = np.bincount(target[members], minlength=growing.histogram.shape[1])
            assert growing.histogram[b].tolist() == tally.tolist()


def test_blocks_in_threads_give_the_same(monkeypatch):
    codes, counts, _ = tuples(1, 60)
    chosen = seeds(codes, counts, 4)
    alone = grown(codes, counts, chosen, 4)[0]
    monkeypatch.setattr(kernel, "BLOCK", 8)
    with ThreadPoolExecutor(2) as pool:
        assert grown(codes, counts, chosen, 4, pool=pool, threads=2)[0] == alone


@pytest.mark.parametrize("k", [1, 2, 5])
def test_k_copies_are_a_cluster_and_fewer_than_k_are_left(k):
    codes = np.zeros((1, 3), np.int32)
    for records in (k, 2 * k - 1):
        chosen, taken = far_apart(
            codes, np.array([records]), np.zeros(1, np.int64), space=SPACE, number=1, k=k, first=0
        )
        assert (chosen.tolist(), taken.tolist()) == ([0], [k])


def test_of_2k_minus_1_distinct_tuples_k_go_to_the_only_seed():
    codes = np.zeros((5, 3), np.int32)
    codes[:, 0] = range(5)  # 0, 1, 2, 4, 8: the nearest to the first are those behind it
    found, _, left = grown(codes, np.ones(5, np.int64), np.array([0]), 3)
    assert found == [[0, 1, 2]]
    assert left.tolist() == [0, 0, 0, 1, 1]


def test_growing_ends_when_no_record_is_left():
    codes = np.zeros((2, 3), np.int32)
    codes[1, 0] = 5
    found, growing, left = grown(codes, np.array([1, 2]), np.array([0, 1]), 3)
    assert found == [[0], [1, 1]]  # the nearer one grows less by the only record
    assert growing.sizes.tolist() == [1, 2]
    assert not left.any()


def test_what_compiled_code_must_not_see_is_refused():
    codes, counts, group = np.zeros((2, 3), np.int32), np.ones(2, np.int64), np.zeros(2, np.int64)
    for first, number, groups in ((2, 1, group), (-1, 1, group), (0, 2, group), (0, 1, group[:1])):
        with pytest.raises(KernelInputError):
            far_apart(codes, counts, groups, space=SPACE, number=number, k=2, first=first)
