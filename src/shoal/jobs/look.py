"""Look at a table before anything is asked of it: its values in short, or a sample of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from shoal.core.documents import Document
from shoal.engines.local.source import open_source
from shoal.formats.proposed import proposed_reading

BARS = 16
SEED = 20_000
"""Of the sample: the same records whenever the table is looked at."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A table in memory, or a sample of its records in the table's order.

    Attributes:
        records: of the whole table.
    """

    frame: pl.DataFrame
    records: int

    @property
    def is_sample(self) -> bool:
        """Say whether these are not all records."""
        return self.frame.height < self.records


def look(table: object, *, most: int | None = None, separator: str | None = None) -> Looked:
    """Open a table; of a large one, take so many records at random.

    Law:
        The same records every time.
    """
    source = open_source(proposed_reading(table), separator=separator)
    frame = source.collect(source.scan(source.columns))
    if most is None or frame.height <= most:
        return Looked(frame, frame.height)
    rows = pl.Series(range(frame.height)).sample(most, seed=SEED).sort()
    return Looked(frame[rows], frame.height)


def pictures(
    frame: pl.DataFrame, missing: Sequence[str] = (), *, kinds: Mapping[str, str] | None = None
) -> dict[str, Document]:
    """Return the distribution of each column in short: at most `BARS` bars and their names.

    kinds: of columns, where they are known: a category is not counted as a number.
    """
    known = kinds or {}
    return {
        name: _picture(frame[name], missing, is_category=known.get(name) == "categorical")
        for name in frame.columns
    }


def _picture(column: pl.Series, missing: Sequence[str], *, is_category: bool) -> Document:
    texts = column.cast(pl.String)
    known = texts.filter(texts.is_not_null() & (texts != "") & ~texts.is_in(list(missing)))
    numbers = known.cast(pl.Float64, strict=False)
    facts: Document = {
        "records": column.len(),
        "missing": column.len() - known.len(),
        "distinct": known.n_unique(),
    }
    is_number = not is_category and known.len() > 0 and not numbers.null_count()
    is_number = is_number and bool(numbers.is_finite().all())
    if is_number and numbers.n_unique() > BARS:
        return {**facts, **_histogram(numbers)}
    counted = known.value_counts(sort=True, name="records")
    top = counted.head(BARS if counted.height <= BARS else BARS - 1)
    if is_number:
        top = top.sort(pl.col(column.name).cast(pl.Float64))
    shown: Mapping[str, list[object]] = top.to_dict(as_series=False)
    return {
        **facts,
        "form": "values",
        "names": [str(value) for value in shown[column.name]],
        "counts": [int(str(count)) for count in shown["records"]],
        "others": known.len() - int(top["records"].sum()),
    }


def _histogram(numbers: pl.Series) -> Document:
    """Count numbers in bars of one width."""
    low, high = (float(str(end)) for end in (numbers.min(), numbers.max()))
    width = (high - low) / BARS
    starts = pl.Series([low + (high - low) * bar / BARS for bar in range(1, BARS)])
    places = pl.Series("bar", starts.search_sorted(numbers, side="right"))
    found = dict(places.value_counts().iter_rows())
    return {
        "form": "histogram",
        "low": low,
        "high": high,
        "names": [
            f"{low + width * bar:.6g} – {low + width * (bar + 1):.6g}" for bar in range(BARS)
        ],
        "counts": [int(found.get(bar, 0)) for bar in range(BARS)],
        "others": 0,
    }


Row = dict[str, str | None]


def side_by_side(
    table: pl.DataFrame, release: pl.DataFrame, classes: Sequence[int], *, most: int
) -> list[tuple[Row, Row | None]]:
    """Return some records beside what is released of them; None: it is suppressed.

    Args:
        table: every record.
        release: what is released of them, in the table's order.
        classes: the class of each record; -1: it is not released.
        most: records that are shown.
    """
    places = pl.Series(classes)
    released = (places >= 0).cum_sum() - 1
    chosen = pl.Series(range(len(classes))).sample(min(most, len(classes)), seed=SEED).sort()
    return [
        (_row(table, row), None if places[row] < 0 else _row(release, int(released[row])))
        for row in chosen
    ]


def _row(frame: pl.DataFrame, row: int) -> Row:
    found = frame.row(row, named=True)
    return {name: None if value is None else str(value) for name, value in found.items()}
