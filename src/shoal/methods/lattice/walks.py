"""Breadth first, depth first, subset by subset, and greedy: the searches of the textbooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np

from shoal.methods.lattice.space import Node
from shoal.methods.lattice.state import Search, SearchState, TaggedState

BATCH = 8  # nodes asked for together; fixed, so that the answer never depends on threads


def bfs(tagged: TaggedState) -> Search:
    """Walk the lattice level by level from below, leaving out what is ruled out ([lim2018]).

    Guarantee:
        When it ends, the best solution is the best of the whole lattice.
    """
    height = np.indices(tagged.lattice.shape).sum(axis=0).ravel()
    order = np.argsort(height, kind="stable")
    for level in range(sum(tagged.lattice.heights) + 1):
        yield from _in_batches(tagged, order[height[order] == level].tolist())
    tagged.finish()


def _in_batches(tagged: TaggedState, places: Sequence[int]) -> Search:
    waiting: list[Node] = []
    for place in places:
        if tagged.is_open(place):
            waiting.append(tagged.node(place))
        if len(waiting) == BATCH:
            yield tuple(waiting)
            waiting = []
    if waiting:
        yield tuple(waiting)


def dfs(tagged: TaggedState) -> Search:
    """Climb from the bottom, the cheapest step first, and turn back at what is ruled out.

    Above a node whose generalization alone costs as much as the best solution,
    nothing can be better, and the search turns back ([lim2018]).

    Guarantee:
        When it ends, the best solution is the best of the whole lattice.
    """
    floors = tagged.bounds.copy()
    seen = np.zeros(tagged.lattice.size, dtype=np.bool_)
    stack = [0]
    while stack:
        place = stack.pop()
        if seen[place]:
            continue
        seen[place] = True
        if tagged.is_open(place):
            yield (tagged.node(place),)
        if floors[place] < tagged.best:
            above = [p for p in _coarser(tagged, place) if not seen[p]]
            stack.extend(sorted(above, key=lambda p: -floors[p]))
    tagged.finish()


def _coarser(tagged: TaggedState, place: int) -> Iterator[int]:
    stride = 1
    for size in reversed(tagged.lattice.shape):
        if (place // stride) % size < size - 1:
            yield place + stride
        stride *= size


def incognito(tagged: TaggedState) -> Search:
    """Look at one column alone, then at two, …: what fails there fails with more columns too.

    A set of columns is a node at which all others are at their root, so what fails rules
    out everything below it. The last round is over all columns, from below (LeFevre
    and others, 2005).

    Guarantee:
        When it ends, the best solution is the best of the whole lattice.
    """
    heights = tagged.lattice.heights
    strides = np.cumprod([1, *reversed(tagged.lattice.shape)])[-2::-1].tolist()
    known = np.zeros(tagged.lattice.shape, dtype=np.bool_)
    for size in range(1, len(heights)):
        for chosen in combinations(range(len(heights)), size):
            for levels in _from_below([heights[j] for j in chosen]):
                node = list(heights)
                for j, level in zip(chosen, levels, strict=True):
                    node[j] = level
                place = sum(a * b for a, b in zip(node, strides, strict=True))
                if known[tuple(node)] or tagged.bounds[place] == np.inf:
                    continue
                tally = (yield (tuple(node),))[0]
                if tally.suppressed <= tagged.budget:
                    known[tuple([slice(level, None) for level in node])] = True
    yield from bfs(tagged)


def _from_below(heights: Sequence[int]) -> list[tuple[int, ...]]:
    return sorted(product(*(range(height + 1) for height in heights)), key=sum)


def datafly(state: SearchState, distinct: Sequence[Sequence[int]]) -> Search:
    """Generalize the column with the most distinct values until the promise is kept.

    Fast, and rarely the best (Sweeney, 1998). distinct: values per column and level.
    """
    heights = state.lattice.heights
    node = state.lattice.bottom
    while True:
        tally = (yield (node,))[0]
        if tally.suppressed <= state.budget:
            return
        left = [j for j, level in enumerate(node) if level < heights[j]]
        if not left:
            return
        widest = max(left, key=lambda j: distinct[j][node[j]])
        node = (*node[:widest], node[widest] + 1, *node[widest + 1 :])
