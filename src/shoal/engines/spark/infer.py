"""Inference on Spark: columns and rows are counted there and judged here."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import functions as F

from shoal.engines.column_facts import column_facts, row_codes
from shoal.engines.spark.chunks import ROWS
from shoal.engines.spark.frequencies import cells
from shoal.engines.spark.source import SparkSource
from shoal.inference.infer import MAX_SIZE, SECONDS, THRESHOLD, Inference, infer_columns


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

    def distinct_rows(names: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        grouped = source.polars(cells(source, list(names)))
        grouped = grouped.sort(grouped.columns[:-1], nulls_last=False)
        codes = row_codes(grouped, grouped.columns[:-1])
        return codes, grouped[ROWS].to_numpy().astype(np.int64)

    return infer_columns(
        source.where,
        [column_facts(name, count_values(source, name)) for name in source.columns],
        distinct_rows,
        max_size=max_size,
        seconds=seconds,
        threshold=threshold,
        started=started,
    )


def count_values(source: SparkSource, name: str) -> pl.DataFrame:
    """Count how often each value of a column occurs, in the order of their texts."""
    value = source.value(name).alias("text")
    grouped = source.frame.select(value).groupBy("text").agg(F.count(F.lit(1)).alias(ROWS))
    counted = source.polars(grouped).select("text", ROWS)
    return counted.sort(pl.col("text").cast(pl.String), nulls_last=False)
