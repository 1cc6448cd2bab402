"""Boxes taken apart by cuts: every box that no cut goes through is alone in its leaf."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.encoding.divide import divide_boxes, walk_tree
from shoal.methods.cut_tree import Tree


def grid(size):
    """Return the boxes of a grid of 2 × 3 codes each."""
    low = np.array([[2 * i, 3 * j] for i in range(size) for j in range(size)], dtype=np.int32)
    return low, (low + np.array([1, 2])).astype(np.int32)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_grid_is_taken_apart_into_its_boxes(size):
    low, high = grid(size)
    allowed = [np.arange(1, 3 * size, dtype=np.int32)] * 2
    column, code = divide_boxes(low, high, allowed)
    assert (column < 0).sum() == size * size
    tree = Tree.of(column, code)
    codes = np.array([[a, b] for a in range(2 * size) for b in range(3 * size)], dtype=np.int32)
    leaf = walk_tree(codes, tree.column, tree.code, tree.children)
    box = codes[:, 0] // 2 * size + codes[:, 1] // 3
    assert len(set(zip(leaf.tolist(), box.tolist(), strict=True))) == size * size


def test_cuts_are_only_where_they_are_allowed():
    low, high = grid(4)
    allowed = [np.array([4], dtype=np.int32), np.array([], dtype=np.int32)]
    column, code = divide_boxes(low, high, allowed)
    assert [(c, k) for c, k in zip(column.tolist(), code.tolist(), strict=True) if c >= 0] == [
        (0, 4)
    ]


def test_boxes_that_nothing_takes_apart_stay_together():
    low = np.zeros((3, 2), dtype=np.int32)
    high = np.full((3, 2), 5, dtype=np.int32)
    column, _ = divide_boxes(low, high, [np.arange(1, 6, dtype=np.int32)] * 2)
    assert column.tolist() == [-1]


def test_a_box_that_a_cut_goes_through_is_on_both_sides():
    low = np.array([[0], [0], [6]], dtype=np.int32)
    high = np.array([[3], [9], [9]], dtype=np.int32)
    column, code = divide_boxes(low, high, [np.arange(1, 10, dtype=np.int32)])
    assert (column >= 0).any()
    assert set(code[column >= 0].tolist()) <= {4, 6}
