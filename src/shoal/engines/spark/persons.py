"""People behind the records, counted on Spark; see the local engine's file of this name."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from shoal.engines.spark.source import SparkSource
from shoal.inference.persons import person_column
from shoal.measures.risk.persons import Repeats
from shoal.schema.schema import Role, Schema


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
    text = F.trim(F.col(source.name(name)).cast("string"))
    return F.when(~text.isin("", *marks), text)


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
