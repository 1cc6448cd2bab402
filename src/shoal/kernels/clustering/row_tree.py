"""Nodes over rows that lie in order: who is in whom, and the boxes around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.int32, np.int64)

WIDTHS = (8, 64, 512, 4096, 32768)
"""How many rows a node may have, level by level; above them stands one root."""

KEY, STAMP, LIVE, BEGIN, END, ABOVE = range(6)
"""Of a node: its bound, found at STAMP; how much is left in it; its parts; who it is in."""

Planted = tuple[
    NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]
]


def plant(
    cells: NDArray[np.int32], tree: tuple[NDArray[np.int64], NDArray[np.int64]], rows: int
) -> Planted:
    """Return the cells in the tree's order, where each row went, its block, nodes and boxes.

    Of the nodes, the blocks come first and the root last. A box is the lowest cells, the
    highest ones and the least row.
    """
    order, rank = tree
    cells = cells[order]
    place = np.full(rows, -1, dtype=np.int64)
    place[cells[:, -2]] = np.arange(len(cells))
    # A level that has as many nodes as the one below it would only be walked through.
    starts = [np.flatnonzero(rank > level) for level in range(len(WIDTHS))]
    starts = [s for level, s in enumerate(starts) if not level or len(s) < len(starts[level - 1])]
    if len(starts[-1]) > 1:
        starts.append(np.zeros(1, dtype=np.int64))
    columns = cells.shape[1] - 2
    low, high = cells[:, : columns + 1], cells[:, :columns]
    boxes, ends, above = [], [], []
    begins = starts[0]
    offset, below = 0, 0
    for level, own in enumerate(starts):
        if level:
            begins = np.searchsorted(starts[level - 1], own)
        low, high = np.minimum.reduceat(low, begins), np.maximum.reduceat(high, begins)
        boxes.append(np.column_stack((low[:, :-1], high, low[:, -1])))
        last = np.append(begins[1:], len(starts[level - 1]) if level else len(rank))
        ends.append((begins + below, last + below))
        if level:
            above.append(np.repeat(np.arange(len(own)) + offset, last - begins))
        below, offset = offset, offset + len(own)
    nodes = np.full((6, offset), -1, dtype=np.int64)
    nodes[BEGIN] = np.concatenate([begin for begin, _ in ends])
    nodes[END] = np.concatenate([end for _, end in ends])
    nodes[ABOVE, : offset - 1] = np.concatenate([np.zeros(0, dtype=np.int64), *above])
    nodes[LIVE] = nodes[END] - nodes[BEGIN]
    return cells, place, np.cumsum(rank > 0) - 1, nodes, np.concatenate(boxes)


def stacked(parts: Sequence[NDArray[Number]]) -> NDArray[Number]:
    """Return the arrays of the trees behind each other, the shorter one filled up with 0."""
    shapes = [part.shape for part in parts]
    most: list[int] = [max(sizes) for sizes in zip(*shapes, strict=True)]
    if all(part.shape == parts[0].shape for part in parts):
        return np.stack(parts)
    stack = np.zeros((len(parts), *most), dtype=parts[0].dtype)
    for part, room in zip(parts, stack, strict=True):
        room[tuple(slice(size) for size in part.shape)] = part
    return stack
