"""A tree of cuts grown for its size: the next cut is the one that saves most, wherever it is.

A partition for thousands of classes, pruned, is a poor partition for a few: its first cuts halve
the records, and what they save shows only far below. Here each leaf knows its best cut, and the
leaf where that saves most is cut first. A cut of a hierarchy may save nothing before the next one
does, so for half of its weight a run of its values costs the share of them that it covers.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable

Cut = tuple[float, int, int]  # what it saves, its column, the bin behind it


class _Column:
    """The places of a column between its cuts (its bins), and what a run of them costs."""

    def __init__(self, domain: Domain, codes: NDArray[np.int32], allowed: NDArray[np.int32]):
        self.allowed = np.unique(allowed[(allowed > 0) & (allowed < len(domain))])
        self.bin = np.searchsorted(self.allowed, codes, side="right").astype(np.int32)
        self.many = len(self.allowed) + 1
        self.weight = domain.weight
        first = np.append(0, self.allowed)
        last = np.append(self.allowed, len(domain)) - 1
        self.is_line = domain.tree is None
        self.missing = domain.has_missing and self.is_line
        if self.is_line:
            self.begin, self.end = domain.position[first], domain.position[last]
            self.span = domain.span or 1.0
            return
        within = [domain.cost(int(a), int(b)) for a, b in zip(first, last, strict=True)]
        across = [domain.cost(int(b) - 1, int(b)) for b in self.allowed]
        self.within = np.array(within)
        self.across = np.append(0.0, across)

    def cost(self, low: int, high: int) -> float:
        """Return what a run of bins costs."""
        if self.is_line:
            if self.missing and low == 0:
                return float(high > 0)
            return min(float(self.end[high] - self.begin[low]) / self.span, 1.0)
        tall = self.within[low : high + 1].max()
        if high > low:
            tall = max(tall, self.across[low + 1 : high + 1].max())
        return float(tall + (high - low) / max(self.many - 1, 1)) / 2

    def sides(self, low: int, high: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the costs of both sides of each cut inside of a run."""
        if self.is_line:
            left = np.minimum((self.end[low:high] - self.begin[low]) / self.span, 1.0)
            right = np.minimum((self.end[high] - self.begin[low + 1 : high + 1]) / self.span, 1.0)
            if self.missing and low == 0:
                left[0], left[1:] = 0.0, 1.0
            return left, right
        within, across = self.within[low : high + 1], self.across[low + 1 : high + 1]
        left = np.maximum.accumulate(within[:-1])
        left[1:] = np.maximum(left[1:], np.maximum.accumulate(across[:-1]))
        right = np.maximum.accumulate(within[:0:-1])
        right[1:] = np.maximum(right[1:], np.maximum.accumulate(across[:0:-1]))
        steps = np.arange(high - low) / max(self.many - 1, 1)
        return (left + steps) / 2, (right + steps)[::-1] / 2


@dataclass
class _Leaf:
    rows: NDArray[np.int64]
    low: list[int]
    high: list[int]
    node: int


def grow(
    table: FrequencyTable, allowed: Sequence[NDArray[np.int32]], *, least: int, most: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return a tree of at most so many classes, each of `least` records, as `divide_boxes` does.

    allowed: for each column, the codes before which it may be cut, ascending.
    """
    columns = [
        _Column(domain, table.codes[:, j], allowed[j]) for j, domain in enumerate(table.domains)
    ]
    root = _Leaf(
        np.arange(table.rows), [0] * len(columns), [column.many - 1 for column in columns], 0
    )
    cuts: list[tuple[int, int] | None] = [None]
    children: list[tuple[int, int]] = [(0, 0)]
    heap: list[tuple[float, int, Cut, _Leaf]] = []
    _push(heap, root, columns, table.counts, least)
    leaves = 1
    while heap and leaves < most:
        _, _, (_, j, behind), leaf = heapq.heappop(heap)
        side = columns[j].bin[leaf.rows] >= behind
        cuts[leaf.node] = (j, int(columns[j].allowed[behind - 1]))
        children[leaf.node] = (len(cuts), len(cuts) + 1)
        low, high = leaf.low.copy(), leaf.high.copy()
        low[j], high[j] = behind, behind - 1
        one = _Leaf(leaf.rows[~side], leaf.low, high, len(cuts))
        other = _Leaf(leaf.rows[side], low, leaf.high, len(cuts) + 1)
        cuts += [None, None]
        children += [(0, 0), (0, 0)]
        for each in (one, other):
            _push(heap, each, columns, table.counts, least)
        leaves += 1
    return _in_order(cuts, children)


def _push(
    heap: list[tuple[float, int, Cut, _Leaf]],
    leaf: _Leaf,
    columns: Sequence[_Column],
    counts: NDArray[np.int64],
    least: int,
) -> None:
    """Find the best cut of a leaf, and let it wait for its turn."""
    weights = counts[leaf.rows]
    records = int(weights.sum())
    if records < 2 * least:
        return
    best: Cut = (0.0, -1, 0)
    for j, column in enumerate(columns):
        low, high = leaf.low[j], leaf.high[j]
        if low == high:
            continue
        held = np.bincount(column.bin[leaf.rows] - low, weights, high - low + 1)
        left = np.cumsum(held)[:-1]
        costs = column.sides(low, high)
        saved = records * column.cost(low, high) - left * costs[0] - (records - left) * costs[1]
        saved[(left < least) | (records - left < least)] = -1.0
        at = int(saved.argmax())
        gain = float(saved[at]) * column.weight
        if gain > best[0]:
            best = (gain, j, low + at + 1)
    if best[1] >= 0:
        heapq.heappush(heap, (-best[0], leaf.node, best, leaf))


def _in_order(
    cuts: Sequence[tuple[int, int] | None], children: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return columns and codes of nodes, those of the left side first."""
    column, code, waiting = [], [], [0]
    while waiting:
        node = waiting.pop()
        j, at = cuts[node] or (-1, 0)
        column.append(j)
        code.append(at)
        if j >= 0:
            waiting += [children[node][1], children[node][0]]
    return np.array(column, dtype=np.int32), np.array(code, dtype=np.int32)
