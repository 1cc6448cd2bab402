"""Lattices too large for a bound per node: boxes of nodes, the most promising first.

A box holds all nodes between its lowest and its highest one. Ruling out its lowest
node cuts the box into smaller ones that leave out everything ruled out with it, so
the lattice is never built, and the lowest bound of the boxes left is a bound for
the whole: when it reaches the best loss, the solution is proven; when the search has
to stop before, it says how far off the best node may be.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.methods.lattice.measures import Floats, Measure, Tally
from shoal.methods.lattice.space import Node
from shoal.methods.lattice.state import Search, SearchState


class Box(NamedTuple):
    """Nodes from `low` to `high`; a heap gives the one with the lowest bound."""

    bound: float
    number: int  # among equals, the box that was made first
    low: Node
    high: Node


class Veto:
    """Nodes that were counted, and what each says about everything below it."""

    def __init__(self, measure: Measure, *, budget: int) -> None:
        self._measure, self._budget = measure, budget
        columns, levels = measure.floors().shape
        self._columns = np.arange(columns)
        self._used = 0
        self._nodes: NDArray[np.int16] = np.zeros((256, columns), dtype=np.int16)
        self._scores: Floats = np.zeros((256, columns, levels))

    def learn(self, tally: Tally) -> None:
        """Take in a tally."""
        finer = math.inf if tally.least > self._budget else self._measure.finer(tally)
        if isinstance(finer, float) and finer == -math.inf:
            return
        if self._used == len(self._nodes):
            self._nodes = np.concatenate((self._nodes, np.zeros_like(self._nodes)))
            self._scores = np.concatenate((self._scores, np.zeros_like(self._scores)))
        self._nodes[self._used] = tally.node
        if isinstance(finer, float):  # one number for the node, not one a column
            self._scores[self._used] = 0.0
            self._scores[self._used, 0] = finer
        else:
            self._scores[self._used] = finer
        self._used += 1

    def rules_out(self, low: Node, best: float) -> Node | None:
        """Return a node for which everything from `low` up to it is ruled out, if one is known."""
        nodes = self._nodes[: self._used]
        above = np.flatnonzero((nodes >= np.array(low, dtype=np.int16)).all(axis=1))
        if not above.size:
            return None
        parts = self._scores[above][:, self._columns, low]
        scores = parts.max(axis=1) if self._measure.takes_max else parts.sum(axis=1)
        found = above[scores >= best]
        if not found.size:
            return None
        highest = found[int(nodes[found].sum(axis=1).argmax())]
        return tuple(nodes[highest].tolist())


def best_first(state: SearchState) -> Search:
    """Search a lattice of any size.

    Guarantee:
        `state.bound` is never above the score of any solution; when the search ends
        by itself, the best solution is the best of the whole lattice.
    """
    lattice, measure = state.lattice, state.measure
    floors = measure.floors()
    veto = Veto(measure, budget=state.budget)
    for tally in state.tallies:  # of a search that goes on where another one ended
        veto.learn(tally)
    heap = [Box(_join(measure, floors, lattice.bottom), 0, lattice.bottom, lattice.top)]
    made = 0
    while heap:
        box = heapq.heappop(heap)
        state.bound = min(max(box.bound, state.bound), state.best)
        if box.bound >= state.best:
            break
        pivot = veto.rules_out(box.low, state.best)
        if pivot is None:
            yield from _probe(box, floors, state=state, veto=veto)
            pivot = veto.rules_out(box.low, state.best) or box.low
        for low, high in _not_below(box, pivot):
            bound = max(_join(measure, floors, low), box.bound)
            if bound < state.best:
                made += 1
                heapq.heappush(heap, Box(bound, made, low, high))
    state.proven = True
    state.bound = state.best


def _join(measure: Measure, scores: Floats, node: Node) -> float:
    parts = [row[level] for row, level in zip(scores.tolist(), node, strict=True)]
    return float(max(parts) if measure.takes_max else sum(parts))


def _probe(box: Box, floors: Floats, *, state: SearchState, veto: Veto) -> Search:
    """Look on the cheapest path through a box for the highest node that rules out the lowest.

    When this ends, the lowest node is ruled out or counted.
    """
    path = _path(box, floors)
    low, high = 0, len(path) - 1
    while low <= high:
        middle = (low + high) // 2
        best = state.best
        if path[middle] not in state.counted:
            veto.learn((yield (path[middle],))[0])
            if state.best < best:
                yield from _improve(state, veto)
        if veto.rules_out(box.low, state.best) is None:
            high = middle - 1
        else:
            low = middle + 1


def _path(box: Box, floors: Floats) -> list[Node]:
    """Return the way from the lowest to the highest node, the cheapest step first."""
    rows = floors.tolist()
    node = list(box.low)
    path = [box.low]
    steps = [
        (rows[j][level + 1] - rows[j][level], j)
        for j, level in enumerate(node)
        if level < box.high[j]
    ]
    heapq.heapify(steps)
    while steps:
        _, j = heapq.heappop(steps)
        node[j] += 1
        path.append(tuple(node))
        if node[j] < box.high[j]:
            heapq.heappush(steps, (rows[j][node[j] + 1] - rows[j][node[j]], j))
    return path


def _not_below(box: Box, node: Node) -> Iterator[tuple[Node, Node]]:
    """Yield boxes that hold together every node of `box` but those at or below `node`."""
    edge = tuple(min(a, b) for a, b in zip(node, box.high, strict=True))
    for j, level in enumerate(edge):
        if level < box.high[j]:
            low = (*box.low[:j], level + 1, *box.low[j + 1 :])
            yield low, (*edge[:j], *box.high[j:])


def _improve(state: SearchState, veto: Veto) -> Search:
    """Walk from the best solution to better ones near it until there is none.

    Near are nodes one step away, then those where one column goes down and another up: at
    15 columns, these swaps found what 20,000 more boxes had not found.
    """
    lattice, measure = state.lattice, state.measure
    floors = measure.floors()
    while True:
        here = state.ranked()[0]
        around = (*lattice.finer(here.node), *lattice.coarser(here.node))
        swaps = (up for down in lattice.finer(here.node) for up in lattice.coarser(down))
        for near in (around, swaps):
            fresh = dict.fromkeys(
                node
                for node in near
                if node not in state.counted
                and _join(measure, floors, node) < state.best
                and veto.rules_out(node, state.best) is None
            )
            if fresh:
                for tally in (yield tuple(fresh)):
                    veto.learn(tally)
            if state.best < here.score:
                break
        else:
            return
