"""KACA's loop: the smallest class is merged with the nearest, or filled from its stub."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering_space import FULL, KIND, LINE, MISSING, SIZE, START, TABLE, Space
from shoal.kernels.helpers import lean, lean_outer


def merge_classes(
    codes: NDArray[np.int32], counts: NDArray[np.int64], *, space: Space, k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return pieces (row, label, count) of classes of at least k records.

    Every row begins as a class. The smallest class below k (the first of equals) is merged
    with the nearest one; of a class that can spare them, only the records that are missing
    are taken (its stub), the rest (its trunk) stays.
    """
    rows, columns = codes.shape
    if codes.dtype != np.int32 or counts.dtype != np.int64 or columns != len(space.column):
        raise KernelInputError(problem="codes must be int32, counts int64, and fit the columns")
    most = 2 * rows + 1  # a stub splits at most one piece, once for each class below k
    piece = np.empty((3, most), dtype=np.int64)  # row, records, next piece of the class
    piece[0, :rows] = np.arange(rows)
    piece[1, :rows] = counts
    piece[2, :rows] = -1
    head = np.arange(rows)
    pieces = run(
        codes.astype(np.int64), codes.astype(np.int64), counts.copy(), space.column, space.flat,
        space.log, k, piece, head, codes, np.arange(rows), rows,
    )  # fmt: skip
    label = np.full(pieces, -1)
    for number, at in enumerate(head):
        while at >= 0:
            label[at] = number
            at = piece[2, at]
    return piece[0, :pieces], label, piece[1, :pieces]


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
def run(low, high, sizes, column, flat, log, k, piece, head, codes, live, pieces):
    """Merge until no class below k is left (or only one class); return the pieces."""
    columns = low.shape[1]
    number = live.size
    while number > 1:
        at = 0
        for n in range(number):  # the smallest, the first of equals
            a = live[n]
            b = live[at]
            if sizes[a] < sizes[b] or (sizes[a] == sizes[b] and a < b):
                at = n
        a = live[at]
        if sizes[a] >= k:
            break
        best = np.int64(-1)
        best_at = 0
        least = np.int64(0)
        for n in range(number):
            b = live[n]
            if b == a:
                continue
            records = k - sizes[a] if sizes[a] + sizes[b] >= 2 * k else sizes[b]
            gap = np.int64(0)
            for c in range(columns):
                both = cost(
                    column, flat, log, c, min(low[a, c], low[b, c]), max(high[a, c], high[b, c])
                )
                gap += sizes[a] * (both - cost(column, flat, log, c, low[a, c], high[a, c]))
                gap += records * (both - cost(column, flat, log, c, low[b, c], high[b, c]))
                if best >= 0 and gap > least:
                    break
            if best < 0 or gap < least or (gap == least and b < best):
                best = b
                best_at = n
                least = gap
        b = best
        take = k - sizes[a] if sizes[a] + sizes[b] >= 2 * k else sizes[b]
        sizes[a] += take
        sizes[b] -= take
        while take > 0:
            p = head[b]
            if piece[1, p] <= take:
                head[b] = piece[2, p]
                moved = p
            else:
                moved = pieces
                pieces += 1
                piece[0, moved] = piece[0, p]
                piece[1, moved] = take
                piece[1, p] -= take
            take -= piece[1, moved]
            piece[2, moved] = head[a]
            head[a] = moved
        for c in range(columns):
            low[a, c] = min(low[a, c], low[b, c])
            high[a, c] = max(high[a, c], high[b, c])
        if sizes[b] == 0:
            number -= 1
            live[best_at] = live[number]
        # A class keeps its generalization when a stub leaves it, as definition 10 has it.
    return pieces
