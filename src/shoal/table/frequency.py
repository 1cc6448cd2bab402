"""FrequencyTable: the narrow waist. A search sees nothing else of the data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.table.domain import Domain

ONCE, NOBODY = np.int32(-1), np.int32(-2)
"""Of persons: one who has no other record; and a record that says nobody."""


@dataclass(frozen=True)
class FrequencyTable:
    """The distinct tuples of a table, coded, with their counts.

    A row is a distinct combination of quasi-identifiers *and* of the sensitive
    columns that the promise speaks of; where it speaks of none, a row is a
    distinct quasi-identifier tuple. Rows are sorted by their codes, so the table
    does not depend on the order of the records.

    Attributes:
        domains: the quasi-identifiers.
        codes: int32[rows, quasi-identifiers].
        counts: int64[rows], records per row.
        sensitive_domains: the sensitive columns of the promise.
        sensitive: int32[rows, sensitive columns].
        whole: for a partition of a table, the histogram of each sensitive column over the
            whole of it: closeness is always judged against the whole.
        persons: int32[rows], who the records of a row are about, where persons are counted: the
            code of a person with several records; ONCE: each record is of another person, who
            has no other one; NOBODY: the records do not say. Rows are then distinct in it, too.
            None: each record is a person.
        whole_people: for a partition of a table of persons, how many persons of the whole have
            each value of each sensitive column, and how many there are.
        earlier: int32[rows], the class of the records in an earlier release that theirs is to be
            nested in; -1: it does not have them. Rows are then distinct in it, too.
    """

    domains: tuple[Domain, ...]
    codes: NDArray[np.int32] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    sensitive_domains: tuple[Domain, ...]
    sensitive: NDArray[np.int32] = field(repr=False)
    whole: tuple[NDArray[np.int64], ...] | None = field(default=None, repr=False)
    persons: NDArray[np.int32] | None = field(default=None, repr=False)
    whole_people: tuple[tuple[NDArray[np.int64], ...], int] | None = field(default=None, repr=False)
    earlier: NDArray[np.int32] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        rows, columns = self.codes.shape
        if self.codes.dtype != np.int32 or self.counts.dtype != np.int64:
            raise KernelInputError(problem="codes must be int32 and counts int64")
        if self.sensitive.dtype != np.int32:
            raise KernelInputError(problem="sensitive codes must be int32")
        if self.counts.shape != (rows,) or columns != len(self.domains):
            raise KernelInputError(problem="codes, counts and domains do not fit each other")
        if self.sensitive.shape != (rows, len(self.sensitive_domains)):
            raise KernelInputError(problem="sensitive codes do not fit their domains")
        for name, each in (("persons", self.persons), ("earlier classes", self.earlier)):
            if each is not None and (each.dtype != np.int32 or each.shape != (rows,)):
                raise KernelInputError(problem=f"{name} must be int32, one a row")
        for column, domain in enumerate(self.domains):
            _in_range(self.codes[:, column], len(domain))
        for column, domain in enumerate(self.sensitive_domains):
            _in_range(self.sensitive[:, column], len(domain))

    @cached_property
    def records(self) -> int:
        """Return the number of records behind the table."""
        return int(self.counts.sum())

    def persons_of(
        self, row: NDArray[np.int64], label: NDArray[np.int64], count: NDArray[np.int64], size: int
    ) -> NDArray[np.int64]:
        """Return the number of different persons of each class 0 … size - 1.

        row, label, count: the members, none of them suppressed: `count` records of a row.
        """
        if self.persons is None:
            return np.bincount(label, weights=count, minlength=size).astype(np.int64)
        who = self.persons[row]
        once = who == ONCE
        found = np.bincount(label[once], weights=count[once], minlength=size).astype(np.int64)
        known = who >= 0
        most = int(self.persons.max(initial=0)) + 1
        if size == 1:  # then nobody needs to be told apart by class
            is_there = np.zeros(most, dtype=np.bool_)
            is_there[who[known]] = True
            return found + np.count_nonzero(is_there)
        pairs = distinct(label[known] * most + who[known])
        return found + np.bincount(pairs // most, minlength=size)

    @cached_property
    def people(self) -> int:
        """Return the number of persons behind the records; without persons, of the records."""
        every = np.arange(self.rows)
        return int(self.persons_of(every, np.zeros_like(every), self.counts, 1)[0])

    @property
    def rows(self) -> int:
        """Return the number of distinct rows."""
        return len(self.counts)

    @cached_property
    def tuple_ids(self) -> NDArray[np.int64]:
        """Return, for each row, the number of its quasi-identifier tuple (0, 1, …)."""
        if not self.rows:
            return np.zeros(0, dtype=np.int64)
        fresh = np.any(self.codes[1:] != self.codes[:-1], axis=1)
        return np.concatenate(([0], np.cumsum(fresh))).astype(np.int64)

    @cached_property
    def tuple_sizes(self) -> NDArray[np.int64]:
        """Return the number of records of each quasi-identifier tuple."""
        if not self.rows:
            return np.zeros(0, dtype=np.int64)
        return np.bincount(self.tuple_ids, weights=self.counts).astype(np.int64)

    def reference(self, column: int) -> NDArray[np.int64]:
        """Return the histogram of one sensitive column over the whole table."""
        if self.whole is not None:
            return self.whole[column]
        size = len(self.sensitive_domains[column])
        return np.bincount(self.sensitive[:, column], weights=self.counts, minlength=size).astype(
            np.int64
        )

    def people_by_value(self, column: int) -> NDArray[np.int64]:
        """Return how many persons of the whole table have each value of a sensitive column."""
        if self.whole_people is not None:
            return self.whole_people[0][column]
        assert self.persons is not None
        size = len(self.sensitive_domains[column])
        value, once, known = self.sensitive[:, column], self.persons == ONCE, self.persons >= 0
        found = np.bincount(value[once], weights=self.counts[once], minlength=size)
        pairs = distinct(self.persons[known].astype(np.int64) * max(size, 1) + value[known])
        return (found + np.bincount(pairs % max(size, 1), minlength=size)).astype(np.int64)

    def people_of_all(self) -> tuple[tuple[NDArray[np.int64], ...], int]:
        """Return the persons of each value of each sensitive column, and all of them."""
        if self.whole_people is not None:
            return self.whole_people
        columns = range(len(self.sensitive_domains))
        return tuple(self.people_by_value(column) for column in columns), self.people


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different ones of fresh numbers, sorted in place.

    `np.unique` looks them up by their hashes, which takes several times as long for millions.
    """
    numbers.sort()
    fresh = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=fresh[1:])
    return numbers[fresh]


