"""Which engine a table belongs to; Spark is not loaded for a table that is not Spark's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from shoal.engines import choose
from shoal.engines.choose import engine_for
from shoal.engines.local.engine import LocalEngine
from shoal.formats.csv_file import CsvFile
from shoal.formats.database import Database
from shoal.formats.spark_table import SparkTable

pytestmark = pytest.mark.local("asks which engine it is")

TABLES = [
    "t.csv", Path("t.parquet"), CsvFile("t.csv", encoding="cp1252"), pl.DataFrame({"a": [1]}),
    pl.LazyFrame({"a": [1]}), Database(uri="sqlite:///ward.db", table="t"), None, 7,
]  # fmt: skip


@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__name__)
def test_what_is_not_sparks_is_local(table):
    """What is no table at all is refused by the engine that opens it, not here."""
    assert isinstance(engine_for(table), LocalEngine)


def test_a_table_of_sparks_asks_for_spark(monkeypatch):
    pytest.importorskip("pyspark", reason="the package pyspark is not installed")
    asked = []
    monkeypatch.setattr("shoal.engines.spark.session.require", lambda: asked.append("require"))
    assert engine_for(SparkTable("t.parquet")).name == "spark"

    class DataFrame:
        """Known by where its class lives, so that Spark need not be loaded to ask."""

    DataFrame.__module__ = "pyspark.sql.classic.dataframe"
    assert engine_for(DataFrame()).name == "spark"
    assert asked == ["require", "require"]


def test_spark_is_loaded_only_for_its_own_tables():
    source = str(Path(choose.__file__).resolve().parents[2])
    asked = (
        "import sys; from shoal.engines.choose import engine_for; engine_for('t.csv');"
        "sys.exit(any(name.split('.')[0] in ('pyspark', 'py4j') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", asked], env={"PYTHONPATH": source, "PATH": ""})
    assert done.returncode == 0
