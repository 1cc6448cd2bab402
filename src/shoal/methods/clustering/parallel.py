"""Greedy k-member, all clusters grown at once ([netshiunda2020], Algorithm 2, Figure 3.1)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering.kmember_parallel import WISHES, Growing, far_apart, grow_together
from shoal.kernels.clustering.space import FULL, SCALE, Space
from shoal.methods.catalogue import KMemberParallel
from shoal.methods.clustering.clusters import MOST, Clusters, costs, least_records, over_rows
from shoal.methods.clustering.kmember import classes_of
from shoal.methods.clustering.release import recode_or_cut
from shoal.methods.clustering.space import measure_of, space_of
from shoal.methods.method import Setting
from shoal.privacy import Promise
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

ROUNDS = 20


class Tuples(NamedTuple):
    """Distinct tuples (and classes) of a table: codes, records, class, and rows in their order.

    `rows` are the table's, those of the first tuple first; `ends` says where each row's records
    end when all are laid behind each other so.
    """

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    target: NDArray[np.int64] | None
    rows: NDArray[np.int64]
    ends: NDArray[np.int64]


def kmember_parallel(
    table: FrequencyTable, models: Sequence[Promise], method: KMemberParallel, setting: Setting
) -> Recoding:
    """Choose n // k seeds far from each other, then let all clusters grow at the same time.

    The tuples are split beforehand, by k-means on the numeric columns and by k-modes on the
    others, into up to `groups` × `groups` groups of alike ones. A new seed is the one with
    the largest sum of distances to all seeds before it, among one candidate a group: that is
    what Figure 3.1 saves its time with. In each round every cluster below k names its best
    record; of several that name the same one, the cluster that grows least by it has it, of
    equals the first (the figure says only "unique pairs"). Leftovers go, all at once, each to
    the cluster c with the least IL(c ∪ r). `cm` as in `kmember`.

    Equal records are one tuple with a count, which the figure does not have: k copies are a
    cluster of their own, seeds are chosen among such first, and a tuple that several
    clusters name serves as many as it has records. Taken one by one, thousands of copies of a
    far tuple would all become seeds, and find no copy left.

    Guarantee:
        The same classes with any number of threads. Nothing is lost where n // k clusters of
        equal records can be made, and each record left has such a cluster.
    """
    k = least_records(models)
    space = space_of(table.domains, measure=measure_of(setting))
    chance = np.random.default_rng(setting.seed)
    tuples = tuples_of(table, classes_of(table, setting.target) if method.cm else None)
    extra = round(method.penalty * SCALE) if method.cm else 0
    members = _clustered(
        table, tuples, space, k=k, penalty=extra, groups=method.groups, chance=chance,
        threads=setting.threads or os.cpu_count() or 1,
    )  # fmt: skip
    clusters = over_rows(members, rows=tuples.rows, ends=tuples.ends)
    return recode_or_cut(table, models, clusters, space, setting)


def _clustered(
    table: FrequencyTable,
    tuples: Tuples,
    space: Space,
    *,
    k: int,
    penalty: int,
    groups: int,
    chance: np.random.Generator,
    threads: int,
) -> Clusters:
    """Return members of tuples: Algorithm 2, lines 1 to 26."""
    number = table.records // k
    if not number:
        everything = np.arange(len(tuples.counts))
        return Clusters(everything, np.zeros_like(everything), tuples.counts)
    group = split(table.domains, tuples.codes, groups=groups, chance=chance)
    record = int(chance.integers(table.records))
    first = int(np.searchsorted(np.cumsum(tuples.counts), record, side="right"))
    chosen, taken = far_apart(
        tuples.codes, tuples.counts, group, space=space, number=number, k=k, first=first
    )
    members, boxes = grown(
        tuples, chosen, taken, space=space, k=k, penalty=penalty, threads=threads
    )
    return place_at_once(tuples, members, boxes, space=space, penalty=penalty)


def tuples_of(table: FrequencyTable, classes: NDArray[np.int32] | None) -> Tuples:
    """Return the distinct tuples of a table; with classes, those of tuple and class."""
    keys = table.tuple_ids.astype(np.int64)
    if classes is not None:
        keys = keys * (int(classes.max()) + 1) + classes
    rows = np.argsort(keys, kind="stable")
    _, starts = np.unique(keys[rows], return_index=True)
    ends = np.cumsum(table.counts[rows])
    return Tuples(
        np.ascontiguousarray(table.codes[rows[starts]]),
        np.add.reduceat(table.counts[rows], starts),
        None if classes is None else classes[rows[starts]].astype(np.int64),
        rows,
        ends,
    )


def grown(
    tuples: Tuples,
    chosen: NDArray[np.int64],
    taken: NDArray[np.int64],
    *,
    space: Space,
    k: int,
    penalty: int = 0,
    threads: int = 1,
) -> tuple[Clusters, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Grow clusters from seeds; return the members, and the boxes of the clusters."""
    left = tuples.counts - np.bincount(chosen, weights=taken, minlength=len(tuples.counts))
    left = left.astype(np.int64)
    small = np.flatnonzero(taken < k)
    seeds = chosen[small]
    kinds = 0 if tuples.target is None else int(tuples.target.max()) + 1
    growing = Growing(
        low=tuples.codes[seeds].astype(np.int64),
        high=tuples.codes[seeds].astype(np.int64),
        sizes=taken[small],
        histogram=np.zeros((len(small), kinds), dtype=np.int64),
        wish=np.full((len(small), 2 * WISHES), -1, dtype=np.int64),
        turn=np.full(len(small), -1, dtype=np.int64),
        growth=np.zeros(len(small), dtype=np.int64),
    )
    if tuples.target is not None:
        growing.histogram[np.arange(len(small)), tuples.target[seeds]] = taken[small]
    with ThreadPoolExecutor(threads) as pool:
        given, to = grow_together(
            tuples.codes, left, growing, space=space, k=k, target=tuples.target, penalty=penalty,
            pool=pool, threads=threads,
        )  # fmt: skip
    low, high = (tuples.codes[chosen].astype(np.int64) for _ in range(2))
    low[small], high[small] = growing.low, growing.high
    rest = np.flatnonzero(left)
    number = len(chosen)
    keys, where = np.unique(
        np.concatenate((chosen * number + np.arange(number), given * number + small[to])),
        return_inverse=True,
    )
    records = np.bincount(where, weights=np.concatenate((taken, np.ones(len(given)))))
    return Clusters(
        np.concatenate((keys // number, rest)),
        np.concatenate((keys % number, np.full(len(rest), -1))),
        np.concatenate((records.astype(np.int64), left[rest])),
    ), (low, high)


def place_at_once(
    tuples: Tuples,
    members: Clusters,
    boxes: tuple[NDArray[np.int64], NDArray[np.int64]],
    *,
    space: Space,
    penalty: int = 0,
) -> Clusters:
    """Put each tuple that is left (label -1) where IL(c ∪ r) is least, as the clusters are now.

    Figure 3.1, find_best_clusters: no leftover sees another one. Of equal clusters the first.
    """
    rest = np.flatnonzero(members.label < 0)
    if not len(rest):
        return members
    kept = members.label >= 0
    low, high = boxes
    number = len(low)
    sizes = np.bincount(members.label[kept], weights=members.records[kept]).astype(np.int64)
    major = np.zeros(number, dtype=np.int64)
    if tuples.target is not None:
        kinds = int(tuples.target.max()) + 1
        cells = members.label[kept] * kinds + tuples.target[members.row[kept]]
        tally = np.bincount(cells, weights=members.records[kept], minlength=number * kinds)
        major = tally.reshape(number, kinds).argmax(axis=1)
    everything = int(space.column[:, FULL].sum())
    label = members.label.copy()
    step = max(MOST // number, 1)
    for begin in range(0, len(rest), step):
        some = rest[begin : begin + step]
        codes = tuples.codes[members.row[some]].astype(np.int64)
        box = np.zeros((len(some), number), dtype=np.int64)
        for j in range(codes.shape[1]):
            code = codes[:, j, None]
            box += costs(space, j, np.minimum(low[:, j], code), np.maximum(high[:, j], code))
        loss = (sizes + 1) * box
        if tuples.target is not None:
            is_odd = (tuples.target[members.row[some]][:, None] != major) | (box == everything)
            loss += np.where(is_odd, penalty, 0)
        label[some] = loss.argmin(axis=1)
    return Clusters(members.row, label, members.records)


def split(
    domains: Sequence[Domain],
    codes: NDArray[np.int32],
    *,
    groups: int,
    chance: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the group of each tuple: k-means of its numbers with k-modes of its categories."""
    is_tree = np.array([domain.tree is not None for domain in domains], dtype=bool)
    numbers = np.stack(
        [
            domain.position[codes[:, j]] / (domain.span or 1.0)
            for j, domain in enumerate(domains)
            if not is_tree[j]
        ]
        or [np.zeros(len(codes))],
        axis=1,
    )
    by_number = _means(np.nan_to_num(numbers), groups, chance)
    by_category = np.zeros(len(codes), dtype=np.int64)
    if is_tree.any():
        by_category = _modes(codes[:, is_tree], groups, chance)
    _, group = np.unique(by_number * groups + by_category, return_inverse=True)
    numbered: NDArray[np.int64] = group.astype(np.int64)
    return numbered


def _means(
    values: NDArray[np.float64], groups: int, chance: np.random.Generator
) -> NDArray[np.int64]:
    distinct = np.unique(values, axis=0)
    centres = distinct[chance.permutation(len(distinct))[:groups]]
    label = np.full(len(values), -1)
    for _ in range(ROUNDS):
        nearest = ((values[:, None, :] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        if (nearest == label).all():
            break
        label = nearest
        for g in range(len(centres)):
            if (label == g).any():
                centres[g] = values[label == g].mean(axis=0)
    return label.astype(np.int64)


def _modes(codes: NDArray[np.int32], groups: int, chance: np.random.Generator) -> NDArray[np.int64]:
    distinct = np.unique(codes, axis=0)
    centres = distinct[chance.permutation(len(distinct))[:groups]].copy()
    label = np.full(len(codes), -1)
    for _ in range(ROUNDS):
        nearest = np.stack([(codes != centre).sum(axis=1) for centre in centres], axis=1).argmin(
            axis=1
        )
        if (nearest == label).all():
            break
        label = nearest
        for g in range(len(centres)):
            inside = codes[label == g]
            for j in range(codes.shape[1] if len(inside) else 0):
                centres[g, j] = np.bincount(inside[:, j]).argmax()
    return label.astype(np.int64)
