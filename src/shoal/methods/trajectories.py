"""Trajectories: where a release says which records are of one person, whole persons are made alike.

Persons are grouped by how many records they release. All records of a person, sorted, are one
long row, and the method searches these rows: a class of it is at least k persons who release the
same records, position by position. Records beyond the number of a group are suppressed. A group
needs k persons; at the top, where few persons have many records, groups are joined as long as
that loses less and the suppression limit allows it.

diabetes_130, nine quasi-identifiers, k = 5: NCP 0.127 with `refine`, 0.158 with `bestcut`, where
a release of unlinked records loses 0.051 and 0.060.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.core.errors import MethodError
from shoal.kernels.clustering.space import FULL
from shoal.methods.clustering.clusters import box_losses
from shoal.methods.clustering.space import space_of
from shoal.methods.judging import failing_classes
from shoal.methods.method import Method, Setting
from shoal.methods.persons import with_merged
from shoal.privacy import KAnonymity, Promise
from shoal.table.frequency import ONCE, FrequencyTable, join_rows, number_rows
from shoal.table.recoding import SUPPRESSED, Recoding, recoding_of, same_labels

Numbers = NDArray[np.int64]


class Histories(NamedTuple):
    """The records of each person, one person behind the other.

    Attributes:
        row: the table row of each record; those of a person stand together, sorted.
        start, number: where the records of each person begin, and how many they are.
    """

    row: Numbers
    start: Numbers
    number: Numbers

    @classmethod
    def of(cls, table: FrequencyTable) -> Histories:
        """Return the records of a table by persons; records of nobody are left out."""
        row = np.repeat(np.arange(table.rows), table.counts)
        if table.persons is None:
            return cls(row, np.arange(len(row)), np.ones(len(row), dtype=np.int64))
        who = table.persons[row].astype(np.int64)
        once = who == ONCE
        who[once] = int(who.max(initial=0)) + 1 + np.arange(int(once.sum()))
        row, who = row[who >= 0], who[who >= 0]
        order = np.lexsort((row, who))
        row, who = row[order], who[order]
        fresh = np.ones(len(who), dtype=np.bool_)
        fresh[1:] = who[1:] != who[:-1]
        start = np.flatnonzero(fresh)
        return cls(row, start, np.diff(np.append(start, len(who))))

    def rows(self, persons: Numbers, size: int) -> Numbers:
        """Return so many records of each person, as a table: those evenly spread over all."""
        number = self.number[persons]
        place = (2 * np.arange(size) + 1) * number[:, None] // (2 * size)
        return self.row[self.start[persons][:, None] + place]

    def alike(self, table: FrequencyTable) -> Numbers:
        """Return how many persons share each different multiset of quasi-identifier tuples."""
        sizes = []
        for size in np.unique(self.number).tolist():
            rows = self.rows(np.flatnonzero(self.number == size), size)
            tuples = np.sort(table.tuple_ids[rows], axis=1).astype(np.int32)
            numbered = number_rows(tuples, [int(tuples.max(initial=0)) + 1] * size)
            sizes.append(np.bincount(numbered.number))
        return np.concatenate(sizes) if sizes else np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Group:
    """Persons who release the same number of records.

    Attributes:
        size: how many records each of them releases.
        rows: int64[persons, size], the table rows of these records, in the order of `recoding`.
        recoding: of the long rows; a row of its table is what some persons have alike.
        loss: of its boxes, in units of `Space`.
    """

    size: int
    rows: Numbers
    recoding: Recoding
    loss: int

    @property
    def label(self) -> Numbers:
        """Return the class of each person."""
        return np.repeat(self.recoding.label, self.recoding.count)

    def boxes(self, columns: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the boxes of all positions of the first class, then of the next one, and so on."""
        return self.recoding.low.reshape(-1, columns), self.recoding.high.reshape(-1, columns)


