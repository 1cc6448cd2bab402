"""Kept columns of a table on Spark: counted there, a sample of bounded size examined here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from shoal.engines.column_facts import column_facts
from shoal.engines.spark.source import SparkSource
from shoal.inference.column import MARKS, ColumnFacts
from shoal.inference.kept import CLOSE, ROWS, KeptCheck

_NESTED = ("array", "map", "struct", "binary", "variant")


def check_kept(source: SparkSource, names: Sequence[str], waived: Sequence[str]) -> KeptCheck:
    """Ask of every kept column whether it says by itself who a record is."""
    plain = [name for name in names if not is_nested(source, name)]
    return KeptCheck.of(_facts(source, plain), waived)


def is_nested(source: SparkSource, name: str) -> bool:
    """Say whether values are lists, structures or bytes, which are not looked into."""
    return source.frame.schema[source.name(name)].dataType.typeName() in _NESTED


def _facts(source: SparkSource, names: Sequence[str]) -> list[ColumnFacts]:
    if not names:
        return []
    values = [_present(source, name) for name in names]
    asked = [F.count(F.lit(1)).alias("records")]
    asked += [F.count(value).alias(f"p{i}") for i, value in enumerate(values)]
    asked += [F.approx_count_distinct(value).alias(f"d{i}") for i, value in enumerate(values)]
    counted = source.polars(source.frame.agg(*asked)).row(0, named=True)
    many = [i for i in range(len(names)) if counted[f"d{i}"] >= CLOSE * counted[f"p{i}"]]
    if many:
        exact = [F.count_distinct(values[i]).alias(f"d{i}") for i in many]
        counted |= source.polars(source.frame.agg(*exact)).row(0, named=True)
    records = int(counted["records"])
    rows = source.frame.select(*(source.value(n).alias(f"v{i}") for i, n in enumerate(names)))
    if records > ROWS:
        rows = rows.sample(fraction=ROWS / records, seed=1)
    sample = source.polars(rows)
    sample.columns = list(names)
    found = []
    for i, name in enumerate(names):
        facts = column_facts(name, sample.group_by(name).len("\x00rows"))
        present = int(counted[f"p{i}"])
        distinct = min(int(counted[f"d{i}"]), present)
        found.append(replace(facts, records=records, missing=records - present, distinct=distinct))
    return found


def _present(source: SparkSource, name: str) -> Column:
    """Return the values of a column, marks of missing ones as null."""
    value = source.value(name)
    text = F.trim(value.cast("string"))
    return F.when(text.isNotNull() & ~text.isin("", *MARKS), value)
