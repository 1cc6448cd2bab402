"""Round labels on Spark: the bytes of the local engine, wherever the tuples are."""

from __future__ import annotations

import pytest
from tests.engines.spark.tables import PROMISE

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from tests.engines.spark.tables import frame, schema, without_cuts

from shoal import api


@pytest.mark.sampled
@pytest.mark.parametrize(("method", "rows"), [("bestcut", 10_000), ("mondrian", 10)])
def test_round_labels_are_those_of_the_local_engine(spark, tmp_path, method, rows):
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    asked = {"privacy": PROMISE, "method": method, "labels": "round"}
    wanted = api.anonymize(frame(), schema(), **asked)
    wanted.table.write_csv(here)
    made = api.anonymize(api.SparkTable(frame(), driver_rows=rows), schema(), **asked, out=there)
    assert there.read_bytes() == here.read_bytes()
    assert "–" in here.read_text(encoding="utf-8")
    assert made.report.utility == wanted.report.utility
    assert made.report.facts["printed"]["ends"] == 0
    measured = api.metrics(api.SparkTable(frame()), there, schema(), starred=False)
    assert measured["utility"]["ncp"] == pytest.approx(made.report.utility["ncp"])


def test_a_model_with_round_labels_is_that_of_the_local_engine(spark):
    """Where the tuples stay on the cluster, its regions are boxes: nobody looks for cuts there."""
    asked = {"privacy": PROMISE, "method": "mondrian", "labels": "round"}
    cut = api.learn(frame(), schema(), **asked)
    there = api.learn(api.SparkTable(frame()), schema(), **asked)
    assert there.to_document() == cut.to_document()
    assert cut.tree is not None
    with without_cuts():
        boxes = api.learn(frame(), schema(), **asked)
    there = api.learn(api.SparkTable(frame(), driver_rows=10), schema(), **asked)
    assert there.to_document() == boxes.to_document()
    assert there.tree is None
