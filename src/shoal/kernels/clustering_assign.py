"""Put records, one after another, into the cluster that grows least."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering_space import (
    FULL,
    KIND,
    LEAN,
    LINE,
    MISSING,
    SIZE,
    START,
    TABLE,
    Space,
)


def place(
    codes: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    sizes: NDArray[np.int64],
    *,
    space: Space,
    target: NDArray[np.int64] | None = None,
    majority: NDArray[np.int64] | None = None,
    penalty: int = 0,
) -> NDArray[np.int64]:
    """Return the cluster of each record; a cluster grows before the next record is placed.

    Args:
        codes: int32[records, columns].
        low: int32[clusters, columns], the lowest codes of the clusters' boxes.
        high: the highest ones.
        sizes: records per cluster.
        space: the losses.
        target: class of each record.
        majority: the commonest class of each cluster.
        penalty: what a record of another class than the majority costs extra.
    """
    if codes.dtype != np.int32 or low.shape != high.shape or len(low) != len(sizes):
        raise KernelInputError(problem="codes must be int32, and boxes and sizes fit each other")
    if not len(low) or codes.shape[1] != low.shape[1]:
        raise KernelInputError(problem="there is no cluster, or its columns do not fit")
    chosen = np.empty(len(codes), dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    choose(
        np.ascontiguousarray(codes), low.astype(np.int64), high.astype(np.int64), sizes.copy(),
        space.column, space.flat, space.log, none if target is None else target,
        none if majority is None else majority, penalty, chosen,
    )  # fmt: skip
    return chosen


@njit(**LEAN)
def cost(column, flat, log, j, low, high):
    """Return the loss of codes low … high of column j."""
    kind = column[j, KIND]
    start = column[j, START]
    if kind == TABLE:
        return np.int64(flat[start + low * column[j, SIZE] + high])
    if kind == LINE:
        if low == 0 and high > 0 and column[j, MISSING] == 1:
            return column[j, FULL]
        return np.int64(flat[start + high]) - flat[start + low]
    if low == high:
        return np.int64(flat[start + low])
    level = log[high - low]
    base = start + (level + 1) * column[j, SIZE]
    return np.int64(max(flat[base + low], flat[base + high - (1 << level)]))


@njit(**LEAN)
def box_loss(column, flat, log, low, high, b):
    """Return the loss of a cluster's box."""
    loss = np.int64(0)
    for c in range(low.shape[1]):
        loss += cost(column, flat, log, c, low[b, c], high[b, c])
    return loss


@njit(**LEAN)
def choose(
    codes, low, high, sizes, column, flat, log, target, majority, penalty, chosen
):  # fmt: skip
    """Write the cluster of each record, the first of equals."""
    columns = codes.shape[1]
    for i in range(codes.shape[0]):
        best = np.int64(-1)
        least = np.int64(0)
        for b in range(sizes.size):
            growth = np.int64(0)
            for c in range(columns):
                code = np.int64(codes[i, c])
                growth += cost(column, flat, log, c, min(low[b, c], code), max(high[b, c], code))
            growth *= sizes[b] + 1
            growth -= sizes[b] * box_loss(column, flat, log, low, high, b)
            if penalty > 0 and target[i] != majority[b]:
                growth += penalty
            if best < 0 or growth < least:
                best = np.int64(b)
                least = growth
        chosen[i] = best
        sizes[best] += 1
        for c in range(columns):
            code = np.int64(codes[i, c])
            low[best, c] = min(low[best, c], code)
            high[best, c] = max(high[best, c], code)
