"""Frequency tables that stay on Spark: the same classes as where they fit the driver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.spark.tables import PROMISE, frame, schema
from tests.naive.mondrian import candidates

import shoal
from shoal import api
from shoal.core.errors import MethodError
from shoal.engines.spark.mondrian import median_cuts


def test_mondrian_with_cuts_by_jobs(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.engines.spark.mondrian.TASK_ROWS", 60)
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    wanted = api.anonymize(frame(), schema(), privacy=PROMISE)
    wanted.table.write_csv(here)
    table = api.SparkTable(frame(), driver_rows=10)
    made = api.anonymize(table, schema(), privacy=PROMISE, out=there)
    assert there.read_bytes() == here.read_bytes()
    assert made.report.risk_before == wanted.report.risk_before
    assert made.report.utility["ncp"] == pytest.approx(wanted.report.utility["ncp"])


FEW = ("flat", "tree", "steps")


def test_lattice_search_by_jobs(spark, tmp_path):
    options = api.Options(method="flash")
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    wanted = api.anonymize(frame(), schema(FEW), privacy=PROMISE, options=options)
    wanted.table.write_csv(here)
    table = api.SparkTable(frame(), driver_rows=200)
    made = api.anonymize(table, schema(FEW), privacy=PROMISE, out=there, options=options)
    assert there.read_bytes() == here.read_bytes()
    assert made.report.facts["levels"] == wanted.report.facts["levels"]
    assert made.report.risk_before == wanted.report.risk_before


def test_a_node_too_large_for_the_driver_is_refused(spark):
    table = api.SparkTable(frame(), driver_rows=3)
    options = api.Options(method="flash")
    with pytest.raises(MethodError, match="driver-rows"):
        api.anonymize(table, schema(FEW), privacy=[shoal.KAnonymity(1)], options=options)


def test_other_methods_say_that_the_table_is_too_large(spark):
    table = api.SparkTable(frame(), driver_rows=10)
    with pytest.raises(MethodError, match="driver-rows"):
        api.anonymize(table, schema(), privacy=PROMISE, options=api.Options(method="oka"))
    with pytest.raises(MethodError, match="driver-rows"):
        shoal.learn(table, schema(), privacy=PROMISE)


COUNTS = st.dictionaries(st.integers(0, 9), st.integers(1, 6), min_size=1, max_size=8)


@settings(max_examples=200, deadline=None)
@given(counts=COUNTS, k=st.integers(1, 6))
def test_the_cuts_of_a_block_are_the_naive_ones(counts, k):
    codes = np.array(sorted(counts), dtype=np.int64)
    amounts = np.array([counts[code] for code in codes.tolist()], dtype=np.int64)
    found = [int(amounts[codes < cut].sum()) for cut in median_cuts(codes, amounts, k)]
    part = [((code,), ()) for code, n in counts.items() for _ in range(n)]
    sides = candidates(part, 0, relaxed=False)
    assert found == [len(a) for a, b in sides if len(a) >= k and len(b) >= k]
