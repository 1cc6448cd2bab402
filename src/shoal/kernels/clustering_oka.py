"""One-pass k-means: each record goes to the cluster whose centroid is nearest.

The centroid of a cluster is the mean of a line and the lowest common ancestor of a tree,
and the distance is multiplied by the cluster's size. Size times distance from a mean is
|size · x - sum|, a whole number: nothing is rounded, and ties are ties.
"""

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
    lean,
    lean_outer,
)


def attach(
    codes: NDArray[np.int32],
    places: NDArray[np.int64],
    weights: NDArray[np.int64],
    clusters: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    *,
    space: Space,
    fill: int = 0,
    sized: bool = True,
) -> NDArray[np.int64]:
    """Return the cluster of each row; a cluster's centroid moves with every row.

    Args:
        codes: int32[rows, columns], in the order in which they are attached.
        places: int64[rows, columns], scaled positions on the lines (0 for trees).
        weights: records of each row; they go to one cluster together.
        clusters: size[c], sum of places[c, columns], low[c, columns], high[c, columns];
            they are changed.
        space: the losses.
        sized: whether the distance is multiplied by the cluster's size, as the paper has it.
        fill: while a cluster has fewer records than this, only such clusters are chosen.
    """
    sizes, sums, low, high = clusters
    if codes.dtype != np.int32 or codes.shape != places.shape or low.shape != sums.shape:
        raise KernelInputError(problem="codes, places and clusters do not fit each other")
    if len(sizes) == 0:
        raise KernelInputError(problem="there is no cluster")
    chosen = np.empty(len(codes), dtype=np.int64)
    # Columns that tell clusters apart come first: most distances are then given up early.
    turn = np.argsort(-_spread(codes, places, space), kind="stable")
    parts = [np.ascontiguousarray(part[:, turn]) for part in (sums, low, high)]
    run(
        np.ascontiguousarray(codes[:, turn]), np.ascontiguousarray(places[:, turn]), weights,
        sizes, *parts, space.column[turn], space.flat, space.log, fill, sized, chosen,
    )  # fmt: skip
    for part, changed in zip((sums, low, high), parts, strict=True):
        part[:, turn] = changed
    return chosen


def _spread(
    codes: NDArray[np.int32], places: NDArray[np.int64], space: Space
) -> NDArray[np.float64]:
    """Return, roughly, how far apart two rows are in each column."""
    half = len(codes) // 2
    other = np.roll(np.arange(len(codes)), half)
    differ = (codes != codes[other]).mean(axis=0) * space.column[:, FULL]
    apart = np.abs(places - places[other]).mean(axis=0)
    return np.where(space.column[:, BRANCHES] == 1, differ / 2, apart)


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
def run(codes, places, weights, sizes, sums, low, high, column, flat, log, fill, sized, chosen):
    """Attach row after row, ties to the first cluster.

    The distance is written out in the loop: handing a dozen arrays to a helper for each
    cluster takes longer than the look-ups.
    """
    columns = codes.shape[1]
    small = np.int64(0)
    for b in range(sizes.size):
        if sizes[b] < fill:
            small += 1
    last = np.int64(-1)
    for i in range(codes.shape[0]):
        best = np.int64(-1)
        least = np.iinfo(np.int64).max
        only = small > 0
        # Rows are sorted, so the last one's cluster is a good first guess. A later tie with
        # a lower number must still win: hence the guess counts as one unit worse.
        for turn in range(-1, sizes.size):
            b = last if turn < 0 else np.int64(turn)
            if b < 0 or (only and sizes[b] >= fill):
                continue
            size = sizes[b] if sized else np.int64(1)
            total = np.int64(0)
            for c in range(columns):
                code = np.int64(codes[i, c])
                if column[c, BRANCHES] == 1:
                    first = min(low[b, c], code)
                    total += size * cost(column, flat, log, c, first, max(high[b, c], code))
                elif column[c, MISSING] == 1 and (code == 0 or low[b, c] == 0):
                    if code != 0 or high[b, c] != 0:  # missing is far from all but missing
                        total += size * column[c, FULL]
                else:
                    away = abs(sizes[b] * places[i, c] - sums[b, c])
                    total += away if sized else away // sizes[b]
                if total >= least:
                    break
            if total < least:
                least = total
                best = b
                if turn < 0:
                    least += 1
        chosen[i] = best
        last = best
        if sizes[best] < fill <= sizes[best] + weights[i]:
            small -= 1
        sizes[best] += weights[i]
        for c in range(columns):
            code = np.int64(codes[i, c])
            sums[best, c] += weights[i] * places[i, c]
            low[best, c] = min(low[best, c], code)
            high[best, c] = max(high[best, c], code)
