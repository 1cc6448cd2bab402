"""What two releases of one table give away together.

Somebody who holds both looks into the *meet*: the people who share a person's class in every
release. Each release may keep its promise while the meet does not [ganta2008].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.table.frequency import distinct

ABSENT, UNKNOWN = -1, -2
"""The class of a record that is not in a release, and of one whose class cannot be told."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Which cells of a release each group of equal records can have become.

    Attributes:
        records: int64[groups], records of each group.
        starts: int64[groups + 1], where the candidates of each group begin in `cells`.
        cells: int64, cells of the release: a class with one combination of kept values.
        sizes: int64[all cells], records of each cell.
        may_be_absent: some records were not released, and it may be any of them.
        is_cut: bool[groups], a group fits further cells, which are not named.
    """

    records: NDArray[np.int64]
    starts: NDArray[np.int64]
    cells: NDArray[np.int64]
    sizes: NDArray[np.int64]
    may_be_absent: bool
    is_cut: NDArray[np.bool_]

    def told(self) -> NDArray[np.int64]:
        """Return the cell of each group, as far as the release tells it: ABSENT or UNKNOWN else.

        Two conclusions are drawn until neither says anything new. A group that fits one cell
        only, and cannot be absent, is in it. A cell that has room for exactly the groups that
        still fit it holds them all, and nobody else; so nothing may be said where some of the
        cells that a group fits are not named.
        """
        groups = len(self.records)
        group = np.repeat(np.arange(groups), np.diff(self.starts))
        is_whole = not self.is_cut.any()
        found = np.full(groups, UNKNOWN, dtype=np.int64)
        found[np.diff(self.starts) == 0] = ABSENT
        room = self.sizes.copy()
        cells = self.cells[~self.is_cut[group]]
        group = group[~self.is_cut[group]]
        while len(group):
            sure = np.zeros(len(group), dtype=bool)
            if not self.may_be_absent:
                sure |= np.bincount(group, minlength=groups)[group] == 1
            if is_whole:  # a group that two such cells claim leaves one short: seen below
                wanted = np.zeros(len(room), dtype=np.int64)
                np.add.at(wanted, cells, self.records[group])
                sure |= wanted[cells] == room[cells]
            placed, first = np.unique(group[sure], return_index=True)
            if not len(placed):
                break
            found[placed] = cells[sure][first]
            np.subtract.at(room, found[placed], self.records[placed])
            left = (found[group] == UNKNOWN) & (room[cells] > 0)
            lost = np.setdiff1d(group[found[group] == UNKNOWN], group[left])
            found[lost] = ABSENT
            group, cells = group[left], cells[left]
        is_short = (found != UNKNOWN).all() and (room > 0).any()
        if is_short or (room < 0).any() or (not self.may_be_absent and (found == ABSENT).any()):
            raise KernelInputError(problem="the cells cannot hold just what fits them")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Meet:
    """The classes of several releases, laid over each other.

    Attributes:
        cell: int64[records], the cell of each record in the meet; UNKNOWN where its class in
            some release cannot be told, ABSENT where no release has it.
        sizes: int64[cells], records of each cell.
        people: int64[cells], persons of each cell: its records, where each is a person's own.
    """

    cell: NDArray[np.int64]
    sizes: NDArray[np.int64]
    people: NDArray[np.int64]

    @classmethod
    def of(cls, classes: NDArray[np.int64], persons: NDArray[np.int64] | None = None) -> Meet:
        """Return the meet of classes, int64[records, releases].

        persons: int64[records], who each record is about, -1 for nobody; None: each record is
            about another person.

        Not to be in a release is a class like any other: who knows that somebody was left out
        of one release looks for them among those that were.
        """
        cell = np.full(len(classes), ABSENT, dtype=np.int64)
        unknown = (classes == UNKNOWN).any(axis=1)
        cell[unknown] = UNKNOWN
        told = np.flatnonzero(~unknown & (classes != ABSENT).any(axis=1))
        if not len(told):
            nothing = np.zeros(0, dtype=np.int64)
            return cls(cell=cell, sizes=nothing, people=nothing)
        _, cell[told] = np.unique(_packed(classes[told]), return_inverse=True)
        sizes = np.bincount(cell[told]).astype(np.int64)
        if persons is None:
            return cls(cell=cell, sizes=sizes, people=sizes)
        named = told[persons[told] >= 0]
        pairs, _ = _distinct(np.stack((cell[named], persons[named]), axis=1))
        people = np.bincount(pairs[:, 0], minlength=len(sizes)).astype(np.int64)
        return cls(cell=cell, sizes=sizes, people=people)

    @property
    def unknown(self) -> int:
        """Return the records whose class in some release cannot be told."""
        return int((self.cell == UNKNOWN).sum())

    def below(self, k: int) -> int:
        """Return the records in cells of fewer than k persons."""
        return int(self.sizes[self.people < k].sum())


def _packed(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each row, equal ones alike."""
    key: NDArray[np.int64] = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        values, codes = np.unique(column, return_inverse=True)
        _, key = np.unique(key * len(values) + codes, return_inverse=True)
    return key.astype(np.int64)


