"""People behind the records, counted on Spark; see the local engine's file of this name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from unicodedata import normalize

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, FloatType, StringType

from shoal.core.errors import MethodError
from shoal.engines.person_key import BETWEEN
from shoal.engines.spark.coding import ColumnCodes
from shoal.engines.spark.source import SparkSource
from shoal.inference.persons import person_column
from shoal.measures.risk.persons import Repeats
from shoal.schema.persons import NOBODY as WORDS
from shoal.schema.schema import Role, Schema
from shoal.schema.sensitive import EDGES
from shoal.table.frequency import NOBODY, ONCE

PERSON = "person"  # who a record is about, beside the plain names of a table's columns
_MOST = 2**31 - 1  # rows that Spark can be asked for
_WHOLE = 1e16  # below it, the local engine writes whole numbers of a float without an exponent


def repeating(source: SparkSource, schema: Schema) -> tuple[str, tuple[int, int]] | None:
    """Return the identifying column that says whose a record is, and its counts."""
    names = [name for name in schema.named(Role.IDENTIFYING) if name in source.columns]
    if not names:
        return None
    who = [present(source, name, schema.missing) for name in names]
    asked = [F.count(each).alias(f"p{i}") for i, each in enumerate(who)]
    asked += [F.count_distinct(each).alias(f"d{i}") for i, each in enumerate(who)]
    row = source.polars(source.frame.agg(*asked)).row(0, named=True)
    counted = {name: (int(row[f"d{i}"]), int(row[f"p{i}"])) for i, name in enumerate(names)}
    found = person_column(counted)
    return None if found is None else (found, counted[found])


def present(source: SparkSource, name: str, marks: Sequence[str]) -> Column:
    """Return who a record is about as a text; a missing value is nobody."""
    text = F.btrim(_text(source, name), F.lit(EDGES))
    if not _is_ascii(source, name):  # Spark has no normal forms of its own
        text = F.btrim(F.udf(_composed, "string")(text), F.lit(EDGES))
    is_nobody = F.lower(text).isin(*WORDS)
    return F.when(~(is_nobody | text.isin(*marks) if marks else is_nobody), text)


def _composed(text: str | None) -> str | None:
    """Return the normal form of a text; runs in Spark's workers, and meets its nulls."""
    return None if text is None else normalize("NFC", text)


def _is_ascii(source: SparkSource, name: str) -> bool:
    """Say whether a column has no text that could be written in two ways."""
    column = source.name(name)
    if not isinstance(source.frame.schema[column].dataType, StringType):
        return True
    return bool(source.frame.where(F.col(column).rlike(r"[^\x00-\x7f]")).isEmpty())


def _text(source: SparkSource, name: str) -> Column:
    """Return a column's values as the local engine writes them; numbers decide the order."""
    value = F.col(source.name(name))
    if not isinstance(source.frame.schema[source.name(name)].dataType, (DoubleType, FloatType)):
        return value.cast("string")
    is_whole = (value == F.floor(value)) & (F.abs(value) < _WHOLE)
    return F.when(is_whole, F.concat(value.cast("long").cast("string"), F.lit(".0"))).otherwise(
        value.cast("string")
    )


def with_person(source: SparkSource, names: Sequence[str], marks: Sequence[str]) -> SparkSource:
    """Return a table with the key of who each record is about (PERSON) beside its columns.

    It is null where a part of it is missing; see `engines.person_key`.
    """
    source.check(names)
    parts = [present(source, name, marks) for name in names]
    key = parts[0]
    for part in parts[1:]:  # a null in any part makes the whole null
        key = F.concat(key, F.lit(BETWEEN), part)
    return replace(source, frame=source.frame.withColumn(PERSON, key))


def code_persons(source: SparkSource, *, most: int) -> ColumnCodes:
    """Return the codes of a table's persons: only who has several records needs one of their own.

    source: with its persons. They are numbered by their texts, as the local engine does it.

    Raises:
        MethodError: more than `most` persons have several records.
    """
    counted = source.frame.groupBy(PERSON).agg(F.count(F.lit(1)).alias("n"))
    several = counted.where(F.col(PERSON).isNotNull() & (F.col("n") > 1)).select(PERSON)
    asked = several.limit(min(most + 1, _MOST))
    found = source.polars(asked)[PERSON].sort()
    if found.len() > most:
        raise too_many_persons(f"more than {most:,} persons have several records", most)
    codes = np.arange(found.len(), dtype=np.int32) - NOBODY
    return ColumnCodes(
        PERSON, found, codes, 0, int(found.len() - NOBODY), at=F.col(PERSON),
        other=int(ONCE - NOBODY),
    )  # fmt: skip


def too_many_persons(what: str, most: int) -> MethodError:
    """Return the error of a table whose persons cannot be counted on the driver."""
    return MethodError(
        problem=f"{what}, and persons are counted on the driver, which takes {most:,} distinct "
        "rows: allow more with --driver-rows, or take the local engine"
    )


def count_people(
    source: SparkSource, classed: DataFrame, by: Sequence[str], k: int
) -> tuple[int, int, int]:
    """Return classes with fewer than k people, their records, and classes with one or none.

    classed: records with what classes have in common, `by`, and `who`.
    """
    few = F.col("people") < k
    counted = classed.groupBy(*by).agg(
        F.count_distinct("who").alias("people"), F.count(F.lit(1)).alias("records")
    )
    found = counted.agg(
        F.count(F.when(few, 1)).alias("classes"),
        F.coalesce(F.sum(F.when(few, F.col("records"))), F.lit(0)).alias("records"),
        F.count(F.when(F.col("people") <= 1, 1)).alias("single"),
    )
    row = source.polars(found).row(0, named=True)
    return int(row["classes"]), int(row["records"]), int(row["single"])


def repeats_as_it_stands(source: SparkSource, schema: Schema, k: int) -> Repeats | None:
    """Count the people of a table's own classes."""
    found = repeating(source, schema)
    if found is None:
        return None
    column, counted = found
    by = [f"g{j}" for j in range(len(schema.quasi))]
    cells = [source.value(name).alias(g) for name, g in zip(schema.quasi, by, strict=True)]
    who = present(source, column, schema.missing).alias("who")
    few = count_people(source, source.frame.select(*cells, who), by, k)
    return Repeats.counted(column, counted, k, few)
