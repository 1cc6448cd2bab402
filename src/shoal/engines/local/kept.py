"""Kept columns of a table, counted whole and examined by a sample of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.column_facts import column_facts
from shoal.engines.local.infer import count_values
from shoal.engines.local.source import Source
from shoal.inference.column import MARKS
from shoal.inference.kept import CLOSE, ROWS, KeptCheck

SAMPLE_BYTES = 16 * 2**20
"""What they may take of a table that does not fit memory, where records are wide."""

_ROW = "\x00row"
_BATCH = 100_000
_SMALLEST = 4096  # hashes that are remembered of a column: an error of 1.6 %


def check_kept(
    source: Source, lazy: pl.LazyFrame, names: Sequence[str], waived: Sequence[str]
) -> KeptCheck:
    """Ask of every kept column whether it says by itself who a record is.

    Args:
        source: the table, for messages.
        lazy: a scan that has the columns, in memory where that is possible.
        names: the columns that are released as they are.
        waived: those of them that are meant, whatever they hold.
    """
    types = lazy.collect_schema()
    plain = [name for name in names if not is_nested(types[name])]
    if not plain:
        return KeptCheck(waived=tuple(waived))
    count = _in_memory if source.fits_memory() else _in_batches
    weights = [] if source.weight is None else [source.weight]
    sample, counted = count(source, lazy.select([*plain, *weights]), plain)
    found = []
    for name in plain:
        facts = column_facts(name, count_values(source, sample.lazy(), name))
        if counted:
            records, present, distinct = counted[name]
            facts = replace(facts, records=records, missing=records - present, distinct=distinct)
        found.append(facts)
    return KeptCheck.of(found, waived)


def check_beside(source: Source, names: Sequence[str], waived: Sequence[str]) -> KeptCheck:
    """Ask the columns of a table as it stands, those that hold lists and the like left out."""
    plain = list(names)
    if source.frame is not None:
        types = source.frame.collect_schema()
        plain = [name for name in names if not is_nested(types[name])]
    lazy = source.scan(plain)
    if source.fits_memory():
        lazy = source.collect(lazy).lazy()
    return check_kept(source, lazy, plain, waived)


def is_nested(dtype: pl.DataType) -> bool:
    """Say whether values are lists, structures or bytes, which are not looked into."""
    return dtype.is_nested() or dtype in (pl.Object, pl.Binary)


Counts = dict[str, tuple[int, int, int]]  # records, present and distinct values of each column


def _in_memory(
    source: Source, lazy: pl.LazyFrame, names: Sequence[str]
) -> tuple[pl.DataFrame, Counts]:
    """Return a sample and the counts; no counts where the sample is the whole table."""
    frame = source.collect(lazy)
    if frame.height <= ROWS:
        return frame, {}
    sample = frame.filter(_chosen(frame.height, 0, frame.height // ROWS + 1))
    weights = frame[source.weight] if source.weight is not None else None
    records = frame.height if weights is None else int(weights.sum())
    counted = {}
    for name in names:
        if isinstance(frame.schema[name], (pl.Categorical, pl.Enum)):
            counted[name] = (records, *_of_codes(frame[name], weights))
            continue
        there = _present(frame[name])
        values = frame[name].filter(there)
        present = values.len() if weights is None else int(weights.filter(there).sum())
        distinct = int(values.approx_n_unique())  # type: ignore[arg-type]
        if distinct >= CLOSE * present:
            distinct = values.n_unique()
        counted[name] = records, present, distinct
    return sample, counted


def _of_codes(values: pl.Series, weights: pl.Series | None) -> tuple[int, int]:
    """Return the present and distinct values of a column of coded texts: one look at each code."""
    there = values.is_not_null()
    held = (values if there.all() else values.filter(there)).to_physical().to_numpy()
    each = None if weights is None else weights.filter(there).to_numpy()
    many = np.bincount(held, each).astype(np.int64)
    distinct = values.unique().drop_nulls()
    known = distinct.filter(_present(distinct))
    return int(many[known.to_physical().to_numpy()].sum()), known.len()


def _in_batches(
    source: Source, lazy: pl.LazyFrame, names: Sequence[str]
) -> tuple[pl.DataFrame, Counts]:
    """Return a sample and the counts of a table that does not fit memory, in one pass."""
    shape = source.shape
    rows = int(source.collect(lazy.select(pl.len()))[0, 0]) if shape is None else shape.records
    seen, present = 0, dict.fromkeys(names, 0)
    sketches = {name: _Sketch() for name in names}
    held = []
    wanted = min(ROWS, max(SAMPLE_BYTES * rows // max(source.size, 1), 1))
    for batch in source.batches(lazy, _BATCH):
        texts = batch.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
        chosen = texts.filter(_chosen(batch.height, seen, rows // wanted + 1))
        # Copied, because a part of a column keeps the memory of the whole batch.
        held.append(pl.DataFrame(chosen.to_dict(as_series=False), schema=texts.schema))
        seen += batch.height
        for name in names:
            values = texts[name].filter(_present(texts[name]))
            present[name] += values.len()
            sketches[name].add(values)
    found = pl.concat(held) if held else source.collect(lazy.head(0))
    return found, {n: (seen, present[n], sketches[n].distinct(present[n])) for n in names}


@dataclass
class _Sketch:
    """The smallest hashes of a column's values, from which their number is estimated."""

    smallest: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))

    def add(self, values: pl.Series) -> None:
        hashes = values.hash(seed=1).to_numpy()
        if len(self.smallest) == _SMALLEST:
            hashes = hashes[hashes < self.smallest[-1]]
        self.smallest = np.unique(np.concatenate((self.smallest, hashes)))[:_SMALLEST]

    def distinct(self, present: int) -> int:
        """Return the estimate; "all different" where the error does not rule it out."""
        if len(self.smallest) < _SMALLEST:
            return len(self.smallest)
        found = int((_SMALLEST - 1) / (float(self.smallest[-1]) / 2**64))
        return present if found >= 0.95 * present else found


def _chosen(rows: int, first: int, step: int) -> pl.Series:
    """Say which rows are in the sample: by a hash of their number, as tables have rhythms."""
    return pl.Series(_ROW, np.arange(first, first + rows)).hash(seed=1) % step == 0


def _present(values: pl.Series) -> pl.Series:
    if values.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return values.is_not_null()
    return values.is_not_null() & ~values.cast(pl.String).is_in(["", *MARKS])