def certain_values(classes: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say for which records the releases leave one sensitive value.

    A value that occurs in a person's class in one release and not in that of another is not
    theirs. Records that some release leaves out are judged by the others.

    Args:
        classes: int64[records, releases].
        values: int64[records], the codes of a sensitive column.
    """
    number = int(values.max(initial=0)) + 1
    out = np.zeros(len(values), dtype=np.bool_)
    told = np.flatnonzero((classes != UNKNOWN).all(axis=1) & (classes != ABSENT).any(axis=1))
    if not len(told):
        return out
    rows, which = _distinct(classes[told])
    pairs = [_pairs(classes[:, j], values, number) for j in range(classes.shape[1])]
    left = np.zeros(len(rows), dtype=np.int64)
    for begin in range(0, len(rows), _BLOCK):
        block = rows[begin : begin + _BLOCK]
        left[begin : begin + _BLOCK] = _shared_values(block, pairs, number)
    out[told] = left[which] == 1
    return out


_BLOCK = 100_000  # cells of the meet whose values are compared at a time


def _distinct(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    _, first, which = np.unique(_packed(rows), return_index=True, return_inverse=True)
    return rows[first], which


def _pairs(column: NDArray[np.int64], values: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Return the distinct pairs of a class and a value of one release, packed and sorted."""
    known = column >= 0
    return distinct(column[known] * number + values[known])


def _shared_values(
    rows: NDArray[np.int64], pairs: list[NDArray[np.int64]], number: int
) -> NDArray[np.int64]:
    """Return how many values occur in all classes of each row."""
    place = np.zeros(0, dtype=np.int64)
    value = np.zeros(0, dtype=np.int64)
    is_open = np.ones(len(rows), dtype=bool)  # no release has been looked at yet
    for column, known in zip(rows.T, pairs, strict=True):
        has = column >= 0
        # Rows that were narrowed down before keep the values that this release has, too.
        narrowed = ~is_open[place] & has[place]
        key = column[place] * number + value
        at = np.searchsorted(known, key).clip(0, max(len(known) - 1, 0))
        keep = ~narrowed | (known[at] == key) if len(known) else ~narrowed
        place, value = place[keep], value[keep]
        fresh = np.flatnonzero(is_open & has)
        begin = np.searchsorted(known, column[fresh] * number)
        end = np.searchsorted(known, (column[fresh] + 1) * number)
        count = end - begin
        rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        place = np.concatenate((place, np.repeat(fresh, count)))
        value = np.concatenate((value, known[np.repeat(begin, count) + rank] % number))
        is_open[fresh] = False
    return np.bincount(place, minlength=len(rows))
