"""Small tables: the best of all ways to part the records, or of many pools of them one by one.

Records of one row are alike, so a class is so many records of each row. The least loss of every
part of the table is found from those of smaller parts: where there are no more than `WAYS` parts,
nothing loses less than what is found. Where there are more, two or three clusters are a pool. Some
of their records are free, the others of each cluster stay together, and the pool is parted anew in
the best way there is, again and again with other clusters and other records.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from shoal.methods.clustering.begin import Task
from shoal.methods.clustering.clusters import Clusters, box_losses, lost_by, over_rows
from shoal.methods.verdicts import breaking
from shoal.table.frequency import FrequencyTable

WAYS = 1 << 16
"""Parts of a table that are all looked at: as many as 16 records have that all differ. That takes
up to 0.3 seconds of CPU."""

PLAIN = 16
"""A promise without a compiled form is judged part by part: so many times fewer are looked at."""

POOL = 1 << 9
"""Parts of a pool."""

KINDS = 64
"""Of tables with more different rows, pools would be few among many: local search is better."""

POOLS = 300
"""Pools that are parted."""

PATIENCE = 20
"""After so many pools that gained nothing some clusters are joined."""

NEAR = 2.0
"""Clusters of a pool are near each other: how many nearer ones are passed over, on average."""

_NEVER = np.int64(1) << 60  # no loss reaches it

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Kinds:
    """Records that can be told apart, and what classes of them must keep.

    Attributes:
        low, high: int32[kinds, columns], the box of one of each.
        sizes: int64[kinds], the records that one of each stands for.
        histograms: int64[kinds, values], of all sensitive columns behind each other.
        verdicts: whether classes break a promise that has no compiled form, as far as it is known.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    sizes: Numbers
    histograms: Numbers
    task: Task
    verdicts: dict[bytes, bool] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Say whether there is a promise without a compiled form."""
        return any(judge is not None for judge in self.task.promise.plain)

    def losses(self, classes: Numbers) -> Numbers:
        """Return what classes lose; those that nobody is in lose nothing.

        classes: int64[classes, kinds], how many of each kind are in them.
        """
        low = np.full((len(classes), self.low.shape[1]), np.iinfo(np.int32).max, dtype=np.int32)
        high = np.full_like(low, -1)
        for kind, many in enumerate(classes.T):
            is_in = many > 0
            low[is_in] = np.minimum(low[is_in], self.low[kind])
            high[is_in] = np.maximum(high[is_in], self.high[kind])
        sizes, some = classes @ self.sizes, classes.any(axis=1)
        found = np.zeros(len(classes), dtype=np.int64)
        found[some] = sizes[some] * box_losses(self.task.space, low[some], high[some])
        return found

    def breaking(self, classes: Numbers) -> NDArray[np.bool_]:
        """Say of classes, none of them empty, whether they break the promise."""
        sizes, spread = classes @ self.sizes, classes @ self.histograms
        promise = self.task.promise
        if not self.is_plain:
            return breaking(promise, sizes, spread)
        names = [each.tobytes() for each in np.column_stack((sizes, spread))]
        fresh = [i for i, name in enumerate(names) if name not in self.verdicts]
        found = breaking(promise, sizes[fresh], spread[fresh]).tolist()
        self.verdicts.update(zip((names[i] for i in fresh), found, strict=True))
        return np.array([self.verdicts[name] for name in names], dtype=np.bool_)

    def joined(self, many: Numbers) -> Kinds:
        """Return kinds that each stand for several of these; many: int64[new, kinds]."""
        is_in = many[:, :, None] > 0
        none = np.iinfo(np.int32).max
        return replace(
            self,
            low=np.where(is_in, self.low, none).min(axis=1),
            high=np.where(is_in, self.high, -1).max(axis=1),
            sizes=many @ self.sizes, histograms=many @ self.histograms,
        )  # fmt: skip


def ways(many: Numbers) -> int:
    """Return how many different parts there are of so many of each kind, nothing among them."""
    return prod(int(each) + 1 for each in many)


def best_parts(kinds: Kinds, many: Numbers) -> Numbers | None:
    """Return the classes that lose least: int64[classes, kinds]; None: no classes can hold.

    many: how many of each kind there are.

    Guarantee:
        Of all ways to part them into classes that keep the promise, none loses less.
    """
    shape = tuple(int(each) + 1 for each in many)
    parts = np.indices(shape).reshape(len(many), -1).T.astype(np.int64)[1:]
    loss = kinds.losses(parts)
    holds = np.flatnonzero(~kinds.breaking(parts))
    least = np.full(shape, _NEVER)
    least[(0,) * len(shape)] = 0
    last = np.full(shape, -1)
    flat = least.reshape(-1)  # a view; parts stand in it in their order, smaller ones before
    for i in holds.tolist():
        if flat[i + 1] <= loss[i]:
            continue  # what it is made of loses no more
        part = parts[i].tolist()
        after = tuple(slice(own, None) for own in part)
        before = tuple(slice(None, end - own) for own, end in zip(part, shape, strict=True))
        found = least[before] + loss[i]
        better = found < least[after]
        np.copyto(least[after], found, where=better)
        np.copyto(last[after], i, where=better)
    left, classes = many.copy(), []
    while left.any():
        i = int(last[tuple(left.tolist())])
        if i < 0:
            return None
        classes.append(parts[i])
        left = left - parts[i]
    return np.array(classes, dtype=np.int64).reshape(-1, len(many))


def parted(
    table: FrequencyTable, task: Task, clusters: Clusters, *, seed: int, stop: float | None
) -> Clusters:
    """Return clusters of a small table that lose no more than those given.

    clusters: of all records, each of which keeps the promise. stop: when to end by the clock.

    Guarantee:
        Where `ways` of the table's different records (tuples, where k alone is promised) are at
        most WAYS (one of PLAIN of them by a promise without a compiled form), no clusters that
        keep the promise lose less. Where persons are counted, or there
        are more than KINDS different records, the clusters are returned as they are.
    """
    if table.persons is not None or not lost_by(table, task.space, clusters):
        return clusters
    first = np.flatnonzero(np.diff(table.tuple_ids, prepend=-1))
    rows = np.arange(table.rows) if task.promise.kind.size else first
    if len(rows) > KINDS:
        return clusters
    kind_of = np.searchsorted(rows, np.arange(table.rows), side="right") - 1
    values = np.zeros((len(rows), int(task.promise.start[-1])), dtype=np.int64)
    if task.promise.kind.size:
        for column, start in enumerate(task.promise.start[:-1].tolist()):
            values[np.arange(len(rows)), start + table.sensitive[rows, column]] = 1
    kinds = Kinds(
        table.codes[rows], table.codes[rows], np.ones(len(rows), dtype=np.int64), values, task
    )
    share = np.zeros((int(clusters.label.max()) + 1, len(rows)), dtype=np.int64)
    np.add.at(share, (clusters.label, kind_of[clusters.row]), clusters.records)
    many = share.sum(axis=0)
    if ways(many) <= (WAYS // PLAIN if kinds.is_plain else WAYS):
        found = best_parts(kinds, many)
    else:
        found = _by_pools(kinds, share, seed, stop)
    if found is None:  # not even those given hold: the whole table breaks the promise
        return clusters
    label, kind = np.nonzero(found)
    return over_rows(
        Clusters(kind, label, found[label, kind]),
        rows=np.arange(table.rows), ends=np.cumsum(table.counts),
    )  # fmt: skip


def _by_pools(kinds: Kinds, share: Numbers, seed: int, stop: float | None) -> Numbers:
    """Return clusters (how many of each kind are in each) whose pools were parted anew."""
    best = share = share[share.any(axis=1)]
    least = lost = int(kinds.losses(share).sum())
    idle = 0
    for done in range(POOLS):
        if stop is not None and time.perf_counter() >= stop:
            break
        chance = np.random.default_rng((seed, done))
        pool = _pool(kinds, share, chance)
        if idle == PATIENCE:  # a dead end: some clusters are joined, and parted another way
            idle, fresh = 0, share[pool].sum(axis=0, keepdims=True)
            if kinds.breaking(fresh).any():
                continue
        else:
            atoms, many = _atoms(share[pool], chance)
            groups = best_parts(kinds.joined(atoms), many)
            if groups is None:
                continue
            fresh = groups @ atoms
        gained = int(kinds.losses(share[pool]).sum() - kinds.losses(fresh).sum())
        idle = 0 if gained else idle + 1
        lost -= gained
        share = np.concatenate((np.delete(share, pool, axis=0), fresh))
        if lost < least:
            best, least = share, lost
    return best


def _pool(kinds: Kinds, share: Numbers, chance: np.random.Generator) -> Numbers:
    """Return some clusters: one by chance, and up to two of those that it would best join."""
    first = int(chance.integers(len(share)))
    others = np.delete(np.arange(len(share)), first)
    together = kinds.losses(share[others] + share[first])
    near = others[np.argsort(together - kinds.losses(share[others]), kind="stable")].tolist()
    found = [first]
    for _ in range(min(int(chance.integers(0, 3)), len(near))):
        found.append(near.pop(min(int(chance.exponential(NEAR)), len(near) - 1)))
    return np.array(found)


def _atoms(share: Numbers, chance: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Return what a pool is made of, as so many of each kind, and how often each is there.

    share: its clusters. Records are set free by chance, as many as `POOL` parts allow.
    """
    kinds = share.shape[1]
    left, free = share.copy(), np.zeros(kinds, dtype=np.int64)
    cells = np.argwhere(share > 0)
    for cluster, kind in chance.permutation(cells).tolist():
        own = int(left[cluster, kind])
        room = POOL // ((1 << len(share)) * ways(free))
        most = min(own, (room - 1) * (int(free[kind]) + 1))
        if most > 0:
            wanted = most if chance.random() < 0.5 else int(chance.integers(1, most + 1))
            left[cluster, kind] -= wanted
            free[kind] += wanted
    at = np.flatnonzero(free)
    cores = left[left.any(axis=1)]
    single = np.zeros((len(at), kinds), dtype=np.int64)
    single[np.arange(len(at)), at] = 1
    return (
        np.concatenate((single, cores)),
        np.concatenate((free[at], np.ones(len(cores), dtype=np.int64))),
    )
