"""From a scan to the frequency table, and from records back to its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.engines.coding import Coder, coder_of, with_codes
from shoal.engines.local.source import Source
from shoal.engines.person_key import WHO, persons_of_rows
from shoal.engines.refusals import no_record
from shoal.schema.schema import Schema
from shoal.table.frequency import FrequencyTable, further_codes, join_rows

EARLIER = "\x00earlier"
"""The class of a record in an earlier release, -1 where that does not have it."""

_ROWS = "\x00rows"


@dataclass(frozen=True)
class Frequencies:
    """A frequency table and what is needed to find a record's row in it again."""

    table: FrequencyTable
    coders: tuple[Coder, ...]  # the quasi-identifiers, then the sensitive columns
    columns: tuple[str, ...]

    def rows_of(self, batch: pl.DataFrame) -> NDArray[np.int64]:
        """Return the row of the frequency table for each record of a batch."""
        full = np.concatenate((self.table.codes, self.table.sensitive), axis=1)
        coded = with_codes(batch.lazy().select(self.columns), self.columns).collect()
        further = self._further(batch)
        known: NDArray[np.int64] = np.zeros(self.table.rows, dtype=np.int64)
        asked: NDArray[np.int64] = np.zeros(batch.height, dtype=np.int64)
        room = 1
        for column in range(len(self.coders) + len(further)):
            if column >= len(self.coders):
                own, other = further[column - len(self.coders)]
                size = int(own.max(initial=0)) + 1
            else:
                own, other = full[:, column], self.coders[column].codes(coded[self.columns[column]])
                size = max(len(self.coders[column].domain), 1)
            if room * size >= 2**62:  # make the keys dense again before they overflow
                distinct, known = np.unique(known, return_inverse=True)
                asked = np.searchsorted(distinct, asked)
                room = len(distinct)
            known = known * size + own
            asked *= size
            asked += other
            room *= size
        # Rows are sorted by their codes, so the packed keys are sorted too.
        rows = _locate(known, asked, room=room)
        if (known[rows] != asked).any():
            raise InputError(
                where="table", problem="holds a record that was not there before; did it change?"
            )
        return rows

    def _further(self, batch: pl.DataFrame) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """Return the further codes of rows and records: persons, and earlier classes.

        Who has one record is not told apart; neither are those who are nobody.
        """
        persons, earlier = self.table.persons, self.table.earlier
        asked = further_codes(
            None if persons is None else batch[WHO].to_numpy(),
            None if earlier is None else batch[EARLIER].to_numpy(),
        )
        return list(zip(further_codes(persons, earlier), asked, strict=True))


def _locate(known: NDArray[np.int64], asked: NDArray[np.int64], *, room: int) -> NDArray[np.int64]:
    if room <= 2**24:
        place = np.zeros(room, dtype=np.int64)
        place[known] = np.arange(len(known))
        return place[asked]
    return np.searchsorted(known, asked).clip(0, len(known) - 1)


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
    if source.shape is not None and table.records != source.shape.records:
        raise InputError(
            where=source.where,
            problem=(
                f"{source.shape.records} records were counted but {table.records} were read; "
                "the file changed, or its quotes do not pair up"
            ),
        )
    return Frequencies(table=table, coders=tuple(coders), columns=columns)