def sampled(table: FrequencyTable, most: int) -> FrequencyTable:
    """Return so many rows, evenly spread over the sorted table; a smaller table as it is."""
    if table.rows <= most:
        return table
    rows = np.linspace(0, table.rows - 1, most).astype(np.int64)
    return replace(
        table,
        codes=np.ascontiguousarray(table.codes[rows]),
        counts=table.counts[rows],
        sensitive=np.ascontiguousarray(table.sensitive[rows]),
        persons=None if table.persons is None else table.persons[rows],
        earlier=None if table.earlier is None else table.earlier[rows],
    )


def _in_range(codes: NDArray[np.int32], size: int) -> None:
    if codes.size and (codes.min() < 0 or codes.max() >= size):  # compiled code does not check
        raise KernelInputError(problem=f"a code is outside 0 … {size - 1}")


def from_codes(
    domains: tuple[Domain, ...],
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    *,
    sensitive_domains: tuple[Domain, ...] = (),
    sensitive: NDArray[np.int32] | None = None,
) -> FrequencyTable:
    """Return the frequency table of coded rows: equal rows joined, all rows sorted."""
    table, _ = join_rows(
        domains, codes, counts, sensitive_domains=sensitive_domains, sensitive=sensitive
    )
    return table


def join_rows(
    domains: tuple[Domain, ...],
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    *,
    sensitive_domains: tuple[Domain, ...] = (),
    sensitive: NDArray[np.int32] | None = None,
    persons: NDArray[np.int32] | None = None,
    earlier: NDArray[np.int32] | None = None,
) -> tuple[FrequencyTable, NDArray[np.int64]]:
    """Return the frequency table and, for each row given, the row of the table it went to."""
    if sensitive is None:
        sensitive = np.zeros((len(counts), 0), dtype=np.int32)
    full = np.concatenate((codes, sensitive), axis=1)
    sizes = [len(domain) for domain in (*domains, *sensitive_domains)]
    width = full.shape[1]
    for codes_from_0 in further_codes(persons, earlier):
        full = np.concatenate((full, codes_from_0[:, None]), axis=1)
        sizes.append(int(codes_from_0.max(initial=0)) + 1)
    number, order, starts = number_rows(full, sizes)
    joined = np.add.reduceat(counts[order], starts) if len(starts) else counts[:0]
    kept = full[order[starts]]
    table = FrequencyTable(
        domains=domains,
        codes=np.ascontiguousarray(kept[:, : len(domains)]),
        counts=joined.astype(np.int64),
        sensitive_domains=sensitive_domains,
        sensitive=np.ascontiguousarray(kept[:, len(domains) : width]),
        persons=None if persons is None else np.ascontiguousarray(kept[:, width] + NOBODY),
        earlier=None if earlier is None else np.ascontiguousarray(kept[:, -1] - 1),
    )
    return table, number


def further_codes(
    persons: NDArray[np.int32] | None, earlier: NDArray[np.int32] | None
) -> list[NDArray[np.int32]]:
    """Return, as codes from 0 on, what rows are distinct in beside their values."""
    found = [] if persons is None else [persons - NOBODY]
    return found if earlier is None else [*found, earlier + np.int32(1)]


class Numbered(NamedTuple):
    """The number of each row, equal rows alike; their order, and where each number begins in it."""

    number: NDArray[np.int64]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]


def number_rows(rows: NDArray[np.int32], sizes: list[int]) -> Numbered:
    """Number coded rows from 0 on in their sorted order, equal ones alike."""
    order = sort_rows(rows, sizes)
    ordered = rows[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(fresh) - 1
    return Numbered(number, order, np.flatnonzero(fresh))


def sort_rows(rows: NDArray[np.int32], sizes: list[int]) -> NDArray[np.int64]:
    """Return the stable order that sorts coded rows by their columns from left to right.

    Columns are packed into as few 64-bit keys as hold them: one argsort of packed
    keys costs a fifth of a lexsort over eight columns.
    """
    keys: list[NDArray[np.int64]] = []
    room = 0
    for column, size in enumerate(sizes):
        values = rows[:, column].astype(np.int64)
        if keys and room * max(size, 1) < 2**62:
            keys[-1] = keys[-1] * max(size, 1) + values
            room *= max(size, 1)
        else:
            keys.append(values)
            room = max(size, 1)
    if not keys:
        return np.arange(len(rows), dtype=np.int64)
    if len(keys) == 1:
        return np.argsort(keys[0], kind="stable")
    return np.lexsort(keys[::-1])
