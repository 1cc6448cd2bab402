"""Codes as keys: a packing and its way back; values of a table on Spark as keys of its records."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.engines.spark.coding import (
    ROOM,
    ColumnCodes,
    Packing,
    distinct_values,
    table_changed,
    with_keys,
)
from shoal.engines.spark.source import open_table


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.sampled_from([0, 1, 2, 7, 2**20, 2**31 - 1]), min_size=1, max_size=7),
    seed=st.integers(0, 99),
)
def test_keys_come_back_as_codes_and_sort_like_them(sizes, seed):
    packing = Packing(tuple(sizes))
    assert [j for group in packing.groups for j in group] == list(range(len(sizes)))
    chance = np.random.default_rng(seed)
    rows = [[int(chance.integers(max(size, 1))) for size in sizes] for _ in range(6)]
    codes = np.array(rows, dtype=np.int32)
    keys = packing.pack(codes)
    assert len(keys) == len(packing.names) == len(packing.groups)
    assert all((key >= 0).all() and (key < ROOM).all() for key in keys)
    assert packing.unpack(keys).tolist() == rows
    order = np.lexsort(keys[::-1])
    assert [rows[i] for i in order] == sorted(rows)
    assert list(packing.named(keys)) == packing.names


def test_no_column_and_no_row_have_a_key_too():
    assert Packing((3, 4)).pack(np.zeros((0, 2), dtype=np.int32))[0].tolist() == []
    assert Packing((3, 4)).unpack([np.zeros(0, dtype=np.int64)]).shape == (0, 2)
    packing = Packing(())
    assert packing.names == ["key0"]
    assert packing.pack(np.zeros((2, 0), dtype=np.int32))[0].tolist() == [0, 0]


def test_a_changed_table_is_named_and_no_value_is_shown():
    assert "'patients.csv'" in repr(table_changed("patients.csv").facts)
    assert "did the table change meanwhile?" in str(table_changed("patients.csv"))


def test_records_get_the_keys_of_their_values(spark):
    table = pl.DataFrame({"a": ["x", None, "y", "x", "new"], "n": [1.5, 2.0, None, 2.0, 1.5]})
    source = open_table(spark.createDataFrame(table.to_arrow()))
    texts, numbers = distinct_values(source, ["a", "n"])
    assert texts.to_list() == ["new", "x", "y", None]
    assert numbers.to_list() == [1.5, 2.0, None]
    columns = [
        ColumnCodes("a", pl.Series(["x", "y"]), np.array([0, 2], dtype=np.int32), 1, 3),
        ColumnCodes("n", numbers.drop_nulls(), np.array([0, 1], dtype=np.int32), 2, 3),
    ]
    packing = Packing((3, 3))
    found = pl.from_arrow(with_keys(source, columns, packing).toArrow())
    plain = [source.name("a"), source.name("n")]
    keys = dict(zip(found.select(plain).rows(), found["key0"].to_list(), strict=True))
    assert keys == {("x", 1.5): 0, (None, 2.0): 4, ("y", None): 8, ("x", 2.0): 1,
                    ("new", 1.5): None}  # fmt: skip
