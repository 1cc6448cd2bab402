"""The tables of losses in one array, and the look-up that `bestcut` and `refine` share.

Every array among a function's arguments makes it slower to compile, so what `Space` keeps
in three stands here in one, each column's facts first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering.space import (
    FULL,
    KIND,
    LINE,
    MISSING,
    SIZE,
    START,
    TABLE,
    TREE,
    Space,
)
from shoal.kernels.helpers import lean

FACTS = 8
"""Facts of a column: those of `Space.column`, and LOG, where the logarithms begin."""

LOG = 6


def packed(space: Space, weights: NDArray[np.float64] | None = None) -> NDArray[np.int32]:
    """Return the losses in one array; with `weights`, each column's multiplied by its own."""
    columns = len(space.column)
    head = np.zeros((columns, FACTS), dtype=np.int64)
    head[:, : space.column.shape[1]] = space.column
    # Logarithms are looked up by long trees only.
    logs = space.log if (space.column[:, KIND] == TREE).any() else space.log[:0]
    head[:, LOG] = head.size
    head[:, START] += head.size + len(logs)
    flat = space.flat
    if weights is not None:
        sizes = np.diff(np.append(space.column[:, START], len(flat)))
        flat = flat * np.repeat(weights, sizes)
        head[:, FULL] = head[:, FULL] * weights
    return np.concatenate((head.ravel(), logs, flat)).astype(np.int32)


@lean
def cost(losses, j, low, high):
    """Return the loss of codes low … high of column j."""
    at = FACTS * j
    kind = losses[at + KIND]
    start = losses[at + START]
    if kind == TABLE:
        return np.int64(losses[start + low * losses[at + SIZE] + high])
    if kind == LINE:
        if low == 0 and high > 0 and losses[at + MISSING] == 1:
            return np.int64(losses[at + FULL])
        return np.int64(losses[start + high] - losses[start + low])
    if low == high:
        return np.int64(losses[start + low])
    # A sparse table of maxima: two runs of a power of two cover any run.
    level = losses[losses[at + LOG] + high - low]
    base = start + (level + 1) * losses[at + SIZE]
    left = np.int64(losses[base + low])
    right = np.int64(losses[base + high - (1 << level)])
    return left if left > right else right
