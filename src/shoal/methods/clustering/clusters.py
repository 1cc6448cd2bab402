"""Clusters: how many records of which row are in which, and the boxes around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering.space import BRANCHES, FULL, KIND, MISSING, SIZE, START, TABLE, Space
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable

MOST = 1 << 18
"""How many pairs of a record and a cluster are looked at together."""


class Clusters(NamedTuple):
    """Members: `records` of `row` are in cluster `label`; -1: in none."""

    row: NDArray[np.int64]
    label: NDArray[np.int64]
    records: NDArray[np.int64]


def least_records(models: Sequence[Promise]) -> int:
    """Return how many records the promise asks of a class."""
    return max((m.least_records for m in models), default=1)


def order_of(label: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the stable order by label: an eighth of `argsort`'s time for millions of members."""
    keys = label << 32 | np.arange(len(label))
    keys.sort()
    return keys & 0xFFFFFFFF


def boxes_of(
    codes: NDArray[np.int32], label: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the lowest and highest codes of each cluster 0 … c-1, none of them empty."""
    if not len(label):
        return codes[:0], codes[:0]
    if (label[1:] < label[:-1]).any():
        order = order_of(label)
        codes, label = codes[order], label[order]
    starts = np.flatnonzero(np.concatenate(([True], label[1:] != label[:-1])))
    return np.minimum.reduceat(codes, starts, axis=0), np.maximum.reduceat(codes, starts, axis=0)


def histograms_of(table: FrequencyTable, clusters: Clusters, number: int) -> NDArray[np.int64]:
    """Return the sensitive values of each cluster: the columns' histograms behind each other."""
    row, label, count = clusters
    widths = [len(domain) for domain in table.sensitive_domains]
    histograms = np.zeros((number, sum(widths)), dtype=np.int64)
    start = 0
    for column, width in enumerate(widths):
        cell = label * width + table.sensitive[row, column]
        part = np.bincount(cell, weights=count, minlength=number * width)
        histograms[:, start : start + width] = part.reshape(number, width)
        start += width
    return histograms


def over_rows(clusters: Clusters, *, rows: NDArray[np.int64], ends: NDArray[np.int64]) -> Clusters:
    """Share clusters of tuples out to the rows of the table.

    A tuple has several rows where sensitive values differ; its records go to its clusters in
    the order of the rows.

    Args:
        clusters: their members are tuples.
        rows: the rows of the table, those of the first tuple first.
        ends: where the records of each row end when all are laid behind each other so.
    """
    order = np.lexsort((clusters.label, clusters.row))
    tuple_ends = np.cumsum(clusters.records[order])
    cuts = np.union1d(tuple_ends, ends)
    begins = np.concatenate((np.zeros(1, dtype=np.int64), cuts))[: len(cuts)]
    return Clusters(
        rows[np.searchsorted(ends, begins, side="right")],
        clusters.label[order][np.searchsorted(tuple_ends, begins, side="right")],
        cuts - begins,
    )


def place_leftovers(
    clusters: Clusters,
    codes: NDArray[np.int32],
    space: Space,
    *,
    turns: NDArray[np.int64] | None = None,
) -> Clusters:
    """Put the records that are in no cluster, one by one, where the loss grows least.

    Args:
        clusters: the members; those with label -1 are the leftovers.
        codes: codes of the table's rows.
        space: the losses.
        turns: the order of the leftover records (as their rows lie behind each other);
            None: as they lie.

    Guarantee:
        Ties go to the cluster with the lowest number. Without any cluster, the leftovers
        become one.
    """
    return _placed(clusters, codes, space, turns=turns)


def place_by_class(
    clusters: Clusters,
    codes: NDArray[np.int32],
    space: Space,
    *,
    turns: NDArray[np.int64],
    classes: NDArray[np.int32],
    penalty: int,
) -> Clusters:
    """Place leftovers as `place_leftovers` does, with the penalty of the classification metric.

    It is for a record of another class than the cluster's majority, which is the one it has
    before the first leftover comes, and for one with which the cluster would lose everything.
    """
    kept = clusters.label >= 0
    row, label, records = (part[kept] for part in clusters)
    number = int(classes.max()) + 1
    cells = np.bincount(
        label * number + classes[row],
        weights=records,
        minlength=number * (int(label.max(initial=-1)) + 1),
    )
    extra = np.full((number, len(cells) // number), penalty, dtype=np.int64)
    extra[cells.reshape(-1, number).argmax(axis=1), np.arange(extra.shape[1])] = 0
    return _placed(
        clusters, codes, space, turns=turns, extra=extra, classes=classes, penalty=penalty
    )


def _placed(
    clusters: Clusters,
    codes: NDArray[np.int32],
    space: Space,
    *,
    turns: NDArray[np.int64] | None,
    extra: NDArray[np.int64] | None = None,
    classes: NDArray[np.int32] | None = None,
    penalty: int = 0,
) -> Clusters:
    """Place leftovers; extra: what each class (of each row) costs in each cluster besides."""
    left = clusters.label < 0
    if not left.any():
        return clusters
    rows = np.repeat(clusters.row[left], clusters.records[left])
    if turns is not None:
        rows = rows[turns]
    kept = Clusters(*(part[~left] for part in clusters))
    chosen = np.zeros(len(rows), dtype=np.int64)
    if len(kept.label):
        low, high = boxes_of(codes[kept.row], kept.label)
        boxes = low.astype(np.int64), high.astype(np.int64)
        sizes = np.bincount(kept.label, weights=kept.records).astype(np.int64)
        step = max(MOST // len(sizes), 1)
        for begin in range(0, len(rows), step):
            some = slice(begin, begin + step)
            more = None if extra is None or classes is None else extra[classes[rows[some]]]
            chosen[some] = _choose(
                codes[rows[some]].astype(np.int64), boxes, sizes, space, more, penalty
            )
    return Clusters(
        np.concatenate((kept.row, rows)),
        np.concatenate((kept.label, chosen)),
        np.concatenate((kept.records, np.ones(len(rows), dtype=np.int64))),
    )


def _choose(
    codes: NDArray[np.int64],
    boxes: tuple[NDArray[np.int64], NDArray[np.int64]],
    sizes: NDArray[np.int64],
    space: Space,
    extra: NDArray[np.int64] | None,
    penalty: int,
) -> NDArray[np.int64]:
    """Return the cluster of each record, one after another; boxes and sizes grow with them.

    extra: what a record costs in a cluster besides; `penalty`, where all would be lost there.
    """
    low, high = boxes
    everything = int(space.column[:, FULL].sum())

    def growth(records: slice, some: slice) -> NDArray[np.int64]:
        together = np.zeros((len(codes[records]), len(sizes[some])), dtype=np.int64)
        alone = np.zeros(len(sizes[some]), dtype=np.int64)
        for j in range(codes.shape[1]):
            code = codes[records, j, None]
            first, last = low[some, j], high[some, j]
            together += costs(space, j, np.minimum(first, code), np.maximum(last, code))
            alone += costs(space, j, first, last)
        grown: NDArray[np.int64] = (sizes[some] + 1) * together - sizes[some] * alone
        if extra is not None:
            grown += np.where(together == everything, penalty, extra[records, some])
        return grown

    known = growth(slice(None), slice(None))
    chosen = np.empty(len(codes), dtype=np.int64)
    for i in range(len(codes)):
        best = int(known[i].argmin())
        chosen[i] = best
        low[best] = np.minimum(low[best], codes[i])
        high[best] = np.maximum(high[best], codes[i])
        sizes[best] += 1
        one = slice(best, best + 1)
        known[i + 1 :, one] = growth(slice(i + 1, None), one)
    return chosen


def box_losses(space: Space, low: NDArray[np.int32], high: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the loss of each box (a row of codes each), all columns together, in units."""
    total = np.zeros(len(low), dtype=np.int64)
    for j in range(low.shape[1]):
        total += costs(space, j, low[:, j].astype(np.int64), high[:, j].astype(np.int64))
    return total


def lost_by(table: FrequencyTable, space: Space, clusters: Clusters) -> int:
    """Return what clusters lose, in units."""
    row, label, records = clusters
    sizes = np.bincount(label, weights=records).astype(np.int64)
    return int((sizes * box_losses(space, *boxes_of(table.codes[row], label))).sum())


def costs(
    space: Space, j: int, low: NDArray[np.integer], high: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Return the losses of many runs of one column, in units."""
    facts = space.column[j]
    size, part = int(facts[SIZE]), space.flat[int(facts[START]) :]
    if facts[KIND] == TABLE:
        looked_up: NDArray[np.int64] = part[low * size + high].astype(np.int64)
        return looked_up
    if not facts[BRANCHES]:
        width = part[high].astype(np.int64) - part[low]
        if facts[MISSING]:
            width = np.where((low == 0) & (high > 0), facts[FULL], width)
        return np.asarray(width)
    level = space.log[np.maximum(high - low, 1)]
    base = (level + 1) * size
    joined = np.maximum(part[base + low], part[np.maximum(base + high - (1 << level), 0)])
    found: NDArray[np.int64] = np.where(low == high, part[low], joined).astype(np.int64)
    return found
