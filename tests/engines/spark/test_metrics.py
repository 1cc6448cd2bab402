"""Measuring a release on Spark: the local engine's document, from cells counted elsewhere."""

from __future__ import annotations

from types import SimpleNamespace

import polars as pl
import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from tests.engines.spark.counted import cells, source_of
from tests.engines.spark.tables import measured_on_spark

from shoal.engines.local import metrics as local
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import open_source
from shoal.engines.spark import metrics as spark
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document(
    {"columns": {"age": {"role": "quasi", "kind": "numeric"}, "ill": "sensitive"}}
)
TABLE = pl.DataFrame({"age": ["1", "2", "3", "4", "9"], "ill": ["a", "b", "a", "b", "a"]})
RELEASE = pl.DataFrame({"age": ["[1, 2]", "[1, 2]", "3", "*"], "ill": ["a", "b", "a", "b"]})


@pytest.mark.parametrize("starred", [None, True, False])
@pytest.mark.parametrize("columns", [("age", "ill"), ("age",)])
def test_both_engines_measure_alike(monkeypatch, starred, columns):
    release = RELEASE.select(columns)

    def code_table(source, schema, *, sensitive):
        opened = open_source(source.table)
        found = frequencies(opened, opened.scan(opened.columns), schema, sensitive=sensitive).table
        return SimpleNamespace(domains=found.domains, sensitive_domains=found.sensitive_domains)

    monkeypatch.setattr(spark, "cells", cells)
    monkeypatch.setattr(spark, "code_table", code_table)
    found = spark.measure_release(
        source_of(TABLE), source_of(release, "r"), SCHEMA, starred=starred
    )
    wanted = local.measure_release(
        open_source(TABLE), open_source(release), SCHEMA, starred=starred
    )
    assert found == measured_on_spark(wanted)
    assert found["records"] == 5
