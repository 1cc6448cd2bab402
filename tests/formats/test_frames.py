"""Frames of other libraries: what comes in goes out as the same kind."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.core.errors import InputError
from shoal.formats.frames import like, to_lazy

FRAME = pl.DataFrame({"a": [1, 2], "b": ["x", None]})


def test_polars_frames_stay_what_they_are():
    lazy = FRAME.lazy()
    assert to_lazy(lazy) is lazy
    assert to_lazy(FRAME).collect().equals(FRAME)
    assert isinstance(like(FRAME, lazy), pl.LazyFrame)
    assert like(FRAME, FRAME).equals(FRAME)


def test_labels_go_out_as_plain_texts():
    labels = FRAME.with_columns(pl.col("b").cast(pl.Enum(["x"])))
    assert like(labels, "a path").schema["b"] == pl.String
    assert like(labels, FRAME)["b"].to_list() == ["x", None]


def test_pandas_comes_and_goes_without_its_index():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=["Alice", "Bob"])
    before = table.copy()
    found = to_lazy(table).collect()
    assert found.columns == ["a", "b"]
    assert found.rows() == [(1, "x"), (2, None)]
    assert table.equals(before)
    released = like(found, table)
    assert type(released) is pd.DataFrame
    assert list(released.index) == [0, 1]


def test_arrow_tables_and_batches_come_and_tables_go():
    pa = pytest.importorskip("pyarrow")
    table = FRAME.to_arrow()
    assert to_lazy(table).collect().equals(FRAME)
    assert to_lazy(table.to_batches()[0]).collect().equals(FRAME)
    assert isinstance(like(FRAME, table), pa.Table)


def test_a_name_that_stands_twice_is_refused():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    for table in (
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([[1], [2]], names=["a", "a"]),
    ):
        with pytest.raises(InputError, match="stands twice; rename"):
            to_lazy(table)


def test_a_column_of_mixed_kinds_is_refused_without_its_values():
    pd = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="mixes kinds") as caught:
        to_lazy(pd.DataFrame({"name": [{"Alice"}, 3, object]}))
    assert "Alice" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_what_is_no_table_is_refused():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    for thing in (None, 7, [1], {"a": [1]}, pl.Series([1]), pd.Series([1]), pa.array([1])):
        with pytest.raises(InputError, match="not a table; give a path"):
            to_lazy(thing)


def test_a_duckdb_relation_comes_and_goes_through_arrow():
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    pytest.importorskip("pyarrow")
    relation = duckdb.sql("select * from (values (1, 'x'), (2, null)) as t(a, b)")
    assert to_lazy(relation).collect().equals(FRAME.with_columns(pl.col("a").cast(pl.Int32)))
    released = like(FRAME, relation)
    assert type(released) is type(relation)
    assert released.fetchall() == FRAME.rows()


@pytest.mark.local("frames in memory")
def test_texts_as_pandas_3_keeps_them_come_and_go():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    with pd.option_context("future.infer_string", True):
        table = pd.DataFrame({"age": [20, 21, 22, 23], "sex": ["f", None, "f", None]})
        assert str(table.dtypes["sex"]) == "str"
        released = shoal.anonymize(table, qi=["age", "sex"], numeric=["age"], k=2).table
        assert type(released) is pd.DataFrame
        assert sorted(released["sex"].isna()) == [False, False, True, True]
        assert set(released["sex"].dropna()) == {"f"}
