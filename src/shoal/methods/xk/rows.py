"""The table that the seven steps work on: distinct rows, their records, and their fate.

Steps change single cells, so a row keeps its place from the first step to the last, and
whoever knows a record's row knows what becomes of the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import UnknownValueError
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.xk.candidates import Held, PairCounts
from shoal.privacy.l_diversity import largest_matching
from shoal.table.domain import Domain
from shoal.table.frequency import NOBODY, ONCE, FrequencyTable, distinct, number_rows

KEPT, GENERALIZED, SUPPRESSED = np.int8(0), np.int8(1), np.int8(2)  # the state of a cell
BLANK = np.int32(-1)  # a sensitive cell that was suppressed


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One quasi-identifier: every text that may be released in it.

    Attributes:
        labels: the values first, then the labels of their groups, then the mark of a
            suppressed cell. Equal texts have one code, so equal codes are what a reader of
            the release sees as equal.
        up: the code of each label's group; a label without a group stays itself.
        star: the code of a suppressed cell.
        position: where each value stands, for correlations; NaN for a missing value.
        has_groups: whether the hierarchy has something between a value and the suppressed
            mark; a matter of the hierarchy, not of the values that happen to occur.
    """

    name: str
    labels: tuple[str | None, ...]
    up: NDArray[np.int32]
    star: int
    position: NDArray[np.float64]
    has_groups: bool = False


def column_of(domain: Domain, *, level: int = 1, grouped: bool = True) -> Column:
    """Return the column of a domain, with the groups of its hierarchy at `level`.

    Raises:
        UnknownValueError: values are missing from the hierarchy.
    """
    labels = list(domain.labels)
    code = {label: i for i, label in enumerate(labels)}
    tree = domain.ladder if grouped else None
    groups = list(labels) if tree is None else _groups(domain, tree, level)
    star_label = domain.root
    for label in [*groups, star_label]:
        if label not in code:
            code[label] = len(labels)
            labels.append(label)
    up = np.arange(len(labels), dtype=np.int32)
    up[: len(groups)] = [code[label] for label in groups]
    places = np.full(len(labels), np.nan)
    tied = domain.tree is not None  # nodes of a tree are no measure; their order is
    places[: len(domain)] = np.arange(len(domain)) if tied else domain.position
    if domain.has_missing:
        places[0] = np.nan
    return Column(
        name=domain.name,
        labels=tuple(labels),
        up=up,
        star=code[star_label],
        position=places,
        has_groups=tree is not None and level < tree.levels - 1,
    )


def _groups(domain: Domain, tree: Hierarchy, level: int) -> list[str | None]:
    """Return the group of each value; missing stays missing, the root is the suppressed mark."""
    unknown = sum(1 for label in domain.labels if label is not None and label not in tree)
    if unknown:
        raise UnknownValueError(column=domain.name, unknown=unknown, total=len(domain))
    groups: list[str | None] = []
    for label in domain.labels:
        if label is None:
            groups.append(None)
            continue
        node = tree.ancestor(tree.index(label), min(level, tree.levels - 1))
        groups.append(domain.root if node == tree.root else tree.labels[node])
    return groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Distinct rows of a table on their way to a release.

    Attributes:
        codes: int32[rows, quasi-identifiers], what is released as things stand.
        cells: int8[rows, quasi-identifiers], KEPT, GENERALIZED or SUPPRESSED.
        sensitive: int32[rows, sensitive columns]; BLANK for a suppressed cell.
        counts: int64[rows], original records.
        false: int64[rows], false records that copy one of them.
        kept: bool[rows], still to be released.
        marked: bool[rows], to be removed by the suppression step.
        persons: int32[rows], who the records of a row are about, see `FrequencyTable`; None:
            each record is a person.
    """

    columns: tuple[Column, ...]
    sensitive_names: tuple[str, ...]
    codes: NDArray[np.int32]
    cells: NDArray[np.int8]
    sensitive: NDArray[np.int32]
    counts: NDArray[np.int64]
    false: NDArray[np.int64]
    kept: NDArray[np.bool_]
    marked: NDArray[np.bool_]
    persons: NDArray[np.int32] | None = None

    @property
    def unit(self) -> str:
        """Return what the thresholds k and xk count."""
        return "records" if self.persons is None else "persons"

    def people(self) -> int:
        """Return the persons whose records are kept."""
        together = np.zeros(int(self.kept.sum()), dtype=np.int64)
        return int(_people(self, np.flatnonzero(self.kept), together, 1)[0])

    def place(self, name: str) -> int:
        """Return the number of the quasi-identifier called `name`."""
        return [column.name for column in self.columns].index(name)


def rows_of(
    table: FrequencyTable, *, level: int = 1, grouped: Sequence[str] = (), blank: bool = False
) -> Rows:
    """Return the rows of a frequency table, untouched.

    Args:
        table: its sensitive columns are those whose diversity is asked for.
        level: how far a step of generalization climbs.
        grouped: names of the columns that may be generalized.
        blank: a missing sensitive value is no value. Where cells may be blanked, a reader of
            the release cannot tell the two apart, so neither counts as one of l values.
    """
    sensitive = table.sensitive.copy()
    for place, domain in enumerate(table.sensitive_domains):
        if blank and domain.has_missing:
            sensitive[sensitive[:, place] == 0, place] = BLANK
    columns = tuple(
        column_of(domain, level=level, grouped=domain.name in grouped) for domain in table.domains
    )
    return Rows(
        columns=columns,
        sensitive_names=tuple(domain.name for domain in table.sensitive_domains),
        codes=table.codes.copy(),
        cells=np.full(table.codes.shape, KEPT, dtype=np.int8),
        sensitive=sensitive,
        counts=table.counts,
        false=np.zeros(table.rows, dtype=np.int64),
        kept=np.ones(table.rows, dtype=np.bool_),
        marked=np.zeros(table.rows, dtype=np.bool_),
        persons=table.persons,
    )


class Pairs(NamedTuple):
    """The rows grouped by their released quasi-identifiers.

    `of_row` is -1 for rows that are no longer kept; `records` are original records, `people` the
    different persons behind them (without a person column, the records again). A false record is
    a made-up person of its own.
    """

    of_row: NDArray[np.int64]
    records: NDArray[np.int64]
    false: NDArray[np.int64]
    people: NDArray[np.int64]

    def sizes(self, chosen: NDArray[np.bool_] | None = None) -> PairCounts:
        """Return how many pairs there are of each number of persons, and their records.

        chosen: the pairs to look at; all of them if None.
        """
        if chosen is None:
            return histogram(self.people, self.records)
        return histogram(self.people[chosen], self.records[chosen])


def histogram(people: NDArray[np.int64], records: NDArray[np.int64]) -> PairCounts:
    """Return how many pairs have each number of persons, and how many records these have."""
    values, at, times = np.unique(people, return_inverse=True, return_counts=True)
    held = _summed(at, records, len(values))
    return {
        int(value): Held(int(pairs), int(own))
        for value, pairs, own in zip(values, times, held, strict=True)
    }


def pairs_of(rows: Rows, places: Sequence[int] | None = None) -> Pairs:
    """Group the kept rows by some of the quasi-identifiers; by all of them if None."""
    wanted = range(len(rows.columns)) if places is None else places
    at = np.flatnonzero(rows.kept)
    key = np.zeros(len(at), dtype=np.int64)
    room = 1
    for place in wanted:
        size = len(rows.columns[place].labels)
        if room * size >= 2**62:  # make the keys dense again before they overflow
            distinct, key = np.unique(key, return_inverse=True)
            room = len(distinct)
        key = key * size + rows.codes[at, place]
        room *= size
    distinct, ids = np.unique(key, return_inverse=True)
    of_row = np.full(len(rows.kept), -1, dtype=np.int64)
    of_row[at] = ids
    return Pairs(
        of_row=of_row,
        records=_summed(ids, rows.counts[at], len(distinct)),
        false=_summed(ids, rows.false[at], len(distinct)),
        people=_people(rows, at, ids, len(distinct)),
    )


def _people(
    rows: Rows, at: NDArray[np.int64], ids: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Return the persons of each pair; at, ids: the rows that are kept, and the pair of each."""
    if rows.persons is None:
        return _summed(ids, rows.counts[at], size)
    who = rows.persons[at]
    once, known = who == ONCE, who >= 0
    most = int(rows.persons.max(initial=0)) + 1
    seen = distinct(ids[known] * most + who[known])
    return _summed(ids[once], rows.counts[at][once], size) + np.bincount(
        seen // most, minlength=size
    )


