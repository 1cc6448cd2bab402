"""Frequency tables that stay on Spark, and what a search over one hands back.

Only classes come to the driver: a `Far` recoding stands on a table whose rows are its
classes, and the class of every distinct tuple stays in a table of Spark's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.engines.spark.arrange import PLACES
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.frequencies import Coded
from shoal.engines.spark.piles import ROWS, Sums, Work, arrays, pile
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable, sort_rows
from shoal.methods.recoding import SUPPRESSED, Recoding, recoding_of
from shoal.reports.release import Risk

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
        assign: given a number for every class (and a last one for suppressed records),
            returns piles of keys, these numbers as `places`, and how many records of the key
            have each as `rows`.
        shared: whether a key may be in several classes.
        kept: what Spark holds for it until it is used.
        is_bare: the recoding knows its classes without their sensitive values.
    """

    recoding: Recoding
    assign: Callable[[NDArray[np.int64]], DataFrame] = field(repr=False)
    shared: bool = False
    kept: tuple[DataFrame, ...] = field(default=(), repr=False)
    is_bare: bool = False

    def moved(self, after: Recoding) -> Far:
        """Return the same with other classes, given as a recoding of the same stand-in table."""
        before, assign = self.recoding, self.assign
        home = np.full(before.classes + 1, SUPPRESSED, dtype=np.int64)
        home[before.label] = after.label
        return replace(self, recoding=after, assign=lambda numbers: assign(numbers[home]))

    @property
    def own(self) -> DataFrame:
        """Return piles of keys with the number of their class, -1 where suppressed."""
        return self.assign(np.append(np.arange(self.recoding.classes), SUPPRESSED))


class Cells(NamedTuple):
    """Classes apart by their sensitive values: how many records a class has of each."""

    label: NDArray[np.int64]  # -1: suppressed
    sensitive: NDArray[np.int32]
    counts: NDArray[np.int64]


def cells_of(
    label: NDArray[np.int64], sensitive: NDArray[np.int32], counts: NDArray[np.int64],
    sizes: Sequence[int],
) -> Cells:  # fmt: skip
    """Count pieces by class and sensitive values; sizes: of the sensitive columns."""
    cells = np.concatenate(((label + 1)[:, None].astype(np.int32), sensitive), axis=1)
    order = sort_rows(cells, [int(label.max(initial=-1)) + 2, *sizes])
    ordered = cells[order]
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    starts = np.flatnonzero(fresh)
    found = ordered[starts]
    records = np.add.reduceat(counts[order], starts) if len(starts) else counts[:0]
    return Cells(found[:, 0].astype(np.int64) - 1, found[:, 1:], records)


def stand_in(
    table: FarTable,
    boxes: tuple[NDArray[np.int32], NDArray[np.int32]],
    cells: Cells,
    *,
    node: NDArray[np.int32] | None = None,
    domains: tuple[Domain, ...] | None = None,
    facts: dict[str, Any] | None = None,
) -> tuple[Recoding, NDArray[np.int64]]:
    """Return the recoding of classes that were counted on Spark, and where each class went.

    Args:
        table: what was searched.
        boxes: of the classes.
        cells: their records.
        node: see `Recoding`.
        domains: the table's, where the search gave them ladders.
        facts: of the search.
    """
    low, high = boxes
    coded = table.coded
    known = table.hollow.domains if domains is None else domains
    corner = np.append(low, np.zeros((1, low.shape[1]), dtype=np.int32), axis=0)
    codes = corner[cells.label]
    sizes = [len(domain) for domain in (*known, *coded.sensitive_domains)]
    order = sort_rows(np.concatenate((codes, cells.sensitive), axis=1), sizes)
    counts = cells.counts[order]
    rows = FrequencyTable(
        domains=known,
        codes=np.ascontiguousarray(codes[order]),
        counts=counts,
        sensitive_domains=coded.sensitive_domains,
        sensitive=np.ascontiguousarray(cells.sensitive[order]),
    )
    label = cells.label[order]
    pieces = (np.arange(len(order)), label, counts)
    recoding = recoding_of(rows, low, high, pieces, node=node, facts=facts)
    final = np.full(len(low) + 1, SUPPRESSED, dtype=np.int64)
    final[label] = recoding.label
    return recoding, final


def assign_homes(coded: Coded, rows: DataFrame, numbers: dict[int, NDArray[np.int64]]) -> DataFrame:
    """Return piles of keys with the numbers of their classes.

    Args:
        coded: the table.
        rows: piles of keys with their `home`, and their class there as `labels`.
        numbers: of each home, the number of its classes; of -1 the last one. Rows of other
            homes are left out.
    """
    known = coded.source.session.sparkContext.broadcast(numbers)
    names = coded.packing.names
    keys = ", ".join(f"{name} binary" for name in names)
    asked = rows.select("home", *names, ROWS, "labels")
    return asked.mapInArrow(_numberer(names, known), f"{keys}, {PLACES} binary, {ROWS} binary")


def _numberer(names: Sequence[str], known: Any) -> Work:
    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            homes = batch.column("home").to_pylist()
            piles = arrays(batch, [*names, ROWS, "labels"])
            for home, (*keys, counts, labels) in zip(homes, piles, strict=True):
                if home in known.value:
                    own = dict(zip(names, keys, strict=True))
                    yield pile({**own, PLACES: known.value[home][labels], ROWS: counts})

    return work
