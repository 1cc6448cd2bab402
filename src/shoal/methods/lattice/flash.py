"""Greedy paths, most promising first (after Kohlmayer and others: Flash, 2012)."""

from __future__ import annotations

import math

import numpy as np

from shoal.methods.lattice.board import Board, Search
from shoal.methods.lattice.measures import Tally
from shoal.methods.lattice.space import Node


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
    while True:
        start = _most_promising(board)
        if start is None:
            break
        path = _path(board, start)
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            tally = (yield (path[middle],))[0]
            del tally
            if board.is_open(start):
                high = middle - 1
            else:
                low = middle + 1
    board.finish()


def best_first(board: Board) -> Search:
    """Count nodes in the order of their bounds until no bound is below the best loss.

    Where much may be suppressed, nearly every node is a solution, and the paths of `flash`
    only delay the good ones.
    """
    while True:
        start = _most_promising(board)
        if start is None:
            break
        yield (start,)
    board.finish()


def _most_promising(board: Board) -> Node | None:
    place = int(board.bounds.argmin())
    if not board.bounds.flat[place] < board.best:
        return None
    return tuple(int(level) for level in np.unravel_index(place, board.lattice.shape))


def _path(board: Board, start: Node) -> list[Node]:
    """Climb from a node to the top, always to the open neighbour with the lowest bound."""
    path = [start]
    while True:
        steps = [(board.bounds[node], node) for node in board.lattice.coarser(path[-1])]
        bound, node = min(steps, default=(math.inf, start))
        if not bound < board.best:
            return path
        path.append(node)


__all__ = ["Tally", "best_first", "flash"]