def _summed(ids: NDArray[np.int64], values: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    # float64 adds whole numbers exactly up to 2**53, more records than any table has
    return np.bincount(ids, weights=values, minlength=size).astype(np.int64)


def diversity_of(rows: Rows, pairs: Pairs, *, column: int) -> NDArray[np.int64]:
    """Return the number of different sensitive values of each pair, blanked cells left out.

    A missing value is a value of its own. Where persons are counted, the values must belong to
    different persons; a value that only records of nobody have is none.
    """
    values = rows.sensitive[:, column]
    counted = rows.kept & (values != BLANK)
    if rows.persons is not None:
        counted &= rows.persons != NOBODY
    at = np.flatnonzero(counted)
    size = int(values.max(initial=0)) + 1
    seen = distinct(pairs.of_row[at] * size + values[at])
    found = np.bincount(seen // size, minlength=len(pairs.records)).astype(np.int64)
    if rows.persons is not None:
        for pair, matched in _matchings(rows, pairs, at, column=column):
            found[pair] = matched
    return found


def _matchings(
    rows: Rows, pairs: Pairs, at: NDArray[np.int64], *, column: int
) -> Iterator[tuple[int, int]]:
    """Yield the pairs in which a person has several values, and how many values can be matched.

    at: the rows whose values count.
    """
    assert rows.persons is not None
    who, value = rows.persons[at] - NOBODY, rows.sensitive[at, column]
    code = np.column_stack((pairs.of_row[at], who, value)).astype(np.int32)
    _, order, starts = number_rows(code, [int(part.max(initial=0)) + 1 for part in code.T])
    counts = np.add.reduceat(rows.counts[at][order], starts) if len(starts) else starts
    triples = code[order[starts]]
    known = triples[:, 1] >= -NOBODY
    repeats = known[1:] & (triples[1:, :2] == triples[:-1, :2]).all(axis=1)
    asked = np.isin(triples[:, 0], triples[1:][repeats, 0])
    lines = zip(triples[asked].tolist(), counts[asked].tolist(), strict=True)
    for pair, members in groupby(lines, key=lambda line: line[0][0]):
        yield pair, _matching([(value, who + int(NOBODY), n) for (_, who, value), n in members])


def _matching(members: Sequence[tuple[int, int, int]]) -> int:
    """Return how many values belong to different persons.

    members: a value, who has it, and of those who have one record, how many.
    """
    place = {value: i for i, value in enumerate(dict.fromkeys(value for value, _, _ in members))}
    people = [0] * len(place)
    several: dict[int, list[int]] = {}
    for value, person, records in members:
        people[place[value]] += records if person == ONCE else 1
        if person != ONCE:
            several.setdefault(person, []).append(place[value])
    return largest_matching(people, [own for own in several.values() if len(own) > 1])
