"""What `refine` begins with: rows merged, grown or cut into clusters that keep the promise.

Where persons are counted, `cut` counts them itself. Rows that are merged or grown are taken by
their tuples, whoever stands behind them; what then has too few persons borrows (see `borrow`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.axes import PromiseArrays
from shoal.kernels.clustering import bestcut
from shoal.kernels.clustering.refine import Pieces
from shoal.kernels.clustering.space import Space
from shoal.methods.clustering.borrow import borrowed, split_to_spare
from shoal.methods.clustering.clusters import Clusters, lost_by, over_rows, place_leftovers
from shoal.methods.clustering.kmember import grown as grown_clusters
from shoal.methods.clustering.repair import repaired
from shoal.methods.clustering.space import HEIGHT, space_of
from shoal.methods.clustering.split import split_holding
from shoal.table.frequency import ONCE, FrequencyTable

NEAR = 512
"""Clusters that each one looks at for a merger. After normal effort on Adult (k = 10) NCP is
0.0825 with 128, 0.0809 with 256, 0.0802 with 512."""


Rows = NDArray[np.int64]


class Task(NamedTuple):
    """What is lost, and what is promised."""

    space: Space
    losses: NDArray[np.int32]
    promise: PromiseArrays
    measure: str = HEIGHT


Beginning = Callable[[FrequencyTable, Task, Rows], Clusters]


def start(
    table: FrequencyTable, task: Task, begin: Beginning, *, is_part: bool = False
) -> Clusters:
    """Return clusters that keep the promise if the whole table does.

    is_part: only a part of the clusters will be improved.
    """
    k = max(int(task.promise.k), 1)
    every = np.arange(table.rows)
    light = np.flatnonzero(~_stands_alone(table, k))
    few = table.persons_of(light, np.zeros_like(light), table.counts[light], 1)[0] < k
    by_tuples = begin is merged or (begin is grown and table.persons is not None)
    if task.promise.kind.size or by_tuples or few:
        # A heavy row may break the promise alone, or be the best that a light one merges with.
        light = every
    found = _begun(table, task, begin, light)
    if is_part and len(light) < table.rows:
        # What heavy rows have to spare may not find the light ones: they may do better together.
        starts = (found, _begun(table, task, begin, every))
        found = min(starts, key=lambda start: lost_by(table, task.space, start))
    return split_to_spare(table, found, k)


def pieces_of(table: FrequencyTable, task: Task, clusters: Clusters) -> Pieces:
    """Return the members of clusters as local search takes them."""
    row = clusters.row
    secret = table.sensitive[row] + task.promise.start[:-1].astype(np.int32)
    who = None if table.persons is None else table.persons[row]
    return Pieces(table.codes[row], clusters.records, secret, who)


def _stands_alone(table: FrequencyTable, k: int) -> NDArray[np.bool_]:
    """Say of each row whether its records are of k persons."""
    heavy: NDArray[np.bool_] = table.counts >= k
    return heavy if table.persons is None else heavy & (table.persons == ONCE)


def _begun(table: FrequencyTable, task: Task, begin: Beginning, light: Rows) -> Clusters:
    """Return clusters of light rows, and every other row as one of its own."""
    own = np.setdiff1d(np.arange(table.rows), light, assume_unique=True)
    found = begin(table, task, light)
    return Clusters(
        np.concatenate((found.row, own)),
        np.concatenate((found.label, int(found.label.max()) + 1 + np.arange(len(own)))),
        np.concatenate((found.records, table.counts[own])),
    )


def cut(table: FrequencyTable, task: Task, rows: Rows) -> Clusters:
    """Cut rows as `bestcut` does."""
    some = slice(None) if len(rows) == table.rows else rows
    found = bestcut.cut(
        table.codes[some], table.counts[some], table.sensitive[some],
        losses=task.losses, promise=task.promise,
        persons=None if table.persons is None else table.persons[some],
    )  # fmt: skip
    ordered = rows[found.row]
    return Clusters(ordered, found.label[found.row], table.counts[ordered])


def merged(table: FrequencyTable, task: Task, rows: Rows) -> Clusters:
    """Merge rows, each of which begins alone."""
    if table.persons is not None:
        return _of_tuples(table, task, merged)
    return _kept(table, task, Clusters(rows, np.arange(len(rows)), table.counts[rows]))


def grown(table: FrequencyTable, task: Task, rows: Rows) -> Clusters:
    """Let clusters grow from rows as `kmember` does."""
    if table.persons is not None:
        return _of_tuples(table, task, grown)
    part = replace(
        table, codes=table.codes[rows], counts=table.counts[rows], sensitive=table.sensitive[rows]
    )
    k = max(int(task.promise.k), 1)
    tight = space_of(table.domains, measure=task.measure)  # it counts on ways along a line
    found = place_leftovers(grown_clusters(part, tight, k=k, first=0), part.codes, tight)
    return _kept(table, task, Clusters(rows[found.row], found.label, found.records))


def _of_tuples(table: FrequencyTable, task: Task, begin: Beginning) -> Clusters:
    """Make clusters of tuples, share them out to their rows, and let each have k persons."""
    first = np.flatnonzero(np.diff(table.tuple_ids, prepend=-1))
    tuples = replace(
        table, codes=table.codes[first], counts=table.tuple_sizes,
        sensitive=table.sensitive[first], persons=None,
    )  # fmt: skip
    every = np.arange(table.rows)
    found = over_rows(
        begin(tuples, task, np.arange(len(first))), rows=every, ends=np.cumsum(table.counts)
    )
    return _with_persons(table, task, found)


def mended(table: FrequencyTable, task: Task, rows: Rows) -> Clusters:
    """Cut for k alone, merge until the promise holds, split again what can be split."""
    none = np.zeros(0, dtype=np.int32)
    plain = task._replace(promise=task.promise._replace(kind=none))
    held = _kept(table, task, cut(table, plain, rows))
    split = split_holding(table, held, space=task.space, promise=task.promise)
    return split if table.persons is None else _with_persons(table, task, split)


def _with_persons(table: FrequencyTable, task: Task, clusters: Clusters) -> Clusters:
    """Let clusters borrow until each has k persons; where some cannot, cut instead."""
    k = max(int(task.promise.k), 1)
    held = borrowed(table, clusters, space=task.space, k=k)
    if (table.persons_of(*held, int(held.label.max()) + 1) < k).any():
        return cut(table, task, np.arange(table.rows))
    return held


def _kept(table: FrequencyTable, task: Task, clusters: Clusters) -> Clusters:
    """Merge clusters until each keeps the promise."""
    held = repaired(table, clusters, space=task.space, promise=task.promise, near=NEAR)
    if (held.label < 0).any():  # the whole table breaks the promise: to be repaired in the end
        return held._replace(label=np.zeros_like(held.label))
    return held
