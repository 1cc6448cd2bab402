"""Shapes of persons: how many rows of each table hang on each of their rows.

Persons with one shape can be laid side by side. Where fewer than k have a shape, it is joined with
another one, and all of them release what both shapes have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable, number_rows

Numbers = NDArray[np.int64]

PARTNERS = 4096
"""Shapes that a rare one is compared with: those that most persons have."""


@dataclass(frozen=True)
class LinkedCounts:
    """One of several tables, counted.

    Attributes:
        table: its rows; `persons` says whose they are, None in the table of the persons.
        row: of each record, its row of `table`.
        above: which table it hangs on, -1 for that of the persons. Parents come first.
        parent: of each record, the record of that table that it hangs on.
        promise: what is promised about its sensitive columns.
    """

    table: FrequencyTable
    row: Numbers
    above: int
    parent: Numbers
    promise: tuple[Promise, ...] = ()

    @property
    def records(self) -> int:
        """Return how many there are."""
        return len(self.row)


class Position(NamedTuple):
    """A place in the tree that all persons of a group release: a table, and what it hangs on."""

    table: int
    above: int  # a position; -1 at the root


class _Places(NamedTuple):
    """The places that rows of one table have below the places of its parent's.

    Attributes:
        of_record: the place of each record; -1: fewer than k persons have it.
        first: of each place of the parent, its first one; they follow each other by rank.
        start, number, order: the records that hang on each record of the parent, by rank.
    """

    of_record: Numbers
    first: Numbers
    start: Numbers
    number: Numbers
    order: Numbers


class Gathered(NamedTuple):
    """Persons who will release the same shape."""

    shape: Numbers
    persons: Numbers


@dataclass(frozen=True)
class Shapes:
    """How many rows of each table hang on each row of every person.

    Attributes:
        placed: of each table; of the table of the persons, one place.
        begin: of each table, the column of `counts` that has the number of rows that hang on the
            first place of its parent; those of the other places follow.
        counts: int32[persons, …], these numbers.
    """

    tables: Sequence[LinkedCounts]
    k: int
    placed: tuple[_Places, ...]
    begin: tuple[int, ...]
    counts: NDArray[np.int32]

    @classmethod
    def of(cls, tables: Sequence[LinkedCounts], k: int) -> Shapes:
        """Read the shapes of tables; a place that fewer than k persons have is nobody's."""
        weights = _weights(tables)
        persons = tables[0].records
        none = np.zeros(0, dtype=np.int64)
        placed = [_Places(np.zeros(persons, dtype=np.int64), none, none, none, none)]
        whose = [np.arange(persons)]
        columns: list[NDArray[np.int32]] = []
        begin = [0]
        width = 0
        for at, each in enumerate(tables):
            if each.above < 0:
                continue
            places = int(placed[each.above].of_record.max(initial=-1)) + 1
            found = _placed(each, placed[each.above].of_record, weights[at], places, k)
            placed.append(found)
            whose.append(whose[each.above][each.parent])
            counts = np.zeros((persons, places), dtype=np.int32)
            kept = np.flatnonzero(found.of_record >= 0)
            above = placed[each.above].of_record[each.parent[kept]]
            np.add.at(counts, (whose[at][kept], above), 1)
            columns.append(counts)
            begin.append(width)
            width += places
        empty = np.zeros((persons, 0), dtype=np.int32)
        return cls(
            tables, k, tuple(placed), tuple(begin), np.concatenate([empty, *columns], axis=1)
        )

    @cached_property
    def distinct(self) -> list[Gathered]:
        """Return the different shapes and who has them."""
        if not self.counts.shape[1]:
            every = np.arange(len(self.counts))
            return [Gathered(np.zeros(0, dtype=np.int64), every)] if len(every) else []
        sizes = [int(most) + 1 for most in self.counts.max(axis=0, initial=0)]
        numbered = number_rows(self.counts, sizes)
        persons = np.split(numbered.order, numbered.starts[1:])
        return [Gathered(self.counts[who[0]].astype(np.int64), np.sort(who)) for who in persons]

    def gathered(self, target: int) -> list[Gathered]:
        """Join shapes until each has so many persons, or would lose more rows than it has.

        Shapes of fewer than k persons that cannot be joined are left out.
        """
        found = self.distinct
        if not found:
            return []
        pool = _Pool([each.shape for each in found], [len(each.persons) for each in found])
        whose: dict[int, list[int]] = {i: [i] for i in range(len(found))}
        waiting = [(-int(each.shape.sum()), i) for i, each in enumerate(found)]
        heapify(waiting)
        while waiting:
            _, i = heappop(waiting)
            persons = int(pool.persons[i])
            if not persons or persons >= target:
                continue
            other, cost = pool.partner(i)
            if other < 0 or cost >= persons * (1 + int(pool.shapes[i].sum())):
                if persons < self.k:
                    pool.persons[i] = 0
                    del whose[i]
                continue
            at = pool.join(i, other)
            whose[at] = [m for part in {i, other, at} for m in whose.pop(part, [])]
            heappush(waiting, (-int(pool.shapes[at].sum()), at))
        return [
            Gathered(pool.shapes[i], np.sort(np.concatenate([found[m].persons for m in members])))
            for i, members in sorted(whose.items())
        ]

    def filled(self, group: Gathered) -> tuple[tuple[Position, ...], Numbers]:
        """Return the tree that a group releases, and the records at each place of it."""
        positions = [Position(0, -1)]
        columns = [group.persons]
        places = [0]
        for at, (table, _) in enumerate(positions):  # grows as it goes down
            for child, below in enumerate(self.tables):
                if below.above != table:
                    continue
                wanted = int(group.shape[self.begin[child] + places[at]])
                if not wanted:
                    continue
                first = int(self.placed[child].first[places[at]])
                kinds = [self._below(group.shape, child, first + i) for i in range(wanted)]
                records = self._picked(child, columns[at], kinds)
                positions += [Position(child, at)] * wanted
                columns += list(records.T)
                places += [first + i for i in range(wanted)]
        return tuple(positions), np.stack(columns, axis=1)

    def _below(self, shape: Numbers, table: int, place: int) -> tuple[object, ...]:
        """Return what a shape has below a place."""
        found: list[object] = []
        for child, below in enumerate(self.tables):
            if below.above == table:
                number = int(shape[self.begin[child] + place])
                first = int(self.placed[child].first[place])
                found.append(tuple(self._below(shape, child, first + i) for i in range(number)))
        return tuple(found)

    def _picked(self, table: int, parents: Numbers, kinds: list[tuple[object, ...]]) -> Numbers:
        """Return records that hang on those of each person: one for each place of a kind.

        Where nothing hangs on them, they are evenly spread over all there are; otherwise those
        with most rows below them are taken. Places of one kind are filled in order of values.
        """
        placed, wanted = self.placed[table], len(kinds)
        start, number = placed.start[parents], placed.number[parents]
        if any(below.above == table for below in self.tables):
            place = np.broadcast_to(np.arange(wanted), (len(parents), wanted))
        else:
            place = (2 * np.arange(wanted) + 1) * number[:, None] // (2 * wanted)
        found: Numbers = placed.order[start[:, None] + place]
        begin = 0
        for end in range(1, wanted + 1):
            if end == wanted or kinds[end] != kinds[begin]:
                part = found[:, begin:end]
                order = np.argsort(self.tables[table].row[part], axis=1, kind="stable")
                found[:, begin:end] = np.take_along_axis(part, order, axis=1)
                begin = end
        return found


