"""Weighted feature C-means: rows go to the nearest centroid; clusters below k are filled up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.losses import FACTS, cost, packed
from shoal.kernels.clustering.merging import Boxes, measure, nearest_class, smallest, widen
from shoal.kernels.clustering.space import BRANCHES, MISSING, Space
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
    assign_rows(np.ascontiguousarray(codes), places, means, modes, weights, packed(space), chosen)
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
    pieces = fill_below_k(
        np.ascontiguousarray(codes), packed(space), k, Boxes(low, high, np.empty_like(low), sizes),
        piece, head, np.arange(number), rows,
    )  # fmt: skip
    found = np.full(pieces, -1, dtype=np.int64)
    for cluster, at in enumerate(head.tolist()):
        while at >= 0:
            found[at] = cluster
            at = int(piece[2, at])
    return piece[0, :pieces], found, piece[1, :pieces]


@lean_outer
def assign_rows(codes, places, means, modes, weights, losses, chosen):
    """Write the nearest centroid of each row.

    The last row's centroid is tried first: rows come in order, and a good limit ends most sums
    early.
    """
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
                facts = FACTS * c
                if losses[facts + BRANCHES] == 1 or (
                    losses[facts + MISSING] == 1 and min(code, mode) == 0
                ):
                    gap = cost(losses, c, min(code, mode), max(code, mode))
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
def box_with(codes, losses, low, high, a, row):
    """Return the loss of a cluster's box with a row in it."""
    total = np.int64(0)
    for c in range(codes.shape[1]):
        code = np.int64(codes[row, c])
        total += cost(losses, c, min(low[a, c], code), max(high[a, c], code))
    return total


@lean
def move_nearest(codes, losses, k, boxes, piece, head, a, b, pieces):
    """Move the records nearest to cluster a from b, one row after another, until a has k."""
    low, high, _, sizes = boxes
    columns = codes.shape[1]
    while sizes[a] < k:
        best = np.int64(-1)
        before = np.int64(-1)
        least = np.int64(0)
        last = np.int64(-1)
        p = head[b]
        while p >= 0:
            loss = box_with(codes, losses, low, high, a, piece[0, p])
            if best < 0 or loss < least or (loss == least and piece[0, p] < piece[0, best]):
                best = p
                before = last
                least = loss
            last = p
            p = piece[2, p]
        # Of a row with more records than are missing only some go: it is split.
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
    # The other cluster's box may have become smaller: it is measured anew.
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
    measure(losses, boxes, a)
    measure(losses, boxes, b)
    return pieces


@lean
def join(piece, head, sizes, a, b):
    """Give all pieces of cluster b to cluster a."""
    p = head[b]
    while piece[2, p] >= 0:
        p = piece[2, p]
    piece[2, p] = head[a]
    head[a] = head[b]
    head[b] = -1
    sizes[a] += sizes[b]


@lean_outer
def fill_below_k(codes, losses, k, boxes, piece, head, live, pieces):
    """Merge until no cluster below k is left (or only one cluster); return the pieces."""
    sizes = boxes.sizes
    for a in range(sizes.size):
        measure(losses, boxes, a)
    number = live.size
    while number > 1:
        a = live[smallest(sizes, live, number)]
        if sizes[a] >= k:
            break
        at = nearest_class(losses, k, boxes, live, number, a)
        b = live[at]
        if sizes[a] + sizes[b] >= 2 * k:
            pieces = move_nearest(codes, losses, k, boxes, piece, head, a, b, pieces)
            continue
        join(piece, head, sizes, a, b)
        widen(losses, boxes, a, b)
        number -= 1
        live[at] = live[number]
    return pieces
