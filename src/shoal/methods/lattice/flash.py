"""Greedy paths, most promising first (after Kohlmayer and others: Flash, 2012)."""

from __future__ import annotations

import math

import numpy as np

from shoal.kernels import lattice as kernel
from shoal.methods.lattice.board import Board, Search


def flash(board: Board) -> Search:
    """Resolve the most promising open node by a binary search on a greedy path above it.

    A node on the path that has to suppress too much, or whose suppressed records alone make
    the first node of the path worse than the best one known, rules the first node
    out, and with it everything below. The search looks for the highest such node,
    because it rules out the most. Nodes above a solution go when what they generalize
    alone costs as much.

    Guarantee:
        When it ends, the best solution is the best of the whole lattice.
    """
    first = True
    while True:
        start = _lowest(board) if first else _highest(board)
        if start < 0:
            break
        first = not first
        path = kernel.climb(board.bounds, board.shape, start)
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            yield (board.node(path[middle]),)
            if board.is_open(start):
                high = middle - 1
            else:
                low = middle + 1
    board.finish()


def _lowest(board: Board) -> int:
    place = int(board.bounds.argmin())
    return place if board.is_open(place) else -1


def _highest(board: Board) -> int:
    """Return the open node with the highest bound: ruling it out rules out the most."""
    if board.best == math.inf:
        return _lowest(board)
    place = int(np.where(board.bounds < board.best, board.bounds, -math.inf).argmax())
    return place if board.is_open(place) else -1
