"""The table that the seven steps work on: distinct rows, their records, and their fate.

Steps change single cells, so a row keeps its place from the first step to the last, and
whoever knows a record's row knows what becomes of the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import UnknownValueError
from shoal.hierarchies.tree import Hierarchy
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable

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
    )


class Pairs(NamedTuple):
    """The rows grouped by their released quasi-identifiers.

    `of_row` is -1 for rows that are no longer kept; `records` are original records.
    """

    of_row: NDArray[np.int64]
    records: NDArray[np.int64]
    false: NDArray[np.int64]

    def sizes(self) -> dict[int, int]:
        """Return how many pairs there are of each number of original records."""
        return histogram(self.records)


def histogram(sizes: NDArray[np.int64]) -> dict[int, int]:
    """Return how often each number occurs."""
    values, times = np.unique(sizes, return_counts=True)
    return {int(value): int(number) for value, number in zip(values, times, strict=True)}


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
    )


def _summed(ids: NDArray[np.int64], values: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    # float64 adds whole numbers exactly up to 2**53, more records than any table has
    return np.bincount(ids, weights=values, minlength=size).astype(np.int64)


def diversity_of(rows: Rows, pairs: Pairs, *, column: int) -> NDArray[np.int64]:
    """Return the number of different sensitive values of each pair, blanked cells left out.

    A missing value is a value of its own.
    """
    values = rows.sensitive[:, column]
    at = np.flatnonzero(rows.kept & (values != BLANK))
    size = int(values.max(initial=0)) + 1
    seen = np.unique(pairs.of_row[at] * size + values[at])
    return np.bincount(seen // size, minlength=len(pairs.records)).astype(np.int64)
