"""Formulas in whole tables: the same cells as `core.spreadsheet`, one by one."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.spreadsheet import guarded as guarded_text
from shoal.formats.spreadsheet import guarded, is_guarded, unguarded

CELLS = st.lists(
    st.one_of(st.none(), st.text("=+-@'1.5ae\t x", max_size=5), st.text(max_size=5)), max_size=12
)


@settings(max_examples=60, deadline=None)
@given(CELLS)
def test_a_table_is_guarded_as_its_cells_are_and_back(cells):
    frame = pl.DataFrame({"t": pl.Series(cells, dtype=pl.String), "n": range(len(cells))})
    safe = guarded(frame)
    assert safe["t"].to_list() == [None if c is None else guarded_text(c) for c in cells]
    assert safe["n"].equals(frame["n"])
    assert unguarded(safe).equals(frame)
    assert unguarded(safe.lazy()).collect().equals(frame)


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["=1", "a"])])
def test_labels_are_guarded_whatever_their_type(dtype):
    frame = pl.DataFrame({"t": pl.Series(["=1", "a", None], dtype=pl.String).cast(dtype)})
    assert guarded(frame)["t"].to_list() == ["'=1", "a", None]


@pytest.mark.parametrize(("cells", "found"), [
    (["'=1", "a"], True),
    (["'=1", "-5"], True),  # a number is no formula
    (["'=1", "=2"], False),  # an apostrophe of the original, and nobody guarded it
    (["'s-Gravenhage", "a"], False),
    (["a", None], False),
    ([None, None], False),
])  # fmt: skip
def test_a_release_was_guarded_if_some_text_is_and_none_is_bare(cells, found):
    frame = pl.LazyFrame({"t": pl.Series(cells, dtype=pl.String), "n": [1, 2]})
    assert is_guarded(frame).collect().item() is found


def test_one_bare_column_speaks_for_the_table():
    frame = pl.LazyFrame({"a": ["'=1"], "b": ["=1"]})
    assert is_guarded(frame).collect().item() is False


def test_a_table_without_texts_has_nothing_to_guard():
    frame = pl.DataFrame({"n": [-1, 2]})
    assert guarded(frame).equals(frame)
    assert is_guarded(frame.lazy()).collect().item() is False
