"""Drawn releases on Spark: the bytes of the local engine, verified on the cluster."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal import api
from shoal.core.errors import MethodError, UnsafeReleaseError
from shoal.engines.drawing import cells
from shoal.engines.spark import drawn as module
from shoal.formats.spark_table import SparkTable


def people(n=300):
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "age": [None if i % 30 == 0 else int(a) for i, a in enumerate(rng.integers(0, 90, n))],
            "fare": np.round(rng.exponential(20, n), 1),
            "zip": [f"{z:05}" for z in rng.integers(0, 90, n)],
            "illness": rng.choice(["flu", "cold, bad", "gout"], n),
        }
    )


WORDS = {"qi": ["age", "fare", "zip"], "categorical": ["zip"], "sensitive": ["illness"], "k": 5,
         "method": "bestcut", "release": "draw", "seed": 4, "attacks": False}  # fmt: skip


def test_files_are_those_of_the_local_engine(spark, tmp_path):
    source = tmp_path / "people.csv"
    people().write_csv(source)
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    api.anonymize(str(source), out=str(here), **WORDS)
    api.anonymize(SparkTable(str(source)), out=str(there), **WORDS)
    assert here.read_bytes() == there.read_bytes()
    told = json.loads((tmp_path / "there.csv-metadata.json").read_text())
    assert "drawn" in told["dc:description"]


def test_a_table_keeps_its_types_and_counts_persons(spark):
    table = people().with_columns(who=pl.Series([i // 2 for i in range(300)]))
    made = api.anonymize(spark.createDataFrame(table.to_arrow()), person="who", **WORDS)
    assert dict(made.table.dtypes) == {
        "age": "bigint", "fare": "double", "zip": "string", "illness": "string",
    }  # fmt: skip
    assert made.table.count() == 300
    assert made.report.persons == 150
    assert "drawn" in made.report.warnings[0]


def test_a_cell_outside_its_label_is_not_published(spark, tmp_path, monkeypatch):
    real = cells.Open.of

    def wrong(*given):
        found = real(*given)
        runs = found.runs.copy()
        runs[:] = 0, len(found.texts)
        return cells.Open(found.texts, found.pool, runs)

    monkeypatch.setattr(cells.Open, "of", wrong)
    table = spark.createDataFrame(people().to_arrow())
    with pytest.raises(UnsafeReleaseError, match="do not lie in their label"):
        api.anonymize(table, out=str(tmp_path / "o.csv"), **WORDS)
    assert not list(tmp_path.iterdir())


def test_more_records_than_the_driver_takes_are_refused(spark, monkeypatch):
    monkeypatch.setattr(module, "MOST_DRAWN", 299)
    with pytest.raises(MethodError, match="up to 299 records"):
        api.anonymize(spark.createDataFrame(people().to_arrow()), **WORDS)


@pytest.mark.nightly
def test_tuples_that_stay_on_the_cluster_are_refused(spark):
    with pytest.raises(MethodError, match="do not fit the driver"):
        api.anonymize(
            SparkTable(spark.createDataFrame(people().to_arrow()), driver_rows=1), **WORDS
        )
