"""A table on Spark refuses what only the local engine does, before any work."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.core.errors import MethodError
from shoal.engines.base import Checks
from shoal.engines.spark.records import SparkRecords, SparkWritten
from shoal.engines.spark.table import TableOnSpark
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema


def source():
    return SimpleNamespace(where="t", columns=("a", "b"))


def test_it_is_called_as_its_source_is():
    table = TableOnSpark(source())
    assert (table.where, table.columns) == ("t", ("a", "b"))


def test_what_needs_the_local_engine_says_so():
    table = TableOnSpark(source())
    with pytest.raises(MethodError, match="--blanked needs the local engine"):
        table.verify(None, [KAnonymity(2)], blanked=True)
    with pytest.raises(MethodError, match="--attacks need the local engine"):
        SparkRecords(source(), None, ()).compare(None, Checks(), centroids=False, seed=0)


def test_trajectories_need_the_local_engine():
    table = TableOnSpark(source())
    linked = Schema.from_document(
        {"columns": {"a": "quasi", "b": {"role": "person", "release": "pseudonym"}}}
    )
    with pytest.raises(MethodError, match="trajectories of persons need the local engine"):
        table.verify(linked, [KAnonymity(2)])
    with pytest.raises(MethodError, match="trajectories of persons need the local engine"):
        table.trajectories(linked)
    with pytest.raises(MethodError, match="need the local engine"):
        table.records(linked, (), None)


def test_a_batch_is_let_go_whatever_is_raised(monkeypatch):
    closed = []
    encoding = SimpleNamespace(close=lambda: closed.append("closed"))
    monkeypatch.setattr("shoal.engines.spark.table.SparkEncoding.open", lambda *_, **__: encoding)
    opening = TableOnSpark(source()).encode(None, on_unseen=None, star=True)
    assert opening.__enter__() is encoding
    assert not closed
    assert not opening.__exit__(KeyError, KeyError(), None)
    assert closed == ["closed"]


def test_records_have_no_order_for_classes_of_other_releases():
    table = TableOnSpark(source())
    with pytest.raises(MethodError, match="--nested-in needs the local engine"):
        table.records(None, (), None, earlier=np.zeros(2, dtype=np.int32))
    with pytest.raises(MethodError, match="--ledger needs the local engine"):
        SparkWritten(source()).class_numbers()