def search_trajectories(
    table: FrequencyTable, promise: Sequence[Promise], method: Method, setting: Setting
) -> Recoding:
    """Find a recoding in which at least k persons release each multiset of tuples.

    Guarantee:
        What is promised holds for the persons with the same released tuples, for each of these
        tuples among them, and for each tuple in the whole release.

    Raises:
        MethodError: the method does not release intervals and common ancestors of its own.
    """
    if method.family == "lattice" or method.spreads:
        raise MethodError(
            problem=f"--method {method.name} does not make whole persons alike; where their "
            "pseudonym is released, take bestcut, mondrian or refine"
        )
    histories = Histories.of(table)
    k = max([model.least_records for model in promise], default=1)
    plain = replace(setting, suppression_limit=0.0, target=None)

    def search(size: int, persons: Numbers) -> Group:
        return _searched(table, histories.rows(persons, size), k, method, plain)

    nobody = table.records - len(histories.row)
    budget = math.floor(setting.suppression_limit * table.records + 1e-9) - nobody
    groups = _grouped(table, histories, k, budget, search)
    groups = _holding(table, groups, promise)
    return _released(table, histories, groups)


def _searched(
    table: FrequencyTable, rows: Numbers, k: int, method: Method, setting: Setting
) -> Group:
    """Search the long rows of persons with equally many records."""
    persons, size = rows.shape
    columns = len(table.domains)
    codes = table.codes[rows].reshape(persons, size * columns)
    ones = np.ones(persons, dtype=np.int64)
    long, number = join_rows(table.domains * size, np.ascontiguousarray(codes), ones)
    recoding = method.search(long, (KAnonymity(max(k, 1)),), setting)
    # Members are sorted by row: so are the persons, and the two can be laid side by side.
    found = Group(size, rows[np.argsort(number, kind="stable")], recoding, 0)
    low, high = found.boxes(columns)
    losses = box_losses(space_of(table.domains), low, high).reshape(-1, size).sum(axis=1)
    return replace(found, loss=int((losses * recoding.sizes).sum()))


def _grouped(
    table: FrequencyTable,
    histories: Histories,
    k: int,
    budget: int,
    search: Callable[[int, Numbers], Group],
) -> list[Group]:
    """Group persons by their number of records, each group at least k persons, and search."""
    waiting: list[tuple[int, Numbers]] = []
    few = np.zeros(0, dtype=np.int64)
    for size in np.unique(histories.number)[::-1].tolist():
        few = np.concatenate((few, np.flatnonzero(histories.number == size)))
        if len(few) >= max(k, 1):
            waiting.append((size, few))
            few = few[:0]
    kept = sum(size * len(persons) for size, persons in waiting)
    budget -= len(histories.row) - kept
    whole = int(space_of(table.domains).column[:, FULL].sum())
    found: list[Group] = []
    top: Group | None = None
    while waiting:
        size, persons = waiting.pop(0)
        top = top or search(size, persons)
        surplus = (size - waiting[0][0]) * len(persons) if waiting else 0
        if not waiting or surplus > budget:
            found.append(top)
            top = None
            continue
        below = search(*waiting[0])
        both = np.concatenate((persons, waiting[0][1]))
        joined = search(waiting[0][0], both)
        if joined.loss + surplus * whole < top.loss + below.loss:
            waiting[0] = (waiting[0][0], both)
            budget -= surplus
            top = joined
        else:  # further down there are more persons: suppressing pays even less
            found.append(top)
            top, budget = below, 0
    return found


def _holding(table: FrequencyTable, groups: list[Group], promise: Sequence[Promise]) -> list[Group]:
    """Merge classes of persons until every promise about sensitive values holds.

    What cannot be mended, because it is the last class of its group, is suppressed.
    """
    if all(model.column is None for model in promise):
        return groups
    while groups:
        wrong = _failing(table, groups, promise)
        if not any(each.any() for each in wrong):
            break
        mended = (with_merged(g.recoding, bad) for g, bad in zip(groups, wrong, strict=True))
        pairs = zip(groups, mended, strict=True)
        groups = [replace(group, recoding=found) for group, found in pairs if found is not None]
    return groups


