"""Distinct rows of coded columns, beside NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.table import distinct
from shoal.table.distinct import RowPlaces, distinct_rows


@settings(max_examples=40, deadline=None)
@given(
    st.data(),
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.sampled_from([2, 2**22]),
    st.sampled_from([2**8, 2**62]),
)
def test_distinct_rows_are_those_of_numpy(data, sizes, room, most):
    records = data.draw(st.integers(1, 20))
    drawn = [
        data.draw(st.lists(st.integers(0, size - 1), min_size=records, max_size=records))
        for size in sizes
    ]
    codes = [np.array(column, dtype=np.int32) for column in drawn]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct, "_ROOM", room)
        patch.setattr(distinct, "_MOST", most)
        rows, number = distinct_rows(codes, sizes)
    wanted = np.stack(codes, axis=1)
    assert (rows[number] == wanted).all()
    assert (rows.dtype, number.dtype) == (np.int32, np.int32)
    assert (rows == np.unique(wanted, axis=0)).all()  # sorted, each once


def test_no_record_has_no_row():
    rows, number = distinct_rows([np.zeros(0, dtype=np.int32)] * 2, [3, 4])
    assert rows.shape == (0, 2)
    assert len(number) == 0


def test_keys_beyond_32_bits_do_not_overflow(monkeypatch):
    """Where a renumbered table times the next column leaves 32 bits."""
    chance = np.random.default_rng(2)
    size = 50_000
    codes = [chance.integers(0, size, 3000).astype(np.int32) for _ in range(3)]
    rows, number = distinct_rows(codes, [size] * 3)
    assert (rows[number] == np.stack(codes, axis=1)).all()
    assert (rows == np.unique(np.stack(codes, axis=1), axis=0)).all()


@settings(max_examples=60, deadline=None)
@given(
    st.data(), st.lists(st.integers(1, 6), min_size=1, max_size=5), st.sampled_from([1, 4, 2**22]),
    st.sampled_from([2**7, 2**62]),
)  # fmt: skip
def test_records_are_found_among_the_rows_or_are_none(data, sizes, room, most):
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    records = data.draw(st.lists(row, min_size=1, max_size=20))
    asked = data.draw(st.lists(row, min_size=1, max_size=5))
    rows = np.unique(np.array(records, dtype=np.int32), axis=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct, "_ROOM", room)
        patch.setattr(distinct, "_MOST", most)
        places = RowPlaces.of(list(rows.T), sizes)
        found = places.find(list(np.array(records, dtype=np.int32).T))
        other = places.find(list(np.array(asked, dtype=np.int32).T))
    assert (rows[found] == np.array(records)).all()
    if set(asked) <= set(records):
        assert (rows[other] == np.array(asked)).all()
    else:
        assert other is None
