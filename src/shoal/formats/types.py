"""Types of columns: what a frame may hold, and what its values are counted and compared as.

Files of text have none of this. Databases, Parquet, Arrow, pandas and Polars bring types
that a release must neither crash on nor change: a date of Berlin stays the date of Berlin,
a decimal keeps its digits, a 32-bit float has no more of them than it has.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

import polars as pl

from shoal.core.errors import InputError

_WIDE = (pl.Int128, pl.UInt128)  # NumPy has no such integers
_UNIT = {"ms": 1e3, "us": 1e6, "ns": 1e9}


def plain_types(lazy: pl.LazyFrame) -> pl.LazyFrame:
    """Return the frame without wrapped types, and with durations as seconds.

    PostgreSQL's `numeric` comes wrapped around its text.
    """
    changes = []
    for name, dtype in lazy.collect_schema().items():
        column = pl.col(name)
        if isinstance(dtype, pl.BaseExtension):
            column = column.ext.storage()
            changes.append(_no_nan(column) if _is_numeric(dtype) else column)
        elif isinstance(dtype, pl.Duration):
            changes.append(column.to_physical() / _UNIT[dtype.time_unit])
    return lazy.with_columns(changes) if changes else lazy


def _is_numeric(dtype: pl.BaseExtension) -> bool:
    try:
        about = json.loads(dtype.ext_metadata() or "{}")
    except ValueError:
        return False
    return isinstance(about, dict) and about.get("type_name") == "numeric"


def _no_nan(column: pl.Expr) -> pl.Expr:
    """Not a number is a missing value, as it is in a column of floats."""
    return pl.when(column.str.to_lowercase() != "nan").then(column)


def check_types(types: Mapping[str, pl.DataType], columns: Collection[str]) -> None:
    """Refuse columns whose values are no plain ones.

    Raises:
        InputError: a column holds lists, structures, bytes or objects.
    """
    for name in columns:
        dtype = types[name]
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise InputError(
                where=f"column {name!r}",
                problem=(
                    f"holds {dtype.base_type()} values, not plain ones; turn them into text or "
                    "into columns of their own, or leave the column out (others: drop)"
                ),
            )


def counted_as(name: str, dtype: pl.DataType) -> pl.Expr | None:
    """Return what a column is counted as; None: as it is.

    Texts are dictionary-coded, and so is what NumPy cannot hold exactly; NaN is missing; a
    time with a zone is the local time that it shows.
    """
    column = pl.col(name)
    if dtype in (pl.String, pl.Boolean, pl.Null) or dtype.is_decimal() or dtype in _WIDE:
        return column.cast(pl.String).cast(pl.Categorical)
    if dtype.is_float():
        return column.fill_nan(None)
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        return column.dt.replace_time_zone(None)
    return None


def texts_of(series: pl.Series) -> pl.Series:
    """Return the texts that a model reads: local times, to the microsecond."""
    if isinstance(series.dtype, pl.Datetime):
        local = series.dt.replace_time_zone(None)
        return local.dt.to_string("%Y-%m-%d %H:%M:%S%.6f")
    if series.dtype == pl.Time:
        return series.dt.to_string("%H:%M:%S%.6f")
    if series.dtype.is_float():
        series = series.fill_nan(None)
    return series.cast(pl.String)


def holds_dates(dtype: pl.DataType) -> bool:
    """Say whether a column of this type holds dates, whatever nobody declared."""
    return dtype == pl.Date or isinstance(dtype, pl.Datetime)
