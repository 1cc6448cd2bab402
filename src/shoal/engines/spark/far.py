"""Frequency tables that stay on Spark, and what a search over one hands back.

Only classes come to the driver: a `Far` recoding stands on a table whose rows are its
classes, and the class of every distinct tuple stays in a table of Spark's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from shoal.core.errors import InputError
from shoal.core.report import Risk
from shoal.engines.spark.coding import Packing, small
from shoal.engines.spark.frequencies import ROWS, Coded
from shoal.methods.frequency import FrequencyTable, sort_rows
from shoal.methods.recoding import Recoding, recoding_of

DRIVER_ROWS = 5_000_000  # distinct tuples that are brought to the driver


@dataclass(frozen=True)
class FarTable:
    """A frequency table on Spark.

    Attributes:
        counts: keys and how many records have them; kept by Spark between jobs.
        hollow: a table with all the records at one place: it knows the domains, the number
            of records and how each sensitive column is spread, and no tuple.
    """

    coded: Coded
    counts: DataFrame = field(repr=False)
    rows: int
    hollow: FrequencyTable
    risk: Risk

    @classmethod
    def of(cls, coded: Coded, counts: DataFrame, rows: int) -> FarTable:
        """Look at a frequency table without moving it: two jobs of sums."""
        names = coded.packing.names
        if not counts.where(F.greatest(*[F.col(n).isNull() for n in [*names, *names]])).isEmpty():
            raise InputError(
                where=coded.source.where,
                problem="holds a value that was not there before; did the table change meanwhile?",
            )
        width = len(coded.domains)
        codes = codes_of(coded.packing)
        whole = []
        for j, domain in enumerate(coded.sensitive_domains):
            summed = counts.groupBy(codes[width + j].alias("code")).agg(F.sum(ROWS).alias(ROWS))
            found = coded.source.polars(summed)
            totals = np.zeros(len(domain), dtype=np.int64)
            totals[found["code"].to_numpy()] = found[ROWS].to_numpy()
            whole.append(totals)
        tuples = counts.groupBy(*[codes[j].alias(f"c{j}") for j in range(width)])
        sizes = tuples.agg(F.sum(ROWS).alias(ROWS)) if coded.sensitive_domains else counts
        told = coded.source.polars(
            sizes.agg(
                F.sum(ROWS).alias("records"),
                F.count(F.lit(1)).alias("classes"),
                F.min(ROWS).alias("least"),
                F.sum((F.col(ROWS) == 1).cast("long")).alias("unique"),
            )
        ).row(0, named=True)
        coded.check_records(int(told["records"]))
        sensitive, amounts = _side_by_side(whole, int(told["records"]))
        hollow = FrequencyTable(
            domains=coded.domains,
            codes=np.zeros((len(amounts), width), dtype=np.int32),
            counts=amounts,
            sensitive_domains=coded.sensitive_domains,
            sensitive=sensitive,
            whole=tuple(whole),
        )
        risk = Risk(
            records=int(told["records"]), classes=int(told["classes"]),
            smallest_class=int(told["least"]), unique=int(told["unique"]),
        )  # fmt: skip
        return cls(coded, counts, rows, hollow, risk)


def _side_by_side(
    whole: Sequence[NDArray[np.int64]], records: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return rows of sensitive codes that have these histograms, column by column."""
    ends = [np.cumsum(counts) for counts in whole]
    cuts = np.unique(np.concatenate([*ends, [0, records]]))
    rows = np.empty((len(cuts) - 1, len(whole)), dtype=np.int32)
    for s, end in enumerate(ends):
        rows[:, s] = np.searchsorted(end, cuts[:-1], side="right")
    return rows, np.diff(cuts).astype(np.int64)


def codes_of(packing: Packing) -> list[Column]:
    """Return the code of each column as an expression over the keys."""
    found: list[Column] = []
    for name, group in zip(packing.names, packing.groups, strict=True):
        step = 1
        here = []
        for j in reversed(group):
            size = max(packing.sizes[j], 1)
            here.append(F.expr(f"cast(({name} div {step}L) % {size}L as int)"))
            step *= size
        found += here[::-1]
    return found


@dataclass(frozen=True)
class Far:
    """A recoding of a table that stays on Spark.

    Attributes:
        recoding: its table's rows are the classes (and their sensitive values).
        assigned: keys and the class of each.
        kept: what Spark holds for it until it is used.
    """

    recoding: Recoding
    assigned: DataFrame = field(repr=False)
    kept: tuple[DataFrame, ...] = field(default=(), repr=False)


def far_recoding(
    table: FarTable,
    found: pl.DataFrame,
    *,
    home: Sequence[str],
    assigned: DataFrame,
    node: NDArray[np.int32] | None = None,
    facts: dict[str, object] | None = None,
) -> Far:
    """Return the recoding of classes that were counted on Spark.

    Args:
        table: what was searched.
        found: a row a class and sensitive tuple: its `home`, low0 …, high0 …, s0 …, rows.
        home: the columns that name a class.
        assigned: keys, and the home of each.
        node: for full-domain recoding, the node of each row of `found`.
        facts: what the method says.
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
    nodes = None
    if node is not None:
        nodes = np.empty((classes.height, width), dtype=np.int32)
        nodes[number] = node
    pieces = (np.arange(len(order)), number[order].astype(np.int64), counts)
    recoding = recoding_of(stand_in, low, high, pieces, node=nodes, facts=dict(facts or {}))
    final = np.empty(classes.height, dtype=np.int32)
    final[number[order][recoding.row]] = recoding.label
    known = classes.select(home).with_columns(pl.Series("class", final))
    names = coded.packing.names
    placed = assigned.join(small(coded.source, known), list(home), "inner")
    return Far(recoding, placed.select(*names, "class"))


def _matrix(frame: pl.DataFrame, name: str, width: int) -> NDArray[np.int32]:
    found = np.empty((frame.height, width), dtype=np.int32)
    for j in range(width):
        found[:, j] = frame[f"{name}{j}"].to_numpy()
    return found
