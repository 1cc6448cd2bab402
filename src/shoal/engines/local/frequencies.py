"""From a scan to the frequency table, and from records back to its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.engines.coding import Coder, coder_of, with_codes
from shoal.engines.local.source import Source
from shoal.engines.person_key import WHO, persons_of_rows
from shoal.engines.refusals import no_record
from shoal.schema.schema import Schema
from shoal.table.distinct import RowPlaces, distinct_rows
from shoal.table.frequency import FrequencyTable, further_codes, join_rows

EARLIER = "\x00earlier"
"""The class of a record in an earlier release, -1 where that does not have it."""

_ROWS = "\x00rows"
_FIRST = 2**16


@dataclass(frozen=True)
class Frequencies:
    """A frequency table and what is needed to find a record's row in it again.

    Attributes:
        coders: the quasi-identifiers, then the sensitive columns.
        held: the scan in memory that was counted, and the row of each of its records; None: it
            does not fit memory.
    """

    table: FrequencyTable
    coders: tuple[Coder, ...]
    columns: tuple[str, ...]
    held: tuple[pl.LazyFrame, NDArray[np.int32]] | None = field(default=None, repr=False)

    def rows_of(self, batch: pl.DataFrame, *, of: pl.LazyFrame | None = None) -> NDArray[np.int64]:
        """Return the row of the frequency table for each record of a batch.

        of: the scan that the batch is all of.
        """
        if self.held is not None and of is self.held[0] and batch.height == len(self.held[1]):
            return self.held[1].astype(np.int64)
        coded = with_codes(batch.lazy().select(self.columns), self.columns).collect()
        own = [
            coder.codes(coded[name]) for coder, name in zip(self.coders, self.columns, strict=True)
        ]
        persons, earlier = self.table.persons, self.table.earlier
        further = further_codes(
            None if persons is None else batch[WHO].to_numpy(),
            None if earlier is None else batch[EARLIER].to_numpy(),
        )
        rows = self._places.find([*own, *further])
        if rows is None:
            raise InputError(
                where="table", problem="holds a record that was not there before; did it change?"
            )
        return rows

    @cached_property
    def _places(self) -> RowPlaces:
        """The rows as keys. Who has one record is not told apart; nor are those who are nobody."""
        table = self.table
        full = np.concatenate((table.codes, table.sensitive), axis=1)
        sizes = [max(len(coder.domain), 1) for coder in self.coders]
        further = further_codes(table.persons, table.earlier)
        sizes += [int(codes.max(initial=0)) + 1 for codes in further]
        return RowPlaces.of([*full.T, *further], sizes)


def frequencies(
    source: Source,
    lazy: pl.LazyFrame,
    schema: Schema,
    *,
    sensitive: Sequence[str],
    is_nested: bool = False,
) -> Frequencies:
    """Count the distinct tuples of a table in one streaming pass.

    Args:
        source: where the table comes from, for messages.
        lazy: its scan, text columns dictionary-coded.
        schema: names the quasi-identifiers.
        sensitive: the sensitive columns that the promise speaks of.
        is_nested: the scan has the class of each record in an earlier release (EARLIER).

    Raises:
        InputError: no record, or a column whose values do not fit its kind.
    """
    columns = (*schema.quasi, *sensitive)
    if source.fits_memory() and not schema.person and not is_nested:
        return _checked(source, _in_memory(source, lazy, schema, columns))
    keys = [*columns, *([WHO] if schema.person else []), *([EARLIER] if is_nested else [])]
    coded = with_codes(lazy.select(keys), columns)
    grouped = source.collect(coded.group_by(keys).agg(pl.len().alias(_ROWS)))
    if not grouped.height:
        raise no_record(source.where)
    coders = []
    codes = np.empty((grouped.height, len(columns)), dtype=np.int32)
    for i, name in enumerate(columns):
        series = grouped[name]
        coder = coder_of(series.unique(), schema, name)
        codes[:, i] = coder.codes(series)
        coders.append(coder)
    width = len(schema.quasi)
    domains = tuple(coder.domain for coder in coders)
    table, _ = join_rows(
        domains[:width],
        codes[:, :width],
        grouped[_ROWS].to_numpy().astype(np.int64),
        sensitive_domains=domains[width:],
        sensitive=codes[:, width:],
        persons=persons_of_rows(
            grouped[WHO].to_numpy().astype(np.int32), where=source.where, names=schema.person
        )
        if schema.person
        else None,
        earlier=grouped[EARLIER].to_numpy() if is_nested else None,
    )
    return _checked(source, Frequencies(table=table, coders=tuple(coders), columns=columns))


def _in_memory(
    source: Source, lazy: pl.LazyFrame, schema: Schema, columns: tuple[str, ...]
) -> Frequencies:
    """Count a table in memory: each column is coded once, and the row of each record kept."""
    coded = source.collect(with_codes(lazy.select(columns), columns))
    if not coded.height:
        raise no_record(source.where)
    coders, codes = [], []
    for name in columns:
        series = coded[name]
        coder = coder_of(_distinct(series), schema, name)
        codes.append(coder.codes(series))
        coders.append(coder)
    present, row = distinct_rows(codes, [max(len(coder.domain), 1) for coder in coders])
    width = len(schema.quasi)
    domains = tuple(coder.domain for coder in coders)
    table = FrequencyTable(
        domains=domains[:width],
        codes=np.ascontiguousarray(present[:, :width]),
        counts=np.bincount(row, minlength=len(present)).astype(np.int64),
        sensitive_domains=domains[width:],
        sensitive=np.ascontiguousarray(present[:, width:]),
    )
    return Frequencies(table=table, coders=tuple(coders), columns=columns, held=(lazy, row))


def _distinct(series: pl.Series) -> pl.Series:
    """Return each value of a column once; texts that are coded are found by their numbers."""
    if not isinstance(series.dtype, (pl.Categorical, pl.Enum)):
        return series.unique()
    physical = series.to_physical()
    places = (
        None if not physical.null_count() else np.flatnonzero(physical.is_not_null().to_numpy())
    )
    numbers = physical.drop_nulls().to_numpy()
    used = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.bool_)
    used[numbers] = True
    somewhere = np.full(len(used), -1, dtype=np.int64)
    for end in (_FIRST, len(numbers)):  # nearly all values stand among the first records
        somewhere[numbers[:end]] = np.arange(min(end, len(numbers)))
        if (somewhere[used] >= 0).all():
            break
    found = somewhere[used]
    distinct = series.gather(found if places is None else places[found])
    return distinct if places is None else distinct.extend_constant(None, 1)


def _checked(source: Source, found: Frequencies) -> Frequencies:
    """Refuse a file of which not all records were read."""
    records = found.table.records
    if source.shape is not None and records != source.shape.records:
        raise InputError(
            where=source.where,
            problem=(
                f"{source.shape.records} records were counted but {records} were read; "
                "the file changed, or its quotes do not pair up"
            ),
        )
    return found
