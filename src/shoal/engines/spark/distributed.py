"""Frequency tables that stay on Spark, and what a search over one hands back.

Only classes come to the driver: the recoding of a `DistributedRecoding` stands on a table whose
rows are its classes, and the class of every distinct tuple stays in a table of Spark's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.documents import Document
from shoal.engines.spark.arrange import PLACES
from shoal.engines.spark.chunks import (
    PART,
    ROWS,
    Codes,
    Ints,
    Totals,
    chunk_arrays,
    chunk_of,
    chunk_schema,
    decode_chunks,
    sum_equal_keys,
)
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.frequencies import Coded
from shoal.reports.release import Risk
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable, sort_rows
from shoal.table.recoding import SUPPRESSED, Recoding, recoding_of

DRIVER_ROWS = 5_000_000  # distinct tuples that are collected on the driver
LABELS = "labels"  # the class of each key, as its partition numbers them

Histograms = tuple[Ints, ...]  # of each column: the records that have each code
Increments = Iterator[tuple[Ints, Ints]]  # counters, what each gets


@dataclass(frozen=True)
class DistributedFrequencies:
    """A frequency table on Spark.

    Attributes:
        chunks: keys and how many records have them; persisted between jobs.
        summary: a table with all the records at one tuple: it knows the domains, the number
            of records and how each sensitive column is spread, and no tuple.
    """

    coded: Coded
    chunks: DataFrame = field(repr=False)
    rows: int
    commonest: int  # records of the commonest tuple
    summary: FrequencyTable
    risk: Risk

    @classmethod
    def of(cls, coded: Coded, chunks: DataFrame, totals: Totals) -> DistributedFrequencies:
        """Summarize a frequency table without moving it."""
        coded.check_records(totals.records)
        width = len(coded.domains)
        sizes = [len(domain) for domain in coded.sensitive_domains]
        whole = column_histograms(coded, chunks, first=width, sizes=sizes)
        sensitive, amounts = rows_with_histograms(whole, totals.records)
        codes = np.append(np.zeros((len(amounts), width), dtype=np.int32), sensitive, axis=1)
        summary = table_of(coded.domains, coded.sensitive_domains, codes, amounts, whole)
        risk = Risk(
            records=totals.records, classes=totals.tuples, smallest_class=totals.rarest,
            unique=totals.unique,
        )  # fmt: skip
        return cls(coded, chunks, totals.rows, totals.commonest, summary, risk)


@dataclass(frozen=True)
class CodeCounter:
    """Adds up counters over coded rows, each task over its own.

    Attributes:
        size: how many counters there are.
        increments: gives, for coded rows and their records, counters and what to add to them.
    """

    packing: Packing
    size: int
    increments: Callable[[Codes, Ints], Increments]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count; this runs where the rows are."""
        sums = np.zeros(self.size, dtype=np.int64)
        for codes, counts in decode_chunks(self.packing, batches):
            for counter, amount in self.increments(codes, counts):
                np.add.at(sums, counter, amount)
        there = np.flatnonzero(sums)
        if len(there):
            columns = [pa.array(there), pa.array(sums[there])]
            yield pa.RecordBatch.from_arrays(columns, names=["counter", "n"])

    def count(self, coded: Coded, chunks: DataFrame) -> Ints:
        """Return the counters of all rows: one job."""
        counted = chunks.select(*self.packing.names, ROWS).mapInArrow(self, "counter long, n long")
        found = coded.source.polars(counted.groupBy("counter").agg(F.sum("n").alias("n")))
        counters = np.zeros(self.size, dtype=np.int64)
        counters[found["counter"].to_numpy()] = found["n"].to_numpy()
        return counters


def column_histograms(
    coded: Coded, chunks: DataFrame, *, first: int, sizes: Sequence[int]
) -> Histograms:
    """Return, of each column from `first` on, the records that have each code: one job."""

    def increments(codes: Codes, counts: Ints) -> Increments:
        start = 0
        for j, size in enumerate(sizes):
            yield start + codes[:, first + j].astype(np.int64), counts
            start += size

    if not sizes:
        return ()
    counter = CodeCounter(coded.packing, sum(sizes), increments)
    return split_columns(counter.count(coded, chunks), sizes)


def split_columns(counters: Ints, sizes: Sequence[int]) -> Histograms:
    """Return the counters of each column."""
    return tuple(np.split(counters, np.cumsum(sizes)[:-1]))


def rows_with_histograms(whole: Sequence[Ints], records: int) -> tuple[Codes, Ints]:
    """Return rows of sensitive codes that have these histograms, column by column."""
    ends = [np.cumsum(counts) for counts in whole]
    cuts = np.unique(np.concatenate([*ends, [0, records]]))
    rows = np.empty((len(cuts) - 1, len(whole)), dtype=np.int32)
    for s, end in enumerate(ends):
        rows[:, s] = np.searchsorted(end, cuts[:-1], side="right")
    return rows, np.diff(cuts).astype(np.int64)


