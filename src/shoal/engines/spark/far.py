"""Frequency tables that stay on Spark, and what a search over one hands back.

Only classes come to the driver: a `Far` recoding stands on a table whose rows are its
classes, and the class of every distinct tuple stays in a table of Spark's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.report import Risk
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.frequencies import Coded
from shoal.engines.spark.piles import ROWS, Sums, arrays
from shoal.methods.frequency import FrequencyTable, sort_rows
from shoal.methods.recoding import Recoding, recoding_of

DRIVER_ROWS = 5_000_000  # distinct tuples that are brought to the driver


Added = Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]  # cells, and what to add to each


@dataclass(frozen=True)
class FarTable:
    """A frequency table on Spark.

    Attributes:
        piles: keys and how many records have them; kept by Spark between jobs.
        hollow: a table with all the records at one place: it knows the domains, the number
            of records and how each sensitive column is spread, and no tuple.
    """

    coded: Coded
    piles: DataFrame = field(repr=False)
    rows: int
    most: int  # records of the commonest tuple
    hollow: FrequencyTable
    risk: Risk

    @classmethod
    def of(cls, coded: Coded, piles: DataFrame, sums: Sums) -> FarTable:
        """Look at a frequency table without moving it."""
        coded.check_records(sums.records)
        width = len(coded.domains)
        sizes = [len(domain) for domain in coded.sensitive_domains]
        whole = by_column(coded, piles, first=width, sizes=sizes)
        sensitive, amounts = side_by_side(whole, sums.records)
        hollow = FrequencyTable(
            domains=coded.domains,
            codes=np.zeros((len(amounts), width), dtype=np.int32),
            counts=amounts,
            sensitive_domains=coded.sensitive_domains,
            sensitive=sensitive,
            whole=whole,
        )
        risk = Risk(
            records=sums.records, classes=sums.tuples, smallest_class=sums.least,
            unique=sums.unique,
        )  # fmt: skip
        return cls(coded, piles, sums.rows, sums.most, hollow, risk)


@dataclass(frozen=True)
class Counter:
    """Counts the rows of a task into cells.

    Attributes:
        size: of the cells.
        cells: gives, for coded rows and their records, cells and what is to be added to each.
    """

    packing: Packing
    size: int
    cells: Callable[[NDArray[np.int32], NDArray[np.int64]], Added]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Count; this runs where the rows are."""
        import pyarrow as pa

        sums = np.zeros(self.size, dtype=np.int64)
        for codes, counts in coded_rows(self.packing, batches):
            for cell, amount in self.cells(codes, counts):
                np.add.at(sums, cell, amount)
        there = np.flatnonzero(sums)
        if len(there):
            columns = [pa.array(there), pa.array(sums[there])]
            yield pa.RecordBatch.from_arrays(columns, names=["cell", "n"])

    def run(self, coded: Coded, piles: DataFrame) -> NDArray[np.int64]:
        """Run the job; return the cells."""
        counted = piles.select(*self.packing.names, ROWS).mapInArrow(self, "cell long, n long")
        summed = counted.groupBy("cell").agg(F.sum("n").alias("n"))
        found = coded.source.polars(summed)
        cells = np.zeros(self.size, dtype=np.int64)
        cells[found["cell"].to_numpy()] = found["n"].to_numpy()
        return cells


def coded_rows(
    packing: Packing, batches: Iterator[Any]
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """Yield the codes and the records of the rows of each pile."""
    for batch in batches:
        for *keys, counts in arrays(batch, [*packing.names, ROWS]):
            yield packing.unpack(keys), counts


def by_column(
    coded: Coded, piles: DataFrame, *, first: int, sizes: Sequence[int]
) -> tuple[NDArray[np.int64], ...]:
    """Return, of each column from `first` on, the records that have each code: one job."""

    def cells(codes: NDArray[np.int32], counts: NDArray[np.int64]) -> Added:
        start = 0
        for j, size in enumerate(sizes):
            yield start + codes[:, first + j].astype(np.int64), counts
            start += size

    if not sizes:
        return ()
    return apart(Counter(coded.packing, sum(sizes), cells).run(coded, piles), sizes)


def apart(cells: NDArray[np.int64], sizes: Sequence[int]) -> tuple[NDArray[np.int64], ...]:
    """Return the cells of each column."""
    return tuple(np.split(cells, np.cumsum(sizes)[:-1]))


def side_by_side(
    whole: Sequence[NDArray[np.int64]], records: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return rows of sensitive codes that have these histograms, column by column."""
    ends = [np.cumsum(counts) for counts in whole]
    cuts = np.unique(np.concatenate([*ends, [0, records]]))
    rows = np.empty((len(cuts) - 1, len(whole)), dtype=np.int32)
    for s, end in enumerate(ends):
        rows[:, s] = np.searchsorted(end, cuts[:-1], side="right")
    return rows, np.diff(cuts).astype(np.int64)


@dataclass(frozen=True)
class Far:
    """A recoding of a table that stays on Spark.

    Attributes:
        recoding: its table's rows are the classes (and their sensitive values).
        assign: given a place for every class (and a last one for suppressed records, -1 where
            they have none), returns piles of keys and their `places`.
        kept: what Spark holds for it until it is used.
    """

    recoding: Recoding
    assign: Callable[[NDArray[np.int64]], DataFrame] = field(repr=False)
    kept: tuple[DataFrame, ...] = field(default=(), repr=False)


def far_recoding(
    table: FarTable,
    found: pl.DataFrame,
    *,
    home: Sequence[str],
) -> tuple[Recoding, pl.DataFrame]:
    """Return the recoding of classes that were counted on Spark, and the class of each home.

    Args:
        table: what was searched.
        found: a row a class and sensitive tuple: its `home`, low0 …, high0 …, s0 …, rows.
        home: the columns that name a class.
    """
    coded = table.coded
    width, spread = len(coded.domains), len(coded.sensitive_domains)
    classes = found.select(home).unique().sort(home).with_row_index("number")
    number = found.join(classes, on=home, how="left", maintain_order="left")["number"].to_numpy()
    low = np.full((classes.height, width), np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full((classes.height, width), -1, dtype=np.int32)
    np.minimum.at(low, number, _matrix(found, "low", width))
    np.maximum.at(high, number, _matrix(found, "high", width))
    sensitive = _matrix(found, "s", spread)
    sizes = [len(domain) for domain in (*coded.domains, *coded.sensitive_domains)]
    order = sort_rows(np.concatenate((low[number], sensitive), axis=1), sizes)
    counts = found[ROWS].to_numpy().astype(np.int64)[order]
    stand_in = FrequencyTable(
        domains=table.hollow.domains,
        codes=np.ascontiguousarray(low[number][order]),
        counts=counts,
        sensitive_domains=coded.sensitive_domains,
        sensitive=np.ascontiguousarray(sensitive[order]),
    )
    pieces = (np.arange(len(order)), number[order].astype(np.int64), counts)
    recoding = recoding_of(stand_in, low, high, pieces)
    final = np.empty(classes.height, dtype=np.int32)
    final[number[order][recoding.row]] = recoding.label
    return recoding, classes.select(home).with_columns(pl.Series("class", final))


def _matrix(frame: pl.DataFrame, name: str, width: int) -> NDArray[np.int32]:
    found = np.empty((frame.height, width), dtype=np.int32)
    for j in range(width):
        found[:, j] = frame[f"{name}{j}"].to_numpy()
    return found
