"""Nodes over rows in order: every node's box and first row are those of its rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from tests.methods.clustering.tables import tables

from shoal.kernels.clustering.row_tree import ABOVE, BEGIN, END, LIVE, WIDTHS, plant, stacked
from shoal.kernels.clustering.similarity_order import alike_tree
from shoal.methods.clustering.space import space_of


@settings(max_examples=40, deadline=None)
@given(table=tables(most=40))
def test_boxes_hold_what_lies_below_them(table):
    rows, columns = table.codes.shape
    cells = np.column_stack((table.codes, np.arange(rows), np.zeros(rows))).astype(np.int32)
    tree = alike_tree(table.codes, space_of(table.domains), widths=WIDTHS)
    laid, place, block, nodes, boxes = plant(cells, tree, rows)
    assert (laid[place, columns] == np.arange(rows)).all()
    blocks = int(block[-1]) + 1

    def rows_of(node):
        below = range(nodes[BEGIN, node], nodes[END, node])
        return [r for b in below for r in ([b] if node < blocks else rows_of(b))]

    roots = np.flatnonzero(nodes[ABOVE] < 0)
    assert roots.tolist() == [nodes.shape[1] - 1]
    assert sorted(rows_of(int(roots[0]))) == list(range(rows))
    for node in range(nodes.shape[1]):
        inside = laid[rows_of(node)]
        box = inside[:, :columns]
        wanted = [*box.min(axis=0), *box.max(axis=0), inside[:, columns].min()]
        assert boxes[node].tolist() == wanted
        assert nodes[LIVE, node] == nodes[END, node] - nodes[BEGIN, node]


def test_arrays_of_two_trees_are_filled_up_to_the_longer():
    one, two = np.array([[1, 2]]), np.array([[3], [4]])
    assert stacked([one, one]).shape == (2, 1, 2)
    assert stacked([one, two]).tolist() == [[[1, 2], [0, 0]], [[3, 0], [4, 0]]]
