"""Cuts by information against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import informed as naive

from shoal.core.errors import KernelInputError
from shoal.kernels.mondrian.informed import cut_by_information

PLACE = np.array([[0.0, 0.1, 0.5, 1.0], [0.0, 0.0, 0.7, 1.0]])
RECORD = st.tuples(st.tuples(st.integers(0, 3), st.integers(0, 3)), st.integers(0, 2))


def parts_of(records, k, weight, missing=(False, True)):
    codes = np.array([r[0] for r in records], dtype=np.int32).reshape(-1, 2)
    target = np.array([r[1] for r in records], dtype=np.int64)
    counts = np.ones(len(records), dtype=np.int64)
    label = cut_by_information(
        codes, counts, target, PLACE, missing=np.array(missing), k=k, weight=weight
    )
    return label, [[records[i] for i in np.flatnonzero(label == n)] for n in np.unique(label)]


def in_order(parts):
    return sorted(sorted(part) for part in parts)


@settings(max_examples=60, deadline=None)  # compiles
@given(st.lists(RECORD, min_size=1, max_size=40), st.integers(1, 5), st.sampled_from([0, 0.1, 1]))
def test_the_parts_are_those_of_the_naive_twin(records, k, weight):
    _, found = parts_of(records, k, weight)
    twin = naive.cut(records, PLACE.tolist(), [False, True], k, weight)
    assert in_order(found) == in_order(twin)
    assert len(records) < k or min(map(len, found)) >= k


@settings(max_examples=20, deadline=None)
@given(st.lists(RECORD, min_size=1, max_size=20), st.integers(1, 4))
def test_counts_are_records(records, k):
    codes = np.array([r[0] for r in records], dtype=np.int32)
    target = np.array([r[1] for r in records], dtype=np.int64)
    twice = np.full(len(records), 2, dtype=np.int64)
    label = cut_by_information(
        codes, twice, target, PLACE, missing=np.zeros(2, dtype=bool), k=k, weight=0.1
    )
    doubled = naive.cut(records * 2, PLACE.tolist(), [False, False], k, 0.1)
    found = [[records[i] for i in np.flatnonzero(label == n)] * 2 for n in np.unique(label)]
    assert in_order(found) == in_order(doubled)


def test_what_says_nothing_is_not_cut():
    records = [((0, 0), 0), ((3, 3), 1)] * 1
    assert parts_of(records, 1, 0)[0].tolist() == [0, 0]  # chance could do it, too
    assert sorted(parts_of(records * 8, 1, 0)[0].tolist()) == [0] * 8 + [1] * 8


def test_nothing_to_cut_and_what_does_not_fit():
    assert parts_of([], 2, 0.1)[0].tolist() == []
    with pytest.raises(KernelInputError, match="int32"):
        cut_by_information(
            np.zeros((1, 2), dtype=np.int64), np.ones(1, dtype=np.int64),
            np.zeros(1, dtype=np.int64), PLACE, missing=np.zeros(2, dtype=bool), k=1, weight=0.0,
        )  # fmt: skip
    with pytest.raises(KernelInputError, match="places"):
        cut_by_information(
            np.zeros((1, 2), dtype=np.int32), np.ones(1, dtype=np.int64),
            np.zeros(1, dtype=np.int64), PLACE[:1], missing=np.zeros(2, dtype=bool), k=1,
            weight=0.0,
        )  # fmt: skip
