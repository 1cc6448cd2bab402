"""A data set is known by its content: order and file name do not matter, every cell does."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import InputError
from shoal.dp.fingerprint import fingerprint_file, fingerprint_frame

rows = st.lists(
    st.tuples(st.integers(0, 3), st.one_of(st.none(), st.text("ab:1-", max_size=3))), max_size=5
)


def frame(found: list[tuple]) -> pl.LazyFrame:
    schema = {"n": pl.Int64, "t": pl.String}
    return pl.LazyFrame(found, schema=schema, orient="row")


@settings(deadline=None)
@given(one=rows, two=rows)
def test_two_tables_have_one_fingerprint_if_they_hold_the_same_rows(one: list, two: list):
    def key(row: tuple) -> tuple:
        return (row[0], row[1] is None, row[1] or "")

    same = sorted(one, key=key) == sorted(two, key=key)
    assert (fingerprint_frame(frame(one)) == fingerprint_frame(frame(two))) == same


def test_a_column_name_is_part_of_it():
    one = pl.LazyFrame({"a": [1]})
    assert fingerprint_frame(one) != fingerprint_frame(one.rename({"a": "b"}))


def test_a_copy_of_a_file_is_the_same_data_set(tmp_path: Path):
    one, two = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text("x\n1\n")
    two.write_text("x\n1\n")
    assert fingerprint_file(one) == fingerprint_file(two)
    two.write_text("x\n2\n")
    assert fingerprint_file(one) != fingerprint_file(two)


def test_what_cannot_be_read_is_refused(tmp_path: Path):
    with pytest.raises(InputError):
        fingerprint_file(tmp_path / "none.csv")
    with pytest.raises(InputError, match="name"):
        fingerprint_frame(pl.LazyFrame({"a": [[1, 2]]}))