def _failing(
    table: FrequencyTable, groups: Sequence[Group], promise: Sequence[Promise]
) -> list[NDArray[np.bool_]]:
    """Say of each class of persons whether it breaks a promise, as whoever reads the release sees.

    Somebody may know one record of a person (its tuple), all of them (the trajectory), and which
    one of all is meant (the tuple of a trajectory). Classes that release the same are one.
    """
    columns = len(table.domains)
    boxes = [group.boxes(columns) for group in groups]
    low, high = (np.concatenate(side) for side in zip(*boxes, strict=True))
    number = same_labels(table, low, high, None)
    tuples, trajectory, begin, seen = [], [], 0, 0
    for group, (own, _) in zip(groups, boxes, strict=True):
        part = number[begin : begin + len(own)].reshape(-1, group.size)
        begin += len(own)
        rows = np.sort(part, axis=1).astype(np.int32)
        alike = number_rows(rows, [len(low)] * group.size).number
        tuples.append(part)
        trajectory.append(alike + seen)
        seen += int(alike.max()) + 1
    row = np.concatenate([group.rows.ravel() for group in groups])
    of_record = np.concatenate(
        [part[group.label].ravel() for part, group in zip(tuples, groups, strict=True)]
    )
    whose = np.concatenate(
        [
            np.repeat(ids[group.label], group.size)
            for ids, group in zip(trajectory, groups, strict=True)
        ]
    )
    by_tuple = _judged(table, row, of_record, promise)
    by_trajectory = _judged(table, row, whose, promise)
    cells, cell = np.unique(whose * len(low) + of_record, return_inverse=True)
    by_cell = _judged(table, row, cell, promise)
    by_trajectory[cells[by_cell] // len(low)] = True
    return [
        by_trajectory[ids] | by_tuple[part].any(axis=1)
        for ids, part in zip(trajectory, tuples, strict=True)
    ]


def _judged(
    table: FrequencyTable, row: Numbers, label: Numbers, promise: Sequence[Promise]
) -> NDArray[np.bool_]:
    """Say which classes of records break a promise."""
    none = np.zeros((int(label.max()) + 1, len(table.domains)), dtype=np.int32)
    ones = np.ones(len(row), dtype=np.int64)
    return failing_classes(Recoding(table, none, none, row, label, ones), promise)


def _released(table: FrequencyTable, histories: Histories, groups: Sequence[Group]) -> Recoding:
    """Return what the records release: each the box of its position in its person's class."""
    columns = len(table.domains)
    lows, highs, rows, labels, begin = [], [], [], [], 0
    for group in groups:
        low, high = group.boxes(columns)
        place = group.label[:, None] * group.size + np.arange(group.size)
        lows.append(low)
        highs.append(high)
        rows.append(group.rows.ravel())
        labels.append(place.ravel() + begin)
        begin += len(low)
    none: NDArray[np.int32] = np.zeros((0, columns), dtype=np.int32)
    row = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
    left = table.counts - np.bincount(row, minlength=table.rows)
    gone = np.flatnonzero(left)
    members = (
        np.concatenate((row, gone)),
        np.concatenate([np.zeros(0, dtype=np.int64), *labels, np.full(len(gone), SUPPRESSED)]),
        np.concatenate((np.ones(len(row), dtype=np.int64), left[gone])),
    )
    return recoding_of(
        table, np.concatenate([none, *lows]), np.concatenate([none, *highs]), members,
        facts={"trajectories": _facts(table, histories, groups)},
    )  # fmt: skip


def _facts(table: FrequencyTable, histories: Histories, groups: Sequence[Group]) -> Document:
    """Say how persons stood before, and how many records each of them releases now."""
    alike = histories.alike(table)
    return {
        "persons_before": len(histories.number),
        "unique_before": int((alike == 1).sum()),
        "records_a_person": {str(g.size): len(g.rows) for g in reversed(groups)},
        "persons_left_out": len(histories.number) - sum(len(g.rows) for g in groups),
    }
