"""The counting kernels and their guards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import infer as naive

from shoal.core.errors import KernelInputError
from shoal.kernels.inference import column_sets as kernel

tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.integers(0, 3)] * width), min_size=1, max_size=25, unique=True
    )
)


@settings(max_examples=60, deadline=None)
@given(table=tables, data=st.data())
def test_counts_and_marks_agree_with_counting_records(table, data):
    counts = data.draw(st.lists(st.integers(1, 3), min_size=len(table), max_size=len(table)))
    records = [row for row, n in zip(table, counts, strict=True) for _ in range(n)]
    width = len(table[0])
    size = data.draw(st.integers(1, width))
    columns = sorted(data.draw(st.permutations(range(width)))[:size])
    rows = kernel.rows_of(np.array(table, dtype=np.int32), np.array(counts, dtype=np.int64))
    sets = np.array([columns], dtype=np.int32)
    logs, classes, squares = kernel.count_sets(rows, sets)[0]
    sizes = np.array(list(naive.classes(records, columns).values()))
    assert logs == pytest.approx(float((sizes * np.log2(sizes)).sum()))
    assert (classes, squares) == (len(sizes), (sizes**2).sum())
    alone = np.zeros((1, len(table)), dtype=np.uint8)
    kernel.mark_unique(rows, sets, alone)
    seen = naive.classes(records, columns)
    assert alone[0].tolist() == [seen[tuple(row[i] for i in columns)] == 1 for row in table]


def test_large_counts_are_not_taken_from_the_table_of_logarithms():
    rows = kernel.rows_of(np.array([[0], [0]], np.int32), np.array([10**6, 24], np.int64))
    n = 10**6 + 24
    assert kernel.count_sets(rows, np.array([[0]], np.int32))[0, 0] == pytest.approx(n * np.log2(n))


def test_arrays_that_compiled_code_must_not_see_are_refused():
    codes, counts = np.zeros((2, 2), np.int32), np.ones(2, np.int64)
    rows = kernel.rows_of(codes, counts)
    for wrong in (
        lambda: kernel.rows_of(codes.astype(np.int64), counts),
        lambda: kernel.rows_of(codes, counts[:1]),
        lambda: kernel.rows_of(codes - 1, counts),
        lambda: kernel.rows_of(codes, counts - 1),
        lambda: kernel.count_sets(rows, np.array([[2]], np.int32)),
        lambda: kernel.count_sets(rows, np.array([[-1]], np.int32)),
        lambda: kernel.count_sets(rows, np.array([[0]], np.int64)),
        lambda: kernel.mark_unique(rows, np.array([[0]], np.int32), np.zeros((1, 1), np.uint8)),
        lambda: kernel.mark_unique(rows, np.array([[2]], np.int32), np.zeros((1, 2), np.uint8)),
    ):
        with pytest.raises(KernelInputError):
            wrong()
