"""Step 1 of xk-anonymity: every mark of an empty cell becomes the missing value."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.core.errors import InputError
from shoal.engines.local.unify import refuse_nested, unified
from shoal.methods.xk.steps import EMPTY_MARKS

pytestmark = pytest.mark.local("a part of the local engine itself")


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["", "?", "x", "n/a"])])
def test_marks_become_missing_in_the_named_columns_only(dtype):
    series = pl.Series("a", ["x", "?", "", None, "n/a"]).cast(dtype)
    batch = pl.DataFrame([series, series.alias("b")])
    found = unified(batch, ["a"], ("", "?"))
    assert found["a"].to_list() == ["x", None, None, None, "n/a"]
    assert found["b"].equals(batch["b"])
    assert found.schema == batch.schema
    assert batch["a"].to_list() == ["x", "?", "", None, "n/a"]  # the caller's own is left alone


def test_numbers_have_no_marks_and_a_clean_table_is_unchanged():
    batch = pl.DataFrame({"n": [0, 1], "a": ["x", "y"]})
    assert unified(batch, ["n", "a"], EMPTY_MARKS).equals(batch)
    assert unified(batch.head(0), ["n", "a"], EMPTY_MARKS).height == 0


@pytest.mark.parametrize("series", [
    pl.Series([["Alice"]]), pl.Series([{"name": "Alice"}]), pl.Series([b"Alice"]),
    pl.Series(["Alice"]).map_elements(lambda text: {text}, return_dtype=pl.Object),
])  # fmt: skip
def test_values_that_are_not_plain_are_refused_by_type(series):
    with pytest.raises(InputError, match=r"column 'x': holds \w+ values, not plain ones") as caught:
        refuse_nested(pl.DataFrame({"n": [1], "x": series}))
    assert "Alice" not in str(caught.value)


def test_plain_tables_pass():
    refuse_nested(pl.DataFrame({"n": [1], "t": ["x"], "b": [True], "d": [None]}))