def _weights(tables: Sequence[LinkedCounts]) -> list[Numbers]:
    """Return, of each record, how many rows it is with all that hangs on it."""
    found = [np.ones(each.records, dtype=np.int64) for each in tables]
    for at in range(len(tables) - 1, 0, -1):
        above, parent = tables[at].above, tables[at].parent
        below = np.bincount(parent, weights=found[at], minlength=tables[above].records)
        found[above] += below.astype(np.int64)
    return found


def _placed(each: LinkedCounts, above: Numbers, weight: Numbers, places: int, k: int) -> _Places:
    """Give the records of a table their places below those of their parents.

    above: the place of each record of the parent table; places: how many of these there are.
    """
    order = np.lexsort((each.row, -weight, each.parent))
    number = np.bincount(each.parent, minlength=len(above))
    start = np.concatenate(([0], np.cumsum(number)))[:-1]
    rank = np.empty(each.records, dtype=np.int64)
    rank[order] = np.arange(each.records) - np.repeat(start, number)
    own = above[each.parent]
    most = int(rank.max(initial=-1)) + 1
    cell = own * most + rank
    held = np.bincount(cell[own >= 0], minlength=places * most)
    is_kept = held >= k  # a person has one record at most at a place
    numbered = np.append(np.where(is_kept, np.cumsum(is_kept) - 1, -1), -1)
    of_record = numbered[np.where(own >= 0, cell, -1)]
    kept = is_kept.reshape(places, most).sum(axis=1) if most else np.zeros(places, dtype=np.int64)
    first = np.concatenate(([0], np.cumsum(kept)))[:-1]
    return _Places(of_record, first, start, number, order)


class _Pool:
    """Shapes that are joined with each other; joined ones have no persons of their own."""

    def __init__(self, shapes: Sequence[Numbers], persons: Sequence[int]) -> None:
        self.shapes = np.array(shapes, dtype=np.int64).reshape(len(shapes), -1)
        self.persons = np.array(persons, dtype=np.int64)
        self.rows = self.shapes.sum(axis=1)
        self.place = {shape.tobytes(): i for i, shape in enumerate(self.shapes)}
        most = np.argsort(-self.persons, kind="stable")[:PARTNERS]
        self.partners = np.sort(most)

    def partner(self, i: int) -> tuple[int, int]:
        """Return the shape that is cheapest to join with, and the rows that it takes; -1: none."""
        there = self.partners[(self.persons[self.partners] > 0) & (self.partners != i)]
        if not len(there):
            return -1, 0
        both = np.minimum(self.shapes[there], self.shapes[i]).sum(axis=1)
        cost = self.persons[i] * (self.rows[i] - both)
        cost += self.persons[there] * (self.rows[there] - both)
        best = int(np.argmin(cost))
        return int(there[best]), int(cost[best])

    def join(self, i: int, other: int) -> int:
        """Give the persons of two shapes what both shapes have; return where that stands."""
        shape = np.minimum(self.shapes[i], self.shapes[other])
        persons = self.persons[i] + self.persons[other]
        self.persons[[i, other]] = 0
        at = self.place.get(shape.tobytes())
        if at is None:
            at = other
            del self.place[self.shapes[other].tobytes()]
            self.shapes[at], self.rows[at] = shape, shape.sum()
            self.place[shape.tobytes()] = at
        self.persons[at] += persons
        return at
