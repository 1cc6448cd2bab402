"""Clusters with too few persons borrow records, or are shared out, whichever loses less.

A cluster takes the cheapest records of persons whom it lacks from clusters that can spare them,
or that get a record of somebody in return who stands in it twice. Where that loses less, all of
its records go to other clusters instead. Clusters stand in a line, another one each round, and
deal with those around them; what no round could mend is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering.borrow import BORROW, NEVER, SHARE_OUT, Line, Moves
from shoal.kernels.clustering.cluster_boxes import sums_fit
from shoal.kernels.clustering.losses import packed
from shoal.kernels.clustering.space import Space
from shoal.methods.clustering.clusters import Clusters
from shoal.methods.clustering.lines import line_up, places_on_lines
from shoal.table.frequency import ONCE, FrequencyTable

WINDOW = 128
"""Clusters to each side that one borrows from in a round (diabetes_130, nine columns, `kmember`,
k = 10: NCP 0.119 when short clusters are merged, 0.111 with 16, 0.105 with 64, 0.103 with 128) …"""

RECORDS = 640
"""… and fewer where they are large: so many records to each side, of clusters with k of them."""

ROUNDS = 4
"""Orders in which clusters line up; those that nobody near could help wait for the next one."""

Judge = Callable[[Clusters], NDArray[np.bool_]]
"""Says of each cluster 0 … c-1 whether it breaks what is promised beside k."""


def borrowed(
    table: FrequencyTable,
    clusters: Clusters,
    *,
    space: Space,
    k: int,
    judge: Judge | None = None,
) -> Clusters:
    """Return clusters 0 … c-1 of which as many as can be have k persons.

    Args:
        table: the records; it says whose they are.
        clusters: labels 0 … c-1.
        space: the losses.
        k: persons that a cluster is to have.
        judge: where more than k persons is promised: no change is made after which a cluster
            fails that did not, and a cluster that still fails has not been mended.

    Guarantee:
        A cluster that has k persons keeps k, or ends without a record; the same for what the judge
        says. Nothing changes where every cluster holds, or with more columns than `sums_fit`.
    """
    assert table.persons is not None
    pieces = split_to_spare(table, clusters, k)
    row, label, records = pieces
    codes, persons = np.ascontiguousarray(table.codes[row]), table.persons[row]
    places, losses = places_on_lines(space), packed(space)
    if not sums_fit(losses, codes.shape[1]):
        return clusters
    window = min(WINDOW, max(RECORDS // k, 8))
    for turn in range(ROUNDS):
        short = _failing(table, pieces._replace(label=label), k, judge)
        if not short.any():
            break
        rank = line_up(codes, label, places, np.random.default_rng((k, turn)))
        line = Line.of(codes, records, rank[label], persons, losses=losses, k=k, window=window)
        failing = np.zeros(len(rank), dtype=np.bool_)
        failing[rank] = short
        for a in np.flatnonzero(failing).tolist():
            _mend(_Judged(line, row, failing, judge), a)
        label = np.unique(line.label, return_inverse=True)[1].astype(np.int64)
    return pieces._replace(label=label)


def split_to_spare(table: FrequencyTable, clusters: Clusters, k: int) -> Clusters:
    """Return the members in pieces, so that what k persons do not need can go one by one."""
    row, label, records = clusters
    needed = k if table.persons is None else np.where(table.persons[row] == ONCE, k, 1)
    spare = np.clip(records - needed, 0, k - 1)  # nobody needs more
    return Clusters(
        np.concatenate((row, np.repeat(row, spare))),
        np.concatenate((label, np.repeat(label, spare))),
        np.concatenate((records - spare, np.ones(spare.sum(), dtype=np.int64))),
    )


def _failing(
    table: FrequencyTable, clusters: Clusters, k: int, judge: Judge | None
) -> NDArray[np.bool_]:
    found = table.persons_of(*clusters, int(clusters.label.max()) + 1) < k
    return found if judge is None else found | judge(clusters)


class _Judged(NamedTuple):
    """Clusters in a line, the rows of their pieces, which of them fail, and who says so."""

    line: Line
    row: NDArray[np.int64]
    failing: NDArray[np.bool_]
    judge: Judge | None

    def is_broken(self, a: int, moves: Moves) -> bool:
        """Say whether the last moves left cluster a as it was, or broke one that held."""
        if self.judge is None:  # k persons: the kernel has seen to it
            return False
        touched = self.line.touched(a, moves)
        asked = touched[(touched == a) | ~self.failing[touched]]
        if not len(asked):
            return False
        piece, label = self.line.members(asked)
        some = Clusters(self.row[piece], label, self.line.records[piece])
        return bool(self.judge(some).any())


def _mend(judged: _Judged, a: int) -> None:
    """Make the change that loses least, if there is one that mends cluster a."""
    line = judged.line
    best: tuple[int, Moves] | None = None
    for how in (BORROW, SHARE_OUT):
        cost, moves = line.change(a, how)
        is_best = cost < (NEVER if best is None else best[0])
        if is_best and not judged.is_broken(a, moves):
            best = cost, moves
        line.take_back(moves)
    if best is not None:
        line.make(best[1])
        judged.failing[a] = False
