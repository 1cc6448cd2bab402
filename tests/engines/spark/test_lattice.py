"""Lattice searches over a table that stays on Spark: the node that the local engine finds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.engines.spark.tasks import Broadcast

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from tests.engines.open_job import open_job, recoding_of
from tests.engines.spark.tables import CLOSE, FEW, PROMISE, frame, schema

import shoal
from shoal import api
from shoal.engines.spark.arrange import PLACES
from shoal.engines.spark.chunks import ROWS, chunk_arrays, chunk_of
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.lattice import RolledUp, _class_finder


def test_lattice_search_by_jobs(spark, tmp_path):
    options = {"method": "flash"}
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    wanted = api.anonymize(frame(), schema(FEW), privacy=PROMISE, **options)
    wanted.table.write_csv(here)
    table = api.SparkTable(frame(), driver_rows=200)
    made = api.anonymize(table, schema(FEW), privacy=PROMISE, out=there, **options)
    assert there.read_bytes() == here.read_bytes()
    assert made.report.facts["levels"] == wanted.report.facts["levels"]
    assert made.report.risk_before == wanted.report.risk_before


def test_nodes_too_large_for_the_driver_are_judged_by_jobs(spark):
    promise, asked = [shoal.KAnonymity(6)], schema(FEW)
    wanted = recoding_of(open_job(frame(), asked, promise, method="flash"))
    there = open_job(api.SparkTable(frame(), driver_rows=20), asked, promise, method="flash")
    found = recoding_of(there)
    assert found.facts == wanted.facts
    assert found.suppressed == wanted.suppressed > 0
    assert (found.sizes == wanted.sizes).all()
    there.counts.close()


def test_what_suppression_leaves_is_what_classes_are_compared_with(spark):
    asked = schema(FEW, suppression_limit=0.3)
    wanted = recoding_of(open_job(frame(), asked, CLOSE, method="flash"))
    there = open_job(api.SparkTable(frame(), driver_rows=200), asked, CLOSE, method="flash")
    found = recoding_of(there)
    there.counts.close()
    assert found.facts == wanted.facts
    assert (found.sizes == wanted.sizes).all()


def test_a_best_node_with_more_classes_than_the_driver_takes(spark, tmp_path):
    options, asked = {"method": "flash"}, schema(FEW, suppression_limit=0.3)
    wanted = api.anonymize(frame(), asked, privacy=CLOSE, **options)
    assert "spread a little differently" in str(wanted.report.facts["explanation"])
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    wanted.table.write_csv(here)
    table = api.SparkTable(frame(), driver_rows=5)
    made = api.anonymize(table, asked, privacy=CLOSE, out=there, **options)
    assert there.read_bytes() == here.read_bytes()
    assert made.report.utility == wanted.report.utility
    assert made.report.facts["explanation"] == wanted.report.facts["explanation"]
    assert "10 classes" in made.report.notices[0]


def test_a_model_of_a_node_too_large_for_the_driver(spark):
    options, asked = {"method": "flash"}, schema(FEW[:2], suppression_limit=0.3)
    wanted, about = api.learn_with_report(frame(), asked, privacy=CLOSE, **options)
    table = api.SparkTable(frame(), driver_rows=5)
    model, report = api.learn_with_report(table, asked, privacy=CLOSE, **options)
    assert model.to_json() == wanted.to_json()
    assert report.privacy == about.privacy


def test_a_best_node_as_large_as_the_table(spark):
    promise = [shoal.KAnonymity(1)]
    wanted = recoding_of(open_job(frame(), schema(FEW), promise, method="flash"))
    there = open_job(api.SparkTable(frame(), driver_rows=1), schema(FEW), promise, method="flash")
    found = recoding_of(there)
    assert (found.sizes == wanted.sizes).all()
    assert (found.node == wanted.node).all()
    there.counts.close()


def test_rows_of_a_node_are_in_order_and_know_their_class():
    codes = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 2]], dtype=np.int32)
    found = RolledUp.of(codes, np.array([1, 2, 3, 4]), (2, 2, 3), 2)
    assert found.codes.tolist() == sorted(codes.tolist())
    assert found.counts.tolist() == [4, 2, 3, 1]
    assert found.label.tolist() == [0, 1, 2, 2]
    assert found.starts.tolist() == [0, 1, 2]


def test_keys_find_the_places_of_their_classes():
    packing, coarse = Packing((3, 2, 4)), Packing((2, 1))
    tables = [np.array([0, 0, 1], dtype=np.int32), np.zeros(2, dtype=np.int32)]
    known = pl.DataFrame({"key0": [0], PLACES: [7]})  # the other class is suppressed
    codes = np.array([[0, 1, 3], [2, 0, 0], [1, 0, 2]], dtype=np.int32)
    chunk = chunk_of({**packing.named(packing.pack(codes)), ROWS: np.array([1, 2, 3])})
    find = _class_finder(packing, coarse, tables, Broadcast((known, -1)))
    (made,) = find(iter([chunk]))
    (arrays,) = chunk_arrays(made, ["key0", PLACES, ROWS])
    assert [each.tolist() for each in arrays] == [packing.pack(codes)[0].tolist(), [7, -1, 7],
                                                  [1, 2, 3]]  # fmt: skip
