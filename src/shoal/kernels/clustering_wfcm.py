"""Weighted feature C-means: each row goes to the nearest centroid, features weighted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering_space import (
    BRANCHES,
    FULL,
    KIND,
    LINE,
    MISSING,
    SIZE,
    START,
    TABLE,
    Space,
)
from shoal.kernels.helpers import lean, lean_outer


def nearest_centroid(
    codes: NDArray[np.int32],
    places: NDArray[np.int64],
    means: NDArray[np.int64],
    modes: NDArray[np.int64],
    weights: NDArray[np.int64],
    *,
    space: Space,
) -> NDArray[np.int64]:
    """Return the nearest centroid of each row, ties to the first.

    Args:
        codes: int32[rows, columns].
        places: int64[rows, columns], scaled positions on the lines.
        means: int64[centroids, columns], the same for the centroids.
        modes: int64[centroids, columns], their commonest codes.
        weights: int64[columns], in 1/1024.
        space: the losses.
    """
    if codes.shape != places.shape or means.shape != modes.shape or not len(means):
        raise KernelInputError(problem="rows and centroids do not fit each other")
    chosen = np.zeros(len(codes), dtype=np.int64)
    run(
        np.ascontiguousarray(codes), places, means, modes, weights, space.column, space.flat,
        space.log, chosen,
    )  # fmt: skip
    return chosen


@lean
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


@lean_outer
def run(codes, places, means, modes, weights, column, flat, log, chosen):
    """Write the nearest centroid of each row."""
    columns = codes.shape[1]
    last = np.int64(0)
    for i in range(codes.shape[0]):
        best = np.int64(-1)
        least = np.iinfo(np.int64).max
        for turn in range(-1, means.shape[0]):
            b = last if turn < 0 else np.int64(turn)
            total = np.int64(0)
            for c in range(columns):
                code = np.int64(codes[i, c])
                mode = modes[b, c]
                if column[c, BRANCHES] == 1 or (column[c, MISSING] == 1 and min(code, mode) == 0):
                    gap = cost(column, flat, log, c, min(code, mode), max(code, mode))
                else:
                    gap = abs(places[i, c] - means[b, c])
                total += gap * weights[c]
                if total >= least:
                    break
            if total < least:
                least = total
                best = b
                if turn < 0:
                    least += 1  # a later tie with a lower number must still win
        chosen[i] = best
        last = best
