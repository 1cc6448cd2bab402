"""From a scan to the frequency table, and from records back to its rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.engines.local.coding import Coder, code_column, code_sensitive
from shoal.engines.local.source import Source, with_codes
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable, join_rows
from shoal.schema.schema import Role, Schema
from shoal.schema.sensitive import Scale

_ROWS = "\x00rows"


@dataclass(frozen=True)
class Frequencies:
    """A frequency table and what is needed to find a record's row in it again."""

    table: FrequencyTable
    coders: tuple[Coder, ...]  # the quasi-identifiers, then the sensitive columns
    columns: tuple[str, ...]

    @property
    def formats(self) -> dict[str, str]:
        """Return how the dates of columns are written, where that was found out or said."""
        pairs = zip(self.columns, self.coders, strict=True)
        return {name: coder.date_format for name, coder in pairs if coder.date_format is not None}

    def rows_of(self, batch: pl.DataFrame) -> NDArray[np.int64]:
        """Return the row of the frequency table for each record of a batch."""
        full = np.concatenate((self.table.codes, self.table.sensitive), axis=1)
        coded = with_codes(batch.lazy().select(self.columns), self.columns).collect()
        known: NDArray[np.int64] = np.zeros(self.table.rows, dtype=np.int64)
        asked: NDArray[np.int64] = np.zeros(batch.height, dtype=np.int64)
        room = 1
        for column, coder in enumerate(self.coders):
            size = max(len(coder.domain), 1)
            if room * size >= 2**62:  # make the keys dense again before they overflow
                distinct, known = np.unique(known, return_inverse=True)
                asked = np.searchsorted(distinct, asked)
                room = len(distinct)
            known = known * size + full[:, column]
            asked *= size
            asked += coder.codes(coded[self.columns[column]])
            room *= size
        # Rows are sorted by their codes, so the packed keys are sorted too.
        rows = _locate(known, asked, room=room)
        if (known[rows] != asked).any():
            raise InputError(
                where="table", problem="holds a record that was not there before; did it change?"
            )
        return rows


def _locate(known: NDArray[np.int64], asked: NDArray[np.int64], *, room: int) -> NDArray[np.int64]:
    if room <= 2**24:
        place = np.zeros(room, dtype=np.int64)
        place[known] = np.arange(len(known))
        return place[asked]
    return np.searchsorted(known, asked).clip(0, len(known) - 1)


def coder_of(distinct: pl.Series, schema: Schema, name: str) -> Coder:
    """Return what codes a column; a sensitive one is read as whoever judges reads it."""
    attribute = schema.attribute(name)
    if attribute.role is Role.SENSITIVE:
        return code_sensitive(distinct, Scale.of(schema, name, schema.privacy))
    return code_column(distinct, attribute, marks=schema.missing)


def with_kinds(schema: Schema, domains: Iterable[Domain]) -> Schema:
    """Return the schema with the kinds that were found out of sensitive columns.

    What a release or a model is judged by later is then not guessed anew.
    """
    known = {d.name: d.scale.attribute for d in domains if d.scale is not None}
    found = tuple(known.get(a.name, a) for a in schema.attributes)
    return replace(schema, attributes=found)


def frequencies(
    source: Source, lazy: pl.LazyFrame, schema: Schema, *, sensitive: Sequence[str]
) -> Frequencies:
    """Count the distinct tuples of a table in one streaming pass.

    Args:
        source: where the table comes from, for messages.
        lazy: its scan, text columns dictionary-coded.
        schema: names the quasi-identifiers.
        sensitive: the sensitive columns that the promise speaks of.

    Raises:
        InputError: no record, or a column whose values do not fit its kind.
    """
    columns = (*schema.quasi, *sensitive)
    coded = with_codes(lazy.select(columns), columns)
    grouped = source.collect(coded.group_by(columns).agg(pl.len().alias(_ROWS)))
    if not grouped.height:
        raise InputError(
            where=source.where, problem="the table has a header but no record; bring some"
        )
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
    )
    if source.shape is not None and table.records != source.shape.records:
        raise InputError(
            where=source.where,
            problem=(
                f"{source.shape.records} records were counted but {table.records} were read; "
                "the file changed, or its quotes do not pair up"
            ),
        )
    return Frequencies(table=table, coders=tuple(coders), columns=columns)
