"""Codes on Spark: distinct values in one job, a number for each by join, one key a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from shoal.core.errors import InputError
from shoal.engines.spark.source import SparkSource

ROOM = 2**62  # keys stay below it
FEW = 4_000_000  # rows of a look-up table that every executor may hold


def table_changed(where: str) -> InputError:
    """Return the error of a table that is not what it was when its values were collected."""
    return InputError(
        where=where,
        problem="holds a value that was not there before; did the table change meanwhile?",
    )


def distinct_values(source: SparkSource, columns: Sequence[str]) -> list[pl.Series]:
    """Return the distinct values of each column, in one job; a null if it has missing ones."""
    asked = []
    for j, name in enumerate(columns):
        value = source.value(name)
        asked += [F.collect_set(value).alias(f"v{j}"), F.max(value.isNull()).alias(f"n{j}")]
    row = source.polars(source.frame.agg(*asked))
    found = []
    for j, name in enumerate(columns):
        values = row[f"v{j}"].explode(empty_as_null=True).drop_nulls().alias(name)
        if values.dtype == pl.Null:
            values = values.cast(pl.String)
        values = values.unique().sort()  # the order in which tasks end decides nothing
        has_null = bool(row[f"n{j}"][0])
        if has_null:
            values = pl.concat([values, pl.Series(name, [None], dtype=values.dtype)])
        found.append(values)
    return found


@dataclass(frozen=True)
class ColumnCodes:
    """What each raw value of a column becomes.

    Attributes:
        values: the raw values, each once, none of them missing.
        codes: the code of each.
        missing: the code of a missing value; None where there is none.
        size: codes are 0 … size - 1.
        at: the values in the table, where it is not the column as it is counted.
        other: the code of every value that is not among them; None where there is none.
    """

    name: str
    values: pl.Series = field(repr=False)
    codes: NDArray[np.int32] = field(repr=False)
    missing: int | None
    size: int
    at: Column | None = field(default=None, repr=False)
    other: int | None = None


@dataclass(frozen=True)
class Packing:
    """Codes of several columns as few 64-bit keys: columns that fit together share one."""

    sizes: tuple[int, ...]

    @property
    def groups(self) -> list[range]:
        """Return the columns of each key."""
        found: list[range] = []
        start, room = 0, 1
        for j, size in enumerate(self.sizes):
            if room * max(size, 1) >= ROOM and j > start:
                found.append(range(start, j))
                start, room = j, 1
            room *= max(size, 1)
        return [*found, range(start, len(self.sizes))]

    @property
    def names(self) -> list[str]:
        """Return the names of the keys."""
        return [f"key{i}" for i in range(len(self.groups))]

    def expressions(self, codes: Sequence[Column]) -> list[Column]:
        """Return the keys as expressions over the codes."""
        found = []
        for name, group in zip(self.names, self.groups, strict=True):
            key = F.lit(0).cast("long")
            for j in group:
                key = key * F.lit(max(self.sizes[j], 1)) + codes[j]
            found.append(key.alias(name))
        return found

    def pack(self, codes: NDArray[np.int32]) -> list[NDArray[np.int64]]:
        """Return the keys of coded rows, int32[rows, columns]."""
        found = []
        for group in self.groups:
            key = np.zeros(len(codes), dtype=np.int64)
            for j in group:
                key = key * max(self.sizes[j], 1) + codes[:, j]
            found.append(key)
        return found

    def named(self, keys: Sequence[NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
        """Return keys by their names."""
        return dict(zip(self.names, keys, strict=True))

    def unpack(self, keys: Sequence[NDArray[np.int64]]) -> NDArray[np.int32]:
        """Return the codes of keys; `pack` undoes it."""
        rows = len(keys[0]) if keys else 0
        codes = np.empty((rows, len(self.sizes)), dtype=np.int32)
        for key, group in zip(keys, self.groups, strict=True):
            rest = key
            for j in reversed(group):
                rest, code = np.divmod(rest, max(self.sizes[j], 1))
                codes[:, j] = code
        return codes


def broadcast_frame(source: SparkSource, frame: pl.DataFrame) -> DataFrame:
    """Return a small table of the driver as one that joins send to every executor."""
    made = to_spark(source, frame)
    return F.broadcast(made) if frame.height <= FEW else made


def to_spark(source: SparkSource, frame: pl.DataFrame) -> DataFrame:
    """Return a table of the driver as a table of Spark's."""
    return source.session.createDataFrame(frame.to_arrow())


def with_keys(source: SparkSource, columns: Sequence[ColumnCodes], packing: Packing) -> DataFrame:
    """Return the table with its keys beside the columns: a broadcast join a column.

    A key is null where a value is not among the known ones.
    """
    frame = source.frame
    codes = []
    for j, column in enumerate(columns):
        code, value = f"code{j}", f"value{j}"
        known = pl.DataFrame([column.values.alias(value), pl.Series(code, column.codes)])
        at = source.value(column.name) if column.at is None else column.at
        if known.height:
            frame = frame.join(broadcast_frame(source, known), at == F.col(value), "left").drop(
                value
            )
        else:
            frame = frame.withColumn(code, F.lit(None).cast("int"))
        missing = F.lit(column.missing).cast("int")
        found = F.coalesce(F.col(code), F.lit(column.other).cast("int"))
        codes.append(F.when(at.isNull(), missing).otherwise(found).cast("long"))
    plain = source.frame.columns
    return frame.select(*plain, *packing.expressions(codes))
