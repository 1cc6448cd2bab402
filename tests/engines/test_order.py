"""The order of a release: that of Python's sort, the missing value first."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.engines.local.order import order_of

pytestmark = pytest.mark.local("a part of the local engine itself")

ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.sampled_from(["b", "a", "", "ä", "ab"])),
        st.one_of(st.none(), st.integers(-3, 3)),
        st.booleans(),
        st.booleans(),
    ),
    max_size=15,
)


def key(row):
    text, number, flag, last = row
    words = (text is not None, (text or "").encode())
    return words, (number is not None, number or 0), str(flag), last


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from([pl.String, pl.Categorical, pl.Enum(["b", "a", "", "ä", "ab"])]))
def test_records_are_in_the_order_of_their_values(rows, dtype):
    columns = list(zip(*rows, strict=True)) or [[], [], [], []]
    frame = pl.DataFrame({
        "t": pl.Series(columns[0], dtype=pl.String).cast(dtype),
        "n": pl.Series(columns[1], dtype=pl.Int64),
        "b": pl.Series(columns[2], dtype=pl.Boolean),
    })  # fmt: skip
    order = order_of(frame, last=np.array(columns[3], dtype=np.bool_))
    assert [key(rows[i]) for i in order] == sorted(map(key, rows))
    assert sorted(order.tolist()) == list(range(len(rows)))


def test_equal_records_stay_as_they_stand_and_marked_ones_come_last():
    frame = pl.DataFrame({"t": ["a"] * 4})
    assert order_of(frame, last=np.array([True, False, True, False])).tolist() == [1, 3, 0, 2]


def test_many_columns_do_not_overflow_the_key():
    """Ranks of twelve columns of 64 values take 72 bits; keys are made dense on the way."""
    chance = np.random.default_rng(4)
    values = chance.integers(0, 64, (3000, 12))
    frame = pl.DataFrame({f"c{j}": values[:, j] for j in range(12)})
    order = order_of(frame, last=np.zeros(3000, dtype=np.bool_))
    assert [tuple(row) for row in values[order]] == sorted(map(tuple, values))
