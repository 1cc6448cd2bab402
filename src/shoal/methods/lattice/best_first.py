"""Lattices too large for a bound per node: boxes of nodes, the most promising first.

A box holds all nodes between its lowest and its highest one. Counting one node of
it cuts the box into smaller ones, so the lattice is never built, and the lowest
bound of the boxes left is a bound for the whole: when it reaches the best loss,
the solution is proven; when the search has to stop before, it says how far off
the best node may be.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shoal.methods.lattice.board import Findings, Search
from shoal.methods.lattice.measures import Floats, Tally
from shoal.methods.lattice.space import Node


class Box(NamedTuple):
    """Nodes from `low` to `high`; a heap gives the one with the lowest bound."""

    bound: float
    number: int  # among equals, the box that was made first
    low: Node
    high: Node
    scores: Floats  # float64[columns, levels]: no node of the box scores less per column


def best_first(findings: Findings) -> Search:
    """Search a lattice of any size.

    Guarantee:
        `findings.bound` is never above the score of any solution; when the search ends
        by itself, the best solution is the best of the whole lattice.
    """
    lattice, measure = findings.lattice, findings.measure
    floors = measure.floors()
    whole = Box(-math.inf, 0, lattice.bottom, lattice.top, floors)
    heap = [whole]
    made = 0
    known: dict[Node, Tally] = {}
    climbed = math.inf
    while heap:
        box = heapq.heappop(heap)
        findings.bound = min(max(box.bound, findings.bound), findings.best)
        if box.bound >= findings.best:
            break
        pivot = _halfway(box)
        if pivot not in known:
            known[pivot] = (yield (pivot,))[0]
        tally = known.pop(pivot)  # boxes do not overlap: no pivot comes twice
        if findings.best < climbed:
            yield from _improve(findings, known)
            climbed = findings.best
        for low, high, scores in _cut(box, tally, findings=findings):
            bound = max(_join(findings, scores, low), box.bound)
            if bound < findings.best:
                made += 1
                heapq.heappush(heap, Box(bound, made, low, high, scores))
    findings.proven = True
    findings.bound = findings.best


def _join(findings: Findings, scores: Floats, node: Node) -> float:
    parts = scores[np.arange(len(node)), node].tolist()
    return float(max(parts) if findings.measure.takes_max else sum(parts))


def _halfway(box: Box) -> Node:
    """Return the node half-way up the cheapest path from the lowest to the highest node."""
    node = list(box.low)
    rows = box.scores.tolist()
    steps = [
        (rows[j][level + 1] - rows[j][level], j)
        for j, level in enumerate(node)
        if level < box.high[j]
    ]
    heapq.heapify(steps)
    for _ in range(sum(box.high) // 2 - sum(box.low) // 2):
        if not steps:
            break
        _, j = heapq.heappop(steps)
        node[j] += 1
        if node[j] < box.high[j]:
            heapq.heappush(steps, (rows[j][node[j] + 1] - rows[j][node[j]], j))
    return tuple(node)


def _cut(
    box: Box, tally: Tally, *, findings: Findings
) -> Iterator[tuple[Node, Node, Floats]]:
    """Yield boxes that hold together every node of `box` that may still be a solution."""
    node = tally.node
    if tally.least > findings.budget:  # everything at or below the node is out
        yield from _not_below(box, node)
        return
    # Boxes below the node know what it must suppress; above it, what it generalizes counts.
    finer = findings.measure.finer(tally)
    below = finer if isinstance(finer, np.ndarray) else box.scores
    if isinstance(finer, float) and finer >= findings.best:
        yield from _not_below(box, node)
        return
    for j, level in enumerate(node):
        if level > box.low[j]:
            high = (*node[:j], level - 1, *node[j + 1 :])
            low = (*node[:j], *box.low[j:])
            yield low, high, np.maximum(below, box.scores)
    yield from _not_below(box, node)


def _not_below(box: Box, node: Node) -> Iterator[tuple[Node, Node, Floats]]:
    for j, level in enumerate(node):
        if level < box.high[j]:
            low = (*box.low[:j], level + 1, *box.low[j + 1 :])
            high = (*node[:j], *box.high[j:])
            yield low, high, box.scores


def _improve(findings: Findings, known: dict[Node, Tally]) -> Search:
    """Walk from the best solution to better neighbours until there is none."""
    while True:
        here = findings.ranked()[0]
        around = (*findings.lattice.finer(here.node), *findings.lattice.coarser(here.node))
        fresh = tuple(node for node in around if node not in findings.counted)
        if not fresh:
            return
        known.update(zip(fresh, (yield fresh), strict=True))
        if findings.best >= here.score:
            return
