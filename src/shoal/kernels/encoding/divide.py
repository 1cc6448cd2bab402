"""Boxes of codes taken apart by cuts: the tree of a partition, whoever found the partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.helpers import inner, outer

_MOST = 6  # times as many pieces as boxes: those that a cut goes through become two
_TRIED = 96  # cuts of a column that are looked at


def divide_boxes(
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    allowed: list[NDArray[np.int32]],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return a tree of cuts that takes boxes apart, through as few of them as may be.

    Args:
        low: int32[boxes, columns], the first code of each.
        high: the last one.
        allowed: for each column, the codes before which it may be cut, ascending.

    Returns:
        For each node, those of the left side first, the column that is cut, -1 for a leaf; and
        the first code to the right of the cut.
    """
    most = int(high.max(initial=0)) + 2
    below = np.full((low.shape[1], most + 1), -1, dtype=np.int32)
    above = np.full((low.shape[1], most + 1), -1, dtype=np.int32)
    for j, codes in enumerate(allowed):
        codes = codes[codes <= most]
        below[j, codes] = above[j, codes] = codes
        below[j] = np.maximum.accumulate(below[j])
        reverse = np.where(above[j] < 0, most + 1, above[j])[::-1]
        above[j] = np.minimum.accumulate(reverse)[::-1]
    above[above > most] = -1
    room = _MOST * len(low) + 64
    pieces = np.empty((room, 2, low.shape[1]), dtype=np.int32)
    pieces[: len(low), 0], pieces[: len(low), 1] = low, high
    column = np.full(2 * room, -1, dtype=np.int32)
    code = np.zeros(2 * room, dtype=np.int32)
    nodes = _divide(pieces, len(low), below, above, np.empty_like(pieces), column, code)
    return column[:nodes].copy(), code[:nodes].copy()


@outer
def _divide(pieces, many, below, above, spare, column, code):
    room = pieces.shape[0]
    starts = np.zeros(room + 1, dtype=np.int64)
    starts[0] = 0
    depth = 1
    end = many
    nodes = 0
    lows = np.empty(room, dtype=np.int32)
    highs = np.empty(room, dtype=np.int32)
    while depth > 0:
        begin = starts[depth - 1]
        depth -= 1
        n = end - begin
        best_j, best_b = -1, -1
        if n > 1 and end + n < room:
            best_j, best_b = best_cut(pieces, begin, n, below, above, lows, highs)
        if best_j < 0:
            nodes += 1
            end = begin
            continue
        column[nodes], code[nodes] = best_j, best_b
        nodes += 1
        for i in range(n):
            copy_piece(pieces, begin + i, spare, i)
        at = begin
        for i in range(n):
            if spare[i, 1, best_j] >= best_b:
                copy_piece(spare, i, pieces, at)
                pieces[at, 0, best_j] = max(spare[i, 0, best_j], best_b)
                at += 1
        starts[depth] = begin
        depth += 1
        starts[depth] = at
        depth += 1
        for i in range(n):
            if spare[i, 0, best_j] < best_b:
                copy_piece(spare, i, pieces, at)
                pieces[at, 1, best_j] = min(spare[i, 1, best_j], best_b - 1)
                at += 1
        end = at
    return nodes


@inner
def best_cut(pieces, begin, n, below, above, lows, highs):
    """Return the column and code of the cut that divides boxes best; -1 if none does.

    As many as possible on the lesser side; a box that the cut goes through counts four times.
    """
    best_j, best_b = -1, -1
    best = -1e300
    for j in range(pieces.shape[2]):
        for i in range(n):
            lows[i] = pieces[begin + i, 0, j]
            highs[i] = pieces[begin + i, 1, j]
        one, other = np.sort(lows[:n]), np.sort(highs[:n])
        for i in range(0, n, max(n // _TRIED, 1)):
            for which in range(4):
                near = one[i] if which < 2 else other[i] + 1
                b = below[j, near] if which % 2 else above[j, near]
                left = np.searchsorted(other, b)
                right = n - np.searchsorted(one, b)
                score = min(left, right) - 4.0 * (n - left - right)
                if b >= 0 and min(left, right) > 0 and score > best:
                    best, best_j, best_b = score, j, b
    return best_j, best_b


@inner
def copy_piece(source, i, goal, at):
    """Copy a box."""
    for side in range(2):
        for j in range(source.shape[2]):
            goal[at, side, j] = source[i, side, j]


def walk_tree(
    codes: NDArray[np.int32],
    column: NDArray[np.int32],
    cut: NDArray[np.int32],
    children: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Return the leaf of each tuple of codes; children: int32[nodes, 2], left and right."""
    found = np.empty(len(codes), dtype=np.int64)
    _walk_tree(np.ascontiguousarray(codes), column, cut, children, found)
    return found


@outer
def _walk_tree(codes, column, cut, children, found):
    for i in range(codes.shape[0]):
        node = 0
        while column[node] >= 0:
            side = 0 if codes[i, column[node]] < cut[node] else 1
            node = children[node, side]
        found[i] = node
