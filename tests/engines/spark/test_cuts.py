"""Cuts of strict Mondrian, against plain Python; no Spark is started."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.spark.tables import counted

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from tests.naive.mondrian import candidates

from shoal.engines.spark.cuts import Block, Cut, Tree, median_cuts

COUNTS = st.dictionaries(st.integers(0, 9), st.integers(1, 6), min_size=1, max_size=8)


@settings(max_examples=200, deadline=None)
@given(counts=COUNTS, k=st.integers(1, 6))
def test_the_cuts_of_a_block_are_the_naive_ones(counts, k):
    codes = np.array(sorted(counts), dtype=np.int64)
    amounts = np.array([counts[code] for code in codes.tolist()], dtype=np.int64)
    found = [int(amounts[codes < cut].sum()) for cut in median_cuts(codes, amounts, k)]
    part = [((code,), ()) for code, n in counts.items() for _ in range(n)]
    sides = candidates(part, 0, relaxed=False)
    assert found == [len(a) for a, b in sides if len(a) >= k and len(b) >= k]


LAW = settings(max_examples=60, deadline=None)


@LAW
@given(data=st.data(), rows=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_a_row_walks_down_the_tree_of_cuts(data, rows):
    tree, boxes = Tree(), {0: [(0, 10), (0, 10)]}  # naive: every block is a box
    for _ in range(data.draw(st.integers(0, 5))):
        block = data.draw(st.sampled_from(sorted(boxes)))
        column = data.draw(st.integers(0, 1))
        low, high = boxes[block][column]
        if high - low < 2:
            continue
        cut = data.draw(st.integers(low + 1, high - 1))
        left, right = tree.grow({block: Cut(column, cut)})
        box = boxes.pop(block)
        boxes[left] = [*box[:column], (low, cut), *box[column + 1 :]]
        boxes[right] = [*box[:column], (cut, high), *box[column + 1 :]]
    codes = np.array(rows, dtype=np.int32).reshape(-1, 2)
    for row, block in zip(rows, tree.block_of(codes).tolist(), strict=True):
        assert all(low <= code < high for code, (low, high) in zip(row, boxes[block], strict=True))


def whole_block(table):
    columns = range(table.codes.shape[1])
    sizes = [len(domain) for domain in table.domains]
    counts = [np.bincount(table.codes[:, j], table.counts, sizes[j]) for j in columns]
    rows = [np.bincount(table.codes[:, j], minlength=sizes[j]) for j in columns]
    return Block(tuple(each.astype(np.int64) for each in counts), tuple(rows))


def test_the_cuts_of_a_block_leave_k_records_and_begin_with_the_widest_column():
    table = counted()
    block = whole_block(table)
    assert block.records == table.records
    order = block.columns(table.domains)
    found = list(block.cuts(table.domains, 30))
    assert found
    assert [order.index(cut.column) for cut in found] == sorted(
        order.index(cut.column) for cut in found
    )
    for cut in found:
        is_left = table.codes[:, cut.column] < cut.cut
        assert block.sides(cut) == (is_left.sum(), (~is_left).sum())
        assert min(table.counts[is_left].sum(), table.counts[~is_left].sum()) >= 30
    assert not list(block.cuts(table.domains, table.records // 2 + 1))


def test_a_column_of_one_value_cannot_be_cut():
    table = counted()
    counts = tuple(np.eye(1, len(domain), dtype=np.int64)[0] * 9 for domain in table.domains)
    block = Block(counts, counts)
    assert block.columns(table.domains) == []
    assert list(block.cuts(table.domains, 1)) == []


def test_no_row_is_in_no_block():
    assert Tree().block_of(np.zeros((0, 2), dtype=np.int32)).tolist() == []
    tree = Tree()
    assert tree.grow({0: Cut(0, 1)}) == [1, 2]
    assert tree.grow({}) == []
    assert tree.block_of(np.array([[0, 0], [1, 0]], dtype=np.int32)).tolist() == [1, 2]
