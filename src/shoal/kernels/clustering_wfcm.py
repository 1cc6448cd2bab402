"""Weighted feature C-means: rows go to the nearest centroid; clusters below k are filled up."""

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


def fill(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    label: NDArray[np.int64],
    *,
    space: Space,
    k: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return pieces (row, label, count) of clusters of at least k records.

    The smallest cluster below k (the first of equals) is merged with the one that distorts
    both least. Of a cluster that can spare them only as many records move as are missing, the
    nearest first: merging all of it would let one class swallow what could be two.

    Args:
        codes: int32[rows, columns].
        counts: records per row.
        label: the cluster of each row, 0 … c-1, none of them empty.
        space: the losses.
        k: the least records of a cluster.
    """
    rows, columns = codes.shape
    if len(counts) != rows or len(label) != rows or columns != len(space.column):
        raise KernelInputError(problem="codes, counts and labels do not fit each other")
    number = int(label.max()) + 1
    # Row, records, the next one. A row is split at most once for each cluster that is filled.
    piece = np.empty((3, rows + number), dtype=np.int64)
    piece[0, :rows] = np.arange(rows)
    piece[1, :rows] = counts
    head = np.full(number, -1, dtype=np.int64)
    low = np.full((number, columns), np.iinfo(np.int64).max, dtype=np.int64)
    high = np.full((number, columns), -1, dtype=np.int64)
    np.minimum.at(low, label, codes)
    np.maximum.at(high, label, codes)
    sizes = np.bincount(label, weights=counts).astype(np.int64)
    for row, at in enumerate(label.tolist()):
        piece[2, row] = head[at]
        head[at] = row
    pieces = merge(
        np.ascontiguousarray(codes), space.column, space.flat, space.log, k, low, high, sizes,
        piece, head, np.arange(number), rows,
    )  # fmt: skip
    found = np.full(pieces, -1, dtype=np.int64)
    for cluster, at in enumerate(head.tolist()):
        while at >= 0:
            found[at] = cluster
            at = int(piece[2, at])
    return piece[0, :pieces], found, piece[1, :pieces]


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


@lean
def box_with(codes, column, flat, log, low, high, a, row):
    """Return the loss of a cluster's box with a row in it."""
    total = np.int64(0)
    for c in range(codes.shape[1]):
        code = np.int64(codes[row, c])
        total += cost(column, flat, log, c, min(low[a, c], code), max(high[a, c], code))
    return total


@lean
def gap_of(column, flat, log, k, low, high, sizes, a, b, limit):
    """Return what merging cluster a with b, or with as much of it as is missing, distorts."""
    moved = k - sizes[a] if sizes[a] + sizes[b] >= 2 * k else sizes[b]
    gap = np.int64(0)
    for c in range(low.shape[1]):
        both = cost(column, flat, log, c, min(low[a, c], low[b, c]), max(high[a, c], high[b, c]))
        gap += sizes[a] * (both - cost(column, flat, log, c, low[a, c], high[a, c]))
        gap += moved * (both - cost(column, flat, log, c, low[b, c], high[b, c]))
        if gap > limit:
            break
    return gap


@lean
def move_nearest(codes, column, flat, log, k, low, high, sizes, piece, head, a, b, pieces):
    """Move the records nearest to cluster a from b, one row after another, until a has k."""
    columns = codes.shape[1]
    while sizes[a] < k:
        best = np.int64(-1)
        before = np.int64(-1)
        least = np.int64(0)
        last = np.int64(-1)
        p = head[b]
        while p >= 0:
            loss = box_with(codes, column, flat, log, low, high, a, piece[0, p])
            if best < 0 or loss < least or (loss == least and piece[0, p] < piece[0, best]):
                best = p
                before = last
                least = loss
            last = p
            p = piece[2, p]
        amount = min(k - sizes[a], piece[1, best])
        moved = best
        if amount < piece[1, best]:
            moved = pieces
            pieces += 1
            piece[0, moved] = piece[0, best]
            piece[1, moved] = amount
            piece[1, best] -= amount
        elif before < 0:
            head[b] = piece[2, best]
        else:
            piece[2, before] = piece[2, best]
        piece[2, moved] = head[a]
        head[a] = moved
        sizes[a] += amount
        sizes[b] -= amount
        for c in range(columns):
            code = np.int64(codes[piece[0, moved], c])
            low[a, c] = min(low[a, c], code)
            high[a, c] = max(high[a, c], code)
    p = head[b]
    for c in range(columns):
        low[b, c] = np.int64(codes[piece[0, p], c])
        high[b, c] = low[b, c]
    while p >= 0:
        for c in range(columns):
            code = np.int64(codes[piece[0, p], c])
            low[b, c] = min(low[b, c], code)
            high[b, c] = max(high[b, c], code)
        p = piece[2, p]
    return pieces


@lean_outer
def merge(codes, column, flat, log, k, low, high, sizes, piece, head, live, pieces):
    """Merge until no cluster below k is left (or only one cluster); return the pieces."""
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
        best_at = 0
        least = np.iinfo(np.int64).max
        for n in range(number):
            b = live[n]
            if b == a:
                continue
            gap = gap_of(column, flat, log, k, low, high, sizes, a, b, least)
            if gap < least or (gap == least and b < live[best_at]):
                best_at = n
                least = gap
        b = live[best_at]
        if sizes[a] + sizes[b] >= 2 * k:
            pieces = move_nearest(
                codes, column, flat, log, k, low, high, sizes, piece, head, a, b, pieces
            )
            continue
        p = head[b]
        while piece[2, p] >= 0:
            p = piece[2, p]
        piece[2, p] = head[a]
        head[a] = head[b]
        head[b] = -1
        sizes[a] += sizes[b]
        for c in range(codes.shape[1]):
            low[a, c] = min(low[a, c], low[b, c])
            high[a, c] = max(high[a, c], high[b, c])
        number -= 1
        live[best_at] = live[number]
    return pieces
