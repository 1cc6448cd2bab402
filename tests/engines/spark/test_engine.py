"""The engine on Spark: outputs that it refuses before any work is done."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.core.errors import MethodError, OutputError, ShoalError
from shoal.engines.base import Output
from shoal.engines.spark.engine import SparkEngine


def test_the_engine_refuses_what_it_cannot_keep():
    engine = SparkEngine()
    engine.check_output(Output())
    engine.check_output(Output(out="r.parquet"))
    with pytest.raises(MethodError, match="--keep-order needs the local engine"):
        engine.check_output(Output(keep_order=True))


def test_a_place_that_it_does_not_write_is_refused():
    for place in ("r.arrow", "r.docx", "r.csv.gz"):
        with pytest.raises(OutputError, match=place.replace(".", r"\.")):
            SparkEngine().check_output(Output(out=place))
    with pytest.raises(ShoalError, match="spreadsheet"):
        SparkEngine().check_output(Output(out="r.parquet", spreadsheet_safe=True))


def test_a_release_is_opened_as_any_table(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "shoal.engines.spark.engine.open_table",
        lambda table, separator: asked.append((table, separator)),
    )
    SparkEngine().open("t.csv")
    SparkEngine().open_release("r.csv", separator=";")
    assert asked == [("t.csv", None), ("r.csv", ";")]
