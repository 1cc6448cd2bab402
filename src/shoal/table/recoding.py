"""Recoding: what a search hands on. Classes as boxes of codes, and who is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.table.domain import Domain
from shoal.table.frequency import ONCE, FrequencyTable, number_rows, sort_rows

SUPPRESSED = -1


@dataclass(frozen=True)
class Recoding:
    """Every row of a frequency table shared out to classes.

    Attributes:
        low, high: int32[classes, quasi-identifiers], the box of codes of each class.
        row, label, count: the members: `count` records of table row `row` are in class
            `label` (-1: suppressed). Sorted by row, then by class.
        node: int32[classes, quasi-identifiers], for full-domain recoding: the node of each
            column's ladder that is released. None: the box itself is released.
        released: for each column, the centroid that each class releases instead of its
            box. None: boxes or nodes are released.
        facts: what the method wants to say about itself (levels, nodes …).

    Guarantee:
        The members of a row add up to exactly the row's records.
    """

    table: FrequencyTable
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    row: NDArray[np.int64]
    label: NDArray[np.int64]
    count: NDArray[np.int64]
    node: NDArray[np.int32] | None = None
    released: tuple[tuple[str | None, ...], ...] | None = None
    facts: Document = field(default_factory=dict)

    @property
    def classes(self) -> int:
        """Return the number of classes."""
        return len(self.low)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Return the number of records of each class."""
        label, count = self.label, self.count
        if (label < 0).any():
            label, count = label[label >= 0], count[label >= 0]
        return np.bincount(label, weights=count, minlength=self.classes).astype(np.int64)

    @cached_property
    def persons(self) -> NDArray[np.int64]:
        """Return the number of persons of each class; without persons, of records."""
        if self.table.persons is None:
            return self.sizes
        kept = self.label >= 0
        return self.table.persons_of(
            self.row[kept], self.label[kept], self.count[kept], self.classes
        )

    @cached_property
    def people(self) -> int | None:
        """Return the number of persons who are released; None where records are counted."""
        if self.table.persons is None:
            return None
        kept = self.label >= 0
        one = np.zeros(int(kept.sum()), dtype=np.int64)
        return int(self.table.persons_of(self.row[kept], one, self.count[kept], 1)[0])

    @cached_property
    def largest_share(self) -> float | None:
        """Return the largest share of a class's records that are of one person."""
        if self.table.persons is None or not self.classes:
            return None
        kept = self.label >= 0
        who, label, count = self.table.persons[self.row[kept]], self.label[kept], self.count[kept]
        known = who >= 0
        pairs, place = np.unique(
            label[known] * (int(who.max()) + 1) + who[known], return_inverse=True
        )
        own = np.bincount(place, weights=count[known])
        shares = own / self.sizes[pairs // (int(who.max()) + 1)]
        once = 1 / self.sizes[label[who == ONCE]]
        return float(max(shares.max(initial=0.0), once.max(initial=0.0)))

    @cached_property
    def suppressed(self) -> int:
        """Return the number of suppressed records."""
        return int(self.count[self.label < 0].sum())

    def labels(self, column: int) -> list[str | None]:
        """Return what each class releases in one column."""
        if self.released is not None:
            return list(self.released[column])
        texts, where = self.distinct_labels(column)
        return [texts[i] for i in where]

    def distinct_labels(self, column: int) -> tuple[list[str | None], NDArray[np.int64]]:
        """Return the labels of one column, and the place of each class's among them.

        Two boxes that are written alike may stand for two of them.
        """
        if self.released is not None:
            number: dict[str | None, int] = {}
            found = [number.setdefault(text, len(number)) for text in self.released[column]]
            return list(number), np.array(found, dtype=np.int64)
        domain = self.table.domains[column]
        if self.node is not None:
            nodes, where = np.unique(self.node[:, column], return_inverse=True)
            return [domain.ladder_label(int(node)) for node in nodes], where
        runs, where = self.distinct_runs(column)
        return [domain.label(low, high) for low, high in runs], where

    def distinct_runs(self, column: int) -> tuple[list[tuple[int, int]], NDArray[np.int64]]:
        """Return the runs of codes of one column's boxes, and the place of each class's.

        Of runs that release the same, one stands for all.
        """
        domain = self.table.domains[column]
        low, high = domain.alike_runs(self.low[:, column], self.high[:, column])
        pairs = low.astype(np.int64) << 32 | high
        distinct, where = np.unique(pairs, return_inverse=True)
        lows, highs = (distinct >> 32).tolist(), (distinct & 0xFFFFFFFF).tolist()
        return list(zip(lows, highs, strict=True)), where


def recoding_of(
    table: FrequencyTable,
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    members: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    *,
    node: NDArray[np.int32] | None = None,
    facts: Document | None = None,
    join: bool = True,
) -> Recoding:
    """Return a recoding with its classes and members in an order that no search decides.

    Classes that would release the same labels become one: who reads the release cannot
    tell them apart. Classes are numbered by their boxes and members sorted by row, so two
    searches that find the same classes, on whatever number of threads, give the same bytes.
    With `join=False` classes stay apart: what is released of them is decided later.
    """
    number = same_labels(table, low, high, node) if join else np.arange(len(low))
    classes = int(number.max()) + 1 if number.size else 0
    joined_low, joined_high = join_boxes(low, high, number, classes)
    joined_node = None
    if node is not None:
        joined_node = np.empty((classes, low.shape[1]), dtype=np.int32)
        joined_node[number] = node
    sizes = [len(domain.labels) for domain in table.domains]
    order = sort_rows(np.concatenate((joined_low, joined_high), axis=1), sizes + sizes)
    rank = np.empty(classes, dtype=np.int64)
    rank[order] = np.arange(classes)
    final = np.append(rank[number], SUPPRESSED)  # label -1 stays -1
    row, label, count = _join_members(members[0], final[members[1]], members[2])
    return Recoding(
        table=table,
        low=joined_low[order],
        high=joined_high[order],
        row=row,
        label=label,
        count=count,
        node=None if joined_node is None else joined_node[order],
        facts=facts or {},
    )


def joined(recoding: Recoding) -> Recoding:
    """Return the recoding with classes of the same labels as one."""
    members = (recoding.row, recoding.label, recoding.count)
    return recoding_of(
        recoding.table, recoding.low, recoding.high, members,
        node=recoding.node, facts=recoding.facts,
    )  # fmt: skip


def with_centroids(recoding: Recoding, released: Sequence[Sequence[str | None]]) -> Recoding:
    """Return the recoding with centroids to release: for each column, a label a class.

    Classes with the same centroid become one: who reads the release cannot tell them apart.
    """
    distinct: dict[tuple[str | None, ...], int] = {}
    tuples = list(zip(*released, strict=True))
    number = np.array([distinct.setdefault(each, len(distinct)) for each in tuples], dtype=np.int64)
    low, high = join_boxes(recoding.low, recoding.high, number, len(distinct))
    label = np.append(number, SUPPRESSED)[recoding.label]
    row, label, count = _join_members(recoding.row, label, recoding.count)
    return replace(
        recoding, low=low, high=high, row=row, label=label, count=count, node=None,
        released=tuple(zip(*distinct, strict=True)) if distinct else ((),) * low.shape[1],
    )  # fmt: skip


def join_boxes(
    low: NDArray[np.int32], high: NDArray[np.int32], number: NDArray[np.int64], classes: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the boxes around those that have the same number."""
    joined_low = np.full((classes, low.shape[1]), np.iinfo(np.int32).max, dtype=np.int32)
    joined_high = np.full((classes, low.shape[1]), -1, dtype=np.int32)
    if classes == len(number):  # nothing to join
        joined_low[number], joined_high[number] = low, high
    else:
        np.minimum.at(joined_low, number, low)
        np.maximum.at(joined_high, number, high)
    return joined_low, joined_high


def same_labels(
    table: FrequencyTable,
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    node: NDArray[np.int32] | None,
) -> NDArray[np.int64]:
    """Number the classes so that those with the same labels have the same number."""
    cells = np.empty(low.shape, dtype=np.int32)
    sizes = []
    for j, domain in enumerate(table.domains):
        if node is not None:
            cells[:, j] = node[:, j]
            sizes.append(len(domain.ladder or ()))
            continue
        cells[:, j] = _label_numbers(domain, low[:, j], high[:, j])
        sizes.append(int(cells[:, j].max(initial=0)) + 1)
    return number_rows(cells, sizes).number


def _label_numbers(
    domain: Domain, low: NDArray[np.int32], high: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Number runs of codes so that those with the same label, and no others, share a number."""
    low, high = domain.alike_runs(low, high)
    runs = low.astype(np.int64) << 32 | high
    if domain.is_plain_line:  # only what covers the missing value and others has one label
        if domain.has_missing:
            runs[(low == 0) & (high > 0)] = 1
        plain: NDArray[np.int64] = np.unique(runs, return_inverse=True)[1]
        return plain
    runs, where = np.unique(runs, return_inverse=True)
    number: dict[str | None, int] = {}
    texts = [domain.label(int(run >> 32), int(run & 0xFFFFFFFF)) for run in runs]
    ids = np.array([number.setdefault(text, len(number)) for text in texts], dtype=np.int64)
    return ids[where]


def _join_members(
    row: NDArray[np.int64], label: NDArray[np.int64], count: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Sort members by row and class; those of one row in one class become one."""
    if (row[1:] > row[:-1]).all():
        return row, label, count
    if len(row) == row.max() + 1 and np.bincount(row).max() == 1:
        order = np.empty_like(row)  # every row once
        order[row] = np.arange(len(row))
        return row[order], label[order], count[order]
    order = np.lexsort((label, row))
    row, label, count = row[order], label[order], count[order]
    fresh = np.ones(len(row), dtype=bool)
    fresh[1:] = (row[1:] != row[:-1]) | (label[1:] != label[:-1])
    starts = np.flatnonzero(fresh)
    joined = np.add.reduceat(count, starts) if len(starts) else count
    return row[starts], label[starts], joined
