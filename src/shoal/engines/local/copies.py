"""Which columns give false records away.

A false record copies every column of a real one. In a column of which hardly two people share
a value, the copy is seen at once: the same value twice in one class, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import SchemaError
from shoal.engines.person_key import WHO
from shoal.methods.xk.rows import BLANK, Rows, pairs_of
from shoal.table.frequency import ONCE

RARE = 5
"""A value that fewer original records than this (or than k, if that is less) have is rare."""

MOST_EXPOSED = 0.05
"""A column that gives more than this share of the false records away is refused."""


@dataclass(frozen=True)
class Exposure:
    """How many of the false records are given away, by each column and by all of them together.

    Shares of the false records, expected over the draw of the records that are copied.
    """

    columns: dict[str, float]
    together: float

    def refuse(self, waived: Collection[str], *, where: str) -> None:
        """Raise SchemaError where a column that is not waived gives the copies away."""
        faults = self.faults(waived)
        if faults:
            raise SchemaError(where=where, faults=faults)

    def faults(self, waived: Collection[str]) -> list[str]:
        """Return why columns would be refused, and how to go on."""
        return [
            f"column {name!r} would tell about {100 * share:.0f} % of the false records from real "
            "ones: a copy repeats a value that hardly anybody else has. Round it, name it "
            f"identifying, take xk = k, or say --waive {name} where that is meant"
            for name, share in self.columns.items()
            if share > MOST_EXPOSED and name not in waived
        ]

    def warnings(self) -> list[str]:
        """Return what the columns give away that are released all the same."""
        lines = [
            f"column {name!r} tells about {100 * share:.1f} % of the false records from real ones"
            for name, share in self.columns.items()
            if share
        ]
        if self.together:
            lines.append(
                f"all columns together tell about {100 * self.together:.1f} % of the false "
                "records: they repeat a record that occurs once"
            )
        return lines


def exposure_of(
    rows: Rows,
    *,
    records: pl.DataFrame,
    row: NDArray[np.int64],
    quasi: Collection[str],
    k: int,
    who: pl.Series | None = None,
) -> Exposure:
    """Measure how far false records can be distinguished from the originals that are released.

    Args:
        rows: the table after step 6.
        records: the originals that are released, as they are released.
        row: the row that each of them belongs to.
        quasi: the columns whose values a false record shares with its class anyway.
        k: records that a released pair has.
        who: the person of each record (WHO), where persons are counted: a value that one person
            has in many records is as rare as one that stands once.
    """
    pairs = pairs_of(rows)
    copies = pairs.false / np.maximum(pairs.records, 1)  # expected copies of each original
    weight = pl.Series(copies[pairs.of_row[row]])
    total = float(weight.sum())
    others = [name for name in records.columns if name not in quasi]
    if not total:
        return Exposure(dict.fromkeys(others, 0.0), 0.0)
    shares = {}
    for name in others:
        exposed = weight
        if name in rows.sensitive_names:  # a blanked cell is like all others of its class
            blank = rows.sensitive[row, rows.sensitive_names.index(name)] == BLANK
            exposed = weight.set(pl.Series(blank), 0.0)
        shares[name] = _weight(records.select(name), exposed, who, fewer_than=min(RARE, k)) / total
    together = _weight(records, weight, who, fewer_than=2) / total if others else 0.0
    return Exposure(shares, together)


def _weight(
    values: pl.DataFrame, weight: pl.Series, who: pl.Series | None, *, fewer_than: int
) -> float:
    """Return the weight of the records whose values fewer records, or persons, have than given."""
    names, have = values.columns, pl.len()
    if who is not None:
        values = values.with_columns(who.alias(WHO))
        code = pl.col(WHO)
        have = (code == int(ONCE)).sum() + code.filter(code >= 0).n_unique()
    times = values.select(have.over(names)).to_series()
    return float(weight.filter(times < fewer_than).sum())
