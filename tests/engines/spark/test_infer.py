"""Inference on Spark: the local engine's answer, from columns and rows counted elsewhere."""

from __future__ import annotations

import polars as pl
import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from tests.engines.spark.counted import cells, source_of

from shoal.core.errors import InputError
from shoal.engines.local.infer import infer as infer_here
from shoal.engines.local.source import open_source
from shoal.engines.spark import infer as spark
from shoal.engines.spark.chunks import ROWS

TABLE = pl.DataFrame({
    "name": [f"Person {i}" for i in range(40)], "age": [20 + i % 9 for i in range(40)],
    "zip": [f"1{i % 13:04}" for i in range(40)], "sex": ["f", "m"] * 20,
})  # fmt: skip


def count_values(source, name):
    found = source.table.group_by(pl.col(name).alias("text")).len(ROWS)
    return found.sort(pl.col("text").cast(pl.String))


def asked(monkeypatch, table):
    monkeypatch.setattr(spark, "cells", cells)
    monkeypatch.setattr(spark, "count_values", count_values)
    return spark.infer(source_of(table), seconds=None)


def test_both_engines_infer_alike(monkeypatch):
    found = asked(monkeypatch, TABLE).to_document()
    wanted = infer_here(open_source(TABLE), seconds=None).to_document()
    assert found["columns"] == wanted["columns"]
    assert found["columns"]["name"]["role"] == "identifying"
    names = [set(each["columns"]) for each in wanted["sets"]]
    assert [set(each["columns"]) for each in found["sets"]] == names


def test_a_table_without_a_record_is_refused(monkeypatch):
    with pytest.raises(InputError, match="no record"):
        asked(monkeypatch, TABLE.head(0))