@dataclass(frozen=True)
class DistributedRecoding:
    """A recoding of a table that stays on Spark.

    Attributes:
        recoding: its table's rows are the classes (and their sensitive values).
        assign: given a number for every class (and a last one for suppressed records),
            returns chunks of keys, these numbers as `places`, and how many records of the key
            have each as `rows`.
        shares_keys: whether a key may be in several classes.
        persisted: what Spark holds for it until it is used.
        lacks_sensitive: the recoding knows its classes without their sensitive values.
    """

    recoding: Recoding
    assign: Callable[[Ints], DataFrame] = field(repr=False)
    shares_keys: bool = False
    persisted: tuple[DataFrame, ...] = field(default=(), repr=False)
    lacks_sensitive: bool = False

    def with_classes(self, after: Recoding) -> DistributedRecoding:
        """Return the same with other classes, given as a recoding of the same table of classes."""
        before, assign = self.recoding, self.assign
        merged = np.full(before.classes + 1, SUPPRESSED, dtype=np.int64)
        merged[before.label] = after.label
        return replace(self, recoding=after, assign=lambda numbers: assign(numbers[merged]))

    @property
    def labelled(self) -> DataFrame:
        """Return chunks of keys with the number of their class, -1 where suppressed."""
        return self.assign(np.append(np.arange(self.recoding.classes), SUPPRESSED))


class ClassHistograms(NamedTuple):
    """How many records a class has of each combination of sensitive values."""

    label: Ints  # -1: suppressed
    sensitive: Codes
    counts: Ints


def class_histograms(
    label: Ints, sensitive: Codes, counts: Ints, sizes: Sequence[int]
) -> ClassHistograms:
    """Count records by class and sensitive values; sizes: of the sensitive columns."""
    packing = Packing((int(label.max(initial=-1)) + 2, *sizes))
    rows = np.concatenate(((label + 1)[:, None].astype(np.int32), sensitive), axis=1)
    keys, records = sum_equal_keys(packing.pack(rows), counts)
    found = packing.unpack(keys)
    return ClassHistograms(found[:, 0].astype(np.int64) - 1, found[:, 1:], records)


def recoding_of_classes(
    table: DistributedFrequencies,
    boxes: tuple[Codes, Codes],
    histograms: ClassHistograms,
    *,
    node: Codes | None = None,
    domains: tuple[Domain, ...] | None = None,
    facts: Document | None = None,
) -> tuple[Recoding, Ints]:
    """Return the recoding of classes that were counted on Spark, and the number each class has.

    Args:
        table: what was searched.
        boxes: low and high corners of the classes.
        histograms: their records.
        node: see `Recoding`.
        domains: the table's, where the search gave them ladders.
        facts: of the search.
    """
    low, high = boxes
    known = table.summary.domains if domains is None else domains
    corner = np.append(low, np.zeros((1, low.shape[1]), dtype=np.int32), axis=0)
    codes = np.concatenate((corner[histograms.label], histograms.sensitive), axis=1)
    rows, order = sorted_table(known, table.coded.sensitive_domains, codes, histograms.counts)
    label = histograms.label[order]
    shares = (np.arange(len(order)), label, rows.counts)
    recoding = recoding_of(rows, low, high, shares, node=node, facts=facts)
    final = np.full(len(low) + 1, SUPPRESSED, dtype=np.int64)
    final[label] = recoding.label
    return recoding, final


def table_of(
    domains: tuple[Domain, ...],
    sensitive_domains: tuple[Domain, ...],
    codes: Codes,
    counts: Ints,
    whole: Histograms | None = None,
) -> FrequencyTable:
    """Return a frequency table; codes: int32[rows, columns], the sensitive columns last."""
    return FrequencyTable(
        domains=domains,
        codes=np.ascontiguousarray(codes[:, : len(domains)]),
        counts=counts,
        sensitive_domains=sensitive_domains,
        sensitive=np.ascontiguousarray(codes[:, len(domains) :]),
        whole=whole,
    )


def sorted_table(
    domains: tuple[Domain, ...], sensitive_domains: tuple[Domain, ...], codes: Codes, counts: Ints
) -> tuple[FrequencyTable, Ints]:
    """Return rows as a frequency table (see `table_of`), and the order it puts them in."""
    order = sort_rows(codes, [len(domain) for domain in (*domains, *sensitive_domains)])
    return table_of(domains, sensitive_domains, codes[order], counts[order]), order


def with_class_numbers(coded: Coded, chunks: DataFrame, numbers: dict[int, Ints]) -> DataFrame:
    """Return chunks of keys with the numbers of their classes, as `DistributedRecoding.assign`.

    Args:
        coded: the table.
        chunks: keys with their partition, and their class there as `labels`.
        numbers: of each partition, the numbers of its classes; the last one is that of
            label -1. Keys of other partitions are left out.
    """
    sent = coded.source.session.sparkContext.broadcast(numbers)
    packing = coded.packing

    def renumber(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            each = chunk_arrays(batch, [*packing.names, ROWS, LABELS])
            for part, (*keys, counts, labels) in zip(
                batch.column(PART).to_pylist(), each, strict=True
            ):
                if part in sent.value:
                    places = sent.value[part][labels]
                    yield chunk_of({**packing.named(keys), PLACES: places, ROWS: counts})

    asked = chunks.select(PART, *packing.names, ROWS, LABELS)
    return asked.mapInArrow(renumber, chunk_schema([*packing.names, PLACES, ROWS]))
