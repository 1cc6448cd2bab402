"""Inference on a Polars scan: columns and rows are counted, presets are applied."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import date

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.column_facts import column_facts, row_codes
from shoal.engines.local.source import Source
from shoal.inference.infer import MAX_SIZE, SECONDS, THRESHOLD, Inference, infer_columns
from shoal.inference.presets import Preset, Rule, Step
from shoal.schema.safe_harbor import OLDEST, SMALL_ZIPS

_ROWS = "\x00rows"


def infer(
    source: Source,
    *,
    max_size: int = MAX_SIZE,
    seconds: float | None = SECONDS,
    threshold: float = THRESHOLD,
    threads: int | None = None,
) -> Inference:
    """Judge every column of a table and find the sets of columns that identify people.

    The arguments are those of `infer_columns`.

    Raises:
        InputError: the table has no record.
    """
    started = time.monotonic()
    lazy = source.scan(source.columns, coded=source.columns)
    if source.fits_memory():
        lazy = source.collect(lazy).lazy()

    def distinct_rows(names: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        grouped = source.collect(lazy.group_by(names).agg(pl.len().alias(_ROWS)))
        return row_codes(grouped, names), grouped[_ROWS].to_numpy().astype(np.int64)

    return infer_columns(
        source.where,
        [column_facts(name, count_values(source, lazy, name)) for name in source.columns],
        distinct_rows,
        max_size=max_size,
        seconds=seconds,
        threshold=threshold,
        threads=threads,
        started=started,
    )


def count_values(source: Source, lazy: pl.LazyFrame, name: str) -> pl.DataFrame:
    """Count how often each value of a column occurs."""
    return source.collect(lazy.group_by(name).agg(source.records.alias(_ROWS)))


def preset_frame(source: Source, preset: Preset) -> pl.LazyFrame:
    """Return the table after the steps of a preset; removed columns are gone.

    Values that a step cannot read become missing (dates, ages) or "000" (zip codes): what
    is not understood is not passed on.
    """
    names = [rule.column for rule in preset.rules if rule.step is not Step.REMOVE]
    lazy = source.scan(names)
    types = lazy.collect_schema()
    steps = [
        _step(rule, types[rule.column], preset.as_of)
        for rule in preset.rules
        if rule.step not in (Step.REMOVE, Step.KEEP)
    ]
    return lazy.with_columns(*steps)


def _step(rule: Rule, dtype: pl.DataType, as_of: date) -> pl.Expr:
    column = pl.col(rule.column)
    text = column.cast(pl.String).str.strip_chars()
    if rule.step is Step.TOP_AGE:
        age = text.cast(pl.Float64, strict=False).floor()
        valid = age.is_between(0, 150)
        return (
            pl.when(valid & (age > OLDEST)).then(pl.lit(f"{OLDEST + 1}+"))
            .when(valid).then(age.cast(pl.Int64, strict=False).cast(pl.String))
            .otherwise(None).alias(rule.column)
        )  # fmt: skip
    if rule.step is Step.ZIP3:
        padded = pl.when(dtype.is_integer()).then(text.str.zfill(5)).otherwise(text)
        area = padded.str.extract(r"^(\d{3})\d{2}(-?\d{4})?$", 1)
        small = area.is_in(list(SMALL_ZIPS))
        coarse = pl.when(small | area.is_null()).then(pl.lit("000")).otherwise(area)
        return (
            pl.when(text.is_null() | (text == "")).then(None).otherwise(coarse).alias(rule.column)
        )
    year = _year(rule, dtype, text)
    if rule.step is Step.YEAR:
        return year.alias(rule.column)
    last = as_of.year - OLDEST - 1
    return (
        pl.when(year <= last).then(pl.lit(f"<={last}"))
        .when(year <= as_of.year).then(year.cast(pl.String))
        .otherwise(None).alias(rule.column)
    )  # fmt: skip


def _year(rule: Rule, dtype: pl.DataType, text: pl.Expr) -> pl.Expr:
    if dtype.is_temporal():
        return pl.col(rule.column).dt.year().cast(pl.Int64)
    if rule.date_format is not None:
        return text.str.to_datetime(rule.date_format, strict=False).dt.year().cast(pl.Int64)
    return text.str.extract(r"^(\d{4})(\.0*)?(-|$)", 1).cast(pl.Int64, strict=False)
