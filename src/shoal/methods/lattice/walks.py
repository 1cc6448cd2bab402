"""Breadth first, depth first, subset by subset, and greedy: the searches of the textbooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np

from shoal.methods.lattice.board import Board, Findings, Search
from shoal.methods.lattice.space import Node

BATCH = 8  # nodes asked for together; fixed, so that the answer never depends on threads


def bfs(board: Board) -> Search:
    """Walk the lattice level by level from below, leaving out what is ruled out ([lim2018]).

    Guarantee:
        When it ends, the best solution is the best of the whole lattice.
    """
    height = np.indices(board.lattice.shape).sum(axis=0).ravel()
    order = np.argsort(height, kind="stable")
    for level in range(sum(board.lattice.heights) + 1):
        yield from _in_batches(board, order[height[order] == level].tolist())
    board.finish()


def _in_batches(board: Board, places: Sequence[int]) -> Search:
    waiting: list[Node] = []
    for place in places:
        if board.is_open(place):
            waiting.append(board.node(place))
        if len(waiting) == BATCH:
            yield tuple(waiting)
            waiting = []
    if waiting:
        yield tuple(waiting)


def dfs(board: Board) -> Search:
    """Climb from the bottom, the cheapest step first, and turn back at what is ruled out.

    Above a node whose generalization alone costs as much as the best solution,
    nothing can be better, and the search turns back ([lim2018]).

    Guarantee:
        When it ends, the best solution is the best of the whole lattice.
    """
    floors = board.bounds.copy()
    seen = np.zeros(board.lattice.size, dtype=np.bool_)
    stack = [0]
    while stack:
        place = stack.pop()
        if seen[place]:
            continue
        seen[place] = True
        if board.is_open(place):
            yield (board.node(place),)
        if floors[place] < board.best:
            above = [p for p in _coarser(board, place) if not seen[p]]
            stack.extend(sorted(above, key=lambda p: -floors[p]))
    board.finish()


def _coarser(board: Board, place: int) -> Iterator[int]:
    stride = 1
    for size in reversed(board.lattice.shape):
        if (place // stride) % size < size - 1:
            yield place + stride
        stride *= size


def incognito(board: Board) -> Search:
    """Look at one column alone, then at two, …: what fails there fails with more columns too.

    A set of columns is a node at which all others are at their root, so what fails rules
    out everything below it. The last round is over all columns, from below (LeFevre
    and others, 2005).

    Guarantee:
        When it ends, the best solution is the best of the whole lattice.
    """
    heights = board.lattice.heights
    strides = np.cumprod([1, *reversed(board.lattice.shape)])[-2::-1].tolist()
    known = np.zeros(board.lattice.shape, dtype=np.bool_)
    for size in range(1, len(heights)):
        for chosen in combinations(range(len(heights)), size):
            for levels in _from_below([heights[j] for j in chosen]):
                node = list(heights)
                for j, level in zip(chosen, levels, strict=True):
                    node[j] = level
                place = sum(a * b for a, b in zip(node, strides, strict=True))
                if known[tuple(node)] or board.bounds[place] == np.inf:
                    continue
                tally = (yield (tuple(node),))[0]
                if tally.suppressed <= board.budget:
                    known[tuple([slice(level, None) for level in node])] = True
    yield from bfs(board)


def _from_below(heights: Sequence[int]) -> list[tuple[int, ...]]:
    return sorted(product(*(range(height + 1) for height in heights)), key=sum)


def datafly(findings: Findings, distinct: Sequence[Sequence[int]]) -> Search:
    """Generalize the column with the most distinct values until the promise is kept.

    Fast, and rarely the best (Sweeney, 1998). distinct: values per column and level.
    """
    heights = findings.lattice.heights
    node = findings.lattice.bottom
    while True:
        tally = (yield (node,))[0]
        if tally.suppressed <= findings.budget:
            return
        left = [j for j, level in enumerate(node) if level < heights[j]]
        if not left:
            return
        widest = max(left, key=lambda j: distinct[j][node[j]])
        node = (*node[:widest], node[widest] + 1, *node[widest + 1 :])
