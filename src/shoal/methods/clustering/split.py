"""Splitting of clusters by strata: both halves keep the spread of the sensitive values.

A plain cut along a column separates values that go with it: where income goes with age, no half
of a class is close to the whole table any more. Here the records of each sensitive value are put
in order by a column for themselves, and the same share of each goes to either side. The boxes
overlap a little; the spread of both sides is that of the class, but for rounding.

All clusters are split together, level by level, by array operations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.axes import PromiseArrays
from shoal.kernels.clustering.space import Space
from shoal.methods.clustering.clusters import Clusters, box_losses, boxes_of, histograms_of
from shoal.methods.verdicts import breaking
from shoal.table.frequency import FrequencyTable

Numbers = NDArray[np.int64]


def split_holding(
    table: FrequencyTable, clusters: Clusters, *, space: Space, promise: PromiseArrays
) -> Clusters:
    """Split clusters in halves, by the column that then loses least, as often as both halves hold.

    Labels must be 0 … c-1, none of them empty.

    Guarantee:
        Every cluster that comes of one that keeps the promise keeps it too. The loss does not
        grow: both boxes lie within the box that was split.
    """
    state = _Splitting(table, space, promise, strata_of(table), clusters)
    waiting = np.flatnonzero(state.sizes >= 2 * max(int(promise.k), 1))
    while len(waiting):
        waiting = state.halve(waiting)
    label = np.unique(state.members.label, return_inverse=True)[1]
    return state.members._replace(label=label)


def strata_of(table: FrequencyTable) -> Numbers:
    """Return the number of each row's sensitive values; neighbours in their order stay so."""
    if not table.sensitive.shape[1]:
        return np.zeros(table.rows, dtype=np.int64)
    return np.unique(table.sensitive, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


@dataclass
class _Splitting:
    """The members as they are, and the records of each cluster."""

    table: FrequencyTable
    space: Space
    promise: PromiseArrays
    stratum: Numbers
    members: Clusters

    @property
    def sizes(self) -> Numbers:
        return np.bincount(self.members.label, weights=self.members.records).astype(np.int64)

    def halve(self, waiting: Numbers) -> Numbers:
        """Split the clusters that can be; return those that may be split again."""
        row, label, records = self.members
        number = int(label.max()) + 1
        place = np.full(number, -1, dtype=np.int64)
        place[waiting] = np.arange(len(waiting))
        at = np.flatnonzero(place[label] >= 0)
        part = Clusters(row[at], place[label[at]], records[at])
        leaving, is_split = self._best(part)
        goes = is_split[part.label]
        fresh = number + np.cumsum(is_split) - 1
        staying = records.copy()
        staying[at[goes]] -= leaving[goes]
        joined = Clusters(
            np.concatenate((row, part.row[goes])),
            np.concatenate((label, fresh[part.label[goes]])),
            np.concatenate((staying, leaving[goes])),
        )
        kept = joined.records > 0
        self.members = Clusters(*(each[kept] for each in joined))
        halves = np.concatenate((waiting[is_split], fresh[is_split]))
        return halves[self.sizes[halves] >= 2 * max(int(self.promise.k), 1)]

    def _best(self, part: Clusters) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return how many records of each member leave, and which clusters are split at all."""
        codes = self.table.codes[part.row]
        low, high = boxes_of(codes, part.label)
        sizes = np.bincount(part.label, weights=part.records).astype(np.int64)
        least = sizes * box_losses(self.space, low, high) + 1
        best = np.zeros(len(part.row), dtype=np.int64)
        is_split = np.zeros(len(sizes), dtype=np.bool_)
        for j in range(codes.shape[1]):
            if (low[:, j] == high[:, j]).all():
                continue
            leaving = _shares(part, self.stratum[part.row], codes[:, j], sizes)
            loss, holds = self._judged(part, codes, leaving, sizes)
            better = holds & (loss < least) & (low[:, j] < high[:, j])
            least[better] = loss[better]
            is_split |= better
            mine = better[part.label]
            best[mine] = leaving[mine]
        return best, is_split

    def _judged(
        self, part: Clusters, codes: NDArray[np.int32], leaving: Numbers, sizes: Numbers
    ) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return what both halves of each cluster lose, and whether both hold."""
        halves = Clusters(
            np.concatenate((part.row, part.row)),
            np.concatenate((part.label, part.label + len(sizes))),
            np.concatenate((leaving, part.records - leaving)),
        )
        there = halves.records > 0
        low, high = boxes_of(np.concatenate((codes, codes))[there], halves.label[there])
        half = np.concatenate((sizes // 2, sizes - sizes // 2))
        losses = half * box_losses(self.space, low, high)
        wrong = half < self.promise.k
        if self.promise.kind.size:
            spread = histograms_of(self.table, halves, len(half))
            wrong = breaking(self.promise, half, spread)
        holds = np.asarray(~wrong.reshape(2, -1).any(axis=0))
        return losses.reshape(2, -1).sum(axis=0), holds


def _shares(part: Clusters, stratum: Numbers, code: NDArray[np.int32], sizes: Numbers) -> Numbers:
    """Return how many records of each member go to the lower half of its cluster.

    Half of each stratum goes, those with the lowest codes. Halves are rounded so that the strata
    up to any one, in their order, are right to half a record together: this is what distances
    along an order ask for, too.
    """
    order = np.lexsort((part.row, code, stratum, part.label))
    label, records = part.label[order], part.records[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (label[1:] != label[:-1]) | (stratum[order][1:] != stratum[order][:-1])
    group = np.cumsum(fresh) - 1
    end = np.cumsum(records)
    group_size = np.bincount(group, weights=records).astype(np.int64)
    group_end = np.cumsum(group_size)
    owner = label[fresh]
    begins = np.concatenate(([0], np.cumsum(sizes)))[owner]
    until = _rounded(group_end - begins, sizes[owner])
    taken = until - _rounded(group_end - group_size - begins, sizes[owner])
    before = end - records - (group_end - group_size)[group]
    leaving = np.empty(len(order), dtype=np.int64)
    leaving[order] = np.clip(taken[group] - before, 0, records)
    return leaving


def _rounded(records: Numbers, sizes: Numbers) -> Numbers:
    """Return half of the first records of a cluster, in whole ones, size // 2 of all of them."""
    found: Numbers = (2 * records * (sizes // 2) + sizes) // (2 * sizes)
    return found
