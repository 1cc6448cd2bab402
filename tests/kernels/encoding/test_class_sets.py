"""The first class that covers a tuple, against sets of Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.encoding.class_sets import first_common

CLASSES = 130  # more than two words of bits


def bits(members):
    words = np.zeros((CLASSES + 63) // 64, dtype=np.uint64)
    for c in members:
        words[c // 64] |= np.uint64(1) << np.uint64(c % 64)
    return words


@settings(max_examples=60, deadline=None)
@given(
    columns=st.lists(
        st.lists(st.sets(st.integers(0, CLASSES - 1), max_size=6), min_size=1, max_size=3),
        min_size=1, max_size=3,
    ),
    allowed=st.sets(st.integers(0, CLASSES - 1), min_size=CLASSES - 4),
    data=st.data(),
)  # fmt: skip
def test_the_lowest_class_in_all_sets(columns, allowed, data):
    tuples = data.draw(
        st.lists(st.tuples(*(st.integers(0, len(c) - 1) for c in columns)), max_size=8)
    )
    codes = np.array(tuples, dtype=np.int32).reshape(-1, len(columns))
    sets = np.stack([bits(members) for column in columns for members in column])
    start = np.cumsum([0, *(len(column) for column in columns[:-1])])
    found = first_common(codes, sets, start, bits(allowed))
    for row, place in zip(tuples, found.tolist(), strict=True):
        shared = set(allowed).intersection(*(c[v] for c, v in zip(columns, row, strict=True)))
        assert place == min(shared, default=-1)
