"""Inference on Spark: columns are counted there and judged here by the local engine's lines."""

from __future__ import annotations

import time

import numpy as np
import polars as pl
from pyspark.sql import functions as F

from shoal.core.errors import InputError
from shoal.engines.local.infer import (
    MAX_SIZE,
    SECONDS,
    THRESHOLD,
    Inference,
    dense_codes,
    facts_of,
)
from shoal.engines.spark.frequencies import cells
from shoal.engines.spark.piles import ROWS
from shoal.engines.spark.source import SparkSource
from shoal.methods.infer.column import ColumnFacts
from shoal.methods.infer.roles import decide
from shoal.methods.infer.sets import ColumnSet, find_sets, with_single_columns


def infer(
    source: SparkSource,
    *,
    max_size: int = MAX_SIZE,
    seconds: float | None = SECONDS,
    threshold: float = THRESHOLD,
) -> Inference:
    """Judge every column and find the sets of columns that identify people.

    Raises:
        InputError: the table has no record.
    """
    started = time.monotonic()
    source.check(source.columns)
    columns = tuple(column_facts(source, name) for name in source.columns)
    if not columns or not columns[0].records:
        raise InputError(where=source.where, problem="the table has a header but no record")
    singles = [
        ColumnSet(columns=(i,), residual_entropy=left, distinction=share, separation=apart)
        for i, (left, share, apart) in enumerate(column.alone for column in columns)
        if left < threshold or left == 0
    ]
    rest = [i for i in range(len(columns)) if not any(s.columns == (i,) for s in singles)]
    codes, counts = np.zeros((0, 0), dtype=np.int32), np.zeros(0, dtype=np.int64)
    if rest:
        grouped = source.polars(cells(source, [columns[i].name for i in rest]))
        grouped = grouped.sort(grouped.columns[:-1], nulls_last=False)
        codes = np.stack([dense_codes(grouped[f"g{j}"]) for j in range(len(rest))], axis=1)
        counts = grouped[ROWS].to_numpy().astype(np.int64)
    search = find_sets(codes, counts, max_size=max_size, threshold=threshold, seconds=seconds)
    return Inference(
        where=source.where,
        records=columns[0].records,
        columns=columns,
        verdicts={column.name: decide(column) for column in columns},
        search=with_single_columns(search, rest, singles),
        max_size=max_size,
        threshold=threshold,
        seconds=time.monotonic() - started,
    )


def column_facts(source: SparkSource, name: str) -> ColumnFacts:
    """Count one column there, and look at its distinct values here."""
    value = source.value(name).alias("text")
    grouped = source.frame.select(value).groupBy("text").agg(F.count(F.lit(1)).alias(ROWS))
    counted = source.polars(grouped)
    dtype = counted["text"].dtype
    texts = counted.select(pl.col("text").cast(pl.String), pl.col(ROWS))
    return facts_of(name, texts.sort("text", nulls_last=False), dtype)
