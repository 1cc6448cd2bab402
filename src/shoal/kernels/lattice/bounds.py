"""Lower bounds on the loss of every node of a lattice, and greedy paths along them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.helpers import outer


def raise_bounds(
    bounds: NDArray[np.float64],
    shape: NDArray[np.int64],
    node: NDArray[np.int64],
    scores: NDArray[np.float64],
    is_max: bool,
) -> None:
    """Raise the bound of every node at or below `node` to what its columns score together.

    bounds: float64[nodes], the last column's level running fastest. scores: float64[columns,
    levels]. is_max: a node scores its largest column, not the sum of its columns.
    """
    level = np.zeros((2, shape.size), dtype=np.int64)
    raise_below(bounds, shape, node, scores, is_max, level[0], level[1], np.zeros(shape.size + 1))


@outer
def raise_below(bounds, shape, node, scores, is_max, level, stride, so_far):
    """Do it, with room for the level and the stride of each column and for partial sums."""
    # An odometer over the levels: only the columns that turned are scored anew.
    columns = shape.size
    stride[columns - 1] = 1
    for j in range(columns - 2, -1, -1):
        stride[j] = stride[j + 1] * shape[j + 1]
    place = 0
    j = 0
    while True:
        for i in range(j, columns):  # columns from the left, as a node's own score adds them
            mine = scores[i, level[i]]
            so_far[i + 1] = max(so_far[i], mine) if is_max else so_far[i] + mine
        if so_far[columns] > bounds[place]:
            bounds[place] = so_far[columns]
        j = columns - 1
        while j >= 0 and level[j] == node[j]:
            place -= level[j] * stride[j]
            level[j] = 0
            j -= 1
        if j < 0:
            return
        level[j] += 1
        place += stride[j]


def climb(
    bounds: NDArray[np.float64], shape: NDArray[np.int64], start: int, ceiling: float
) -> NDArray[np.int64]:
    """Return the way from node number `start` upwards, always to the lowest bound.

    It ends where all bounds above are at `ceiling` or higher.
    """
    path = np.empty(int(shape.sum()) - shape.size + 1, dtype=np.int64)
    path[0] = start
    return path[: walk_up(bounds, shape, ceiling, path)]


@outer
def walk_up(bounds, shape, ceiling, path):
    """Write the way behind its start; return how long it is."""
    steps = 1
    while True:
        best = -1
        stride = 1
        for j in range(shape.size - 1, -1, -1):
            above = path[steps - 1] + stride
            if (path[steps - 1] // stride) % shape[j] < shape[j] - 1 and bounds[above] < ceiling:
                # Of equals the leftmost column: the same way whatever the bounds' order in memory.
                if best < 0 or bounds[above] <= bounds[best]:
                    best = above
            stride *= shape[j]
        if best < 0:
            return steps
        path[steps] = best
        steps += 1
