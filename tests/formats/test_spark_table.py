"""A table that Spark reads is named without Spark."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import pytest

from shoal.formats.spark_table import SparkTable


def test_it_says_where_the_table_is_and_nothing_else_by_default():
    table = SparkTable("s3a://ward/stays.parquet")
    assert (table.master, table.separator, table.driver_rows) == (None, None, None)
    assert table == SparkTable("s3a://ward/stays.parquet") != SparkTable("other")


def test_it_is_a_value():
    table = SparkTable("t.csv", master="local[2]", separator=";", driver_rows=10)
    assert pickle.loads(pickle.dumps(table)) == table
    assert len({table, SparkTable("t.csv", "local[2]", ";", 10)}) == 1
    with pytest.raises(FrozenInstanceError):
        table.driver_rows = 5
