"""What a table tells of its persons beside who they are, on Spark; see `inference.links`."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from shoal.engines.spark.kept import is_nested
from shoal.engines.spark.persons import PERSON, with_person
from shoal.engines.spark.source import SparkSource
from shoal.inference.kept import KeptColumn
from shoal.inference.links import PersonFacts, groups_of, judge_links
from shoal.schema.persons import SPELLINGS, leaves_nobody_out
from shoal.schema.schema import Schema


def check_links(source: SparkSource, schema: Schema, kept: Sequence[str]) -> tuple[KeptColumn, ...]:
    """Ask of kept columns whether they link the records of a person; nothing without persons."""
    if not schema.person:
        return ()
    beside = with_person(source, schema.person, schema.missing)
    plain = [name for name in kept if not is_nested(source, name)]
    secret = [name for name in plain if name in schema.sensitive]
    others = [name for name in plain if name not in secret]
    facts = person_facts(beside, schema.person, kept=others, sensitive=secret)
    return judge_links(facts, schema.sensitive, promised=leaves_nobody_out(schema.privacy))


def person_facts(
    source: SparkSource, names: Sequence[str], *, kept: Sequence[str], sensitive: Sequence[str]
) -> PersonFacts:
    """Count what kept columns tell of persons, and how these are spelled.

    source: with its persons. names: the columns that say who a record is about.
    kept, sensitive: columns that are released as they are.
    """
    known = F.col(PERSON).isNotNull()
    row = source.polars(
        source.frame.groupBy(PERSON)
        .agg(_records())
        .agg(
            F.count(PERSON).alias("persons"),
            F.count_distinct(_spelling(F.col(PERSON))).alias("spellings"),
            F.sum(F.when(known & (F.col("n") > 1), F.col("n"))).alias("records"),
            F.sum(F.when(~known, F.col("n"))).alias("nobody"),
            F.sum("n").alias("whole"),
        )
    ).row(0, named=True)
    counted = {name: int(number or 0) for name, number in row.items()}
    groups = groups_of(kept, sensitive) if counted["records"] else ()
    linked = {group: _linked(source, group) for group in groups}
    return PersonFacts(names=tuple(names), linked=linked, **counted)


def _records() -> Column:
    return F.count(F.lit(1)).alias("n")


def _spelling(key: Column) -> Column:
    """Return a key without what spellings of one key differ in."""
    text = F.lower(key)
    for pattern, instead in SPELLINGS:
        text = F.regexp_replace(text, pattern, instead)
    return text


def _linked(source: SparkSource, columns: Sequence[str]) -> int:
    """Return the records with a value that several records have, all of one person."""
    values = [source.value(name).alias(f"v{i}") for i, name in enumerate(columns)]
    cells = [f"v{i}" for i in range(len(columns))]
    there = source.frame.select(*values, PERSON).where(F.coalesce(*map(F.col, cells)).isNotNull())
    counted = there.groupBy(*cells).agg(
        _records(), F.count(PERSON).alias("known"), F.min(PERSON).alias("low"),
        F.max(PERSON).alias("high"),
    )  # fmt: skip
    is_alone = (F.col("low") == F.col("high")) & (F.col("known") == F.col("n")) & (F.col("n") > 1)
    row = source.polars(counted.where(is_alone).agg(F.sum("n").alias("n"))).row(0)
    return int(row[0] or 0)
