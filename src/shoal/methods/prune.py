"""Fewer, larger regions of a tree of cuts, for a device that has no room for all of them.

Taking out what is below a cut makes one region of many. What that costs is known before: the loss
of the one region less the loss of those that it takes in, for each class that it saves. The cut
where this is least goes first, then the next one (weakest-link pruning, as for classification
trees), so that the trees of all sizes are found at once, each inside the one before.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.methods.cut_tree import Cutting
from shoal.methods.narrow import narrowed
from shoal.table.recoding import Recoding


@dataclass(frozen=True)
class Pruning:
    """The trees of all sizes inside a tree of cuts.

    Attributes:
        whole: the tree.
        order: the cuts that go, in this order; what is below them goes with them.
        left: how many classes are left after each.
    """

    whole: Cutting
    order: tuple[int, ...]
    left: tuple[int, ...]

    @property
    def classes(self) -> int:
        """Return the classes of the whole tree."""
        return self.whole.recoding.classes

    def of(self, classes: int) -> Cutting:
        """Return the largest of the trees that has at most so many classes (at least one).

        Law:
            Each of its regions is a union of regions of the whole tree, and has their records.
        """
        if classes >= self.classes:
            return self.whole
        steps = next(i for i, left in enumerate(self.left, start=1) if left <= max(classes, 1))
        return _without(self.whole, self.order[:steps])


def prune(whole: Cutting) -> Pruning:
    """Return the order in which the cuts of a tree go."""
    parent, many, alone = _nodes(whole)
    nodes = len(whole.cuts)
    below = alone.copy()  # the loss of what is there now below each node
    children: list[list[int]] = [[] for _ in range(nodes)]
    for node in range(len(parent) - 1, 0, -1):
        children[parent[node]].append(node)
    for node in range(nodes - 1, -1, -1):
        below[node] = sum(below[child] for child in children[node])
    heap = [(_link(alone, below, many, node), node) for node in range(nodes)]
    heapq.heapify(heap)
    gone = [False] * nodes
    order, left = [], []
    while heap:
        link, node = heapq.heappop(heap)
        if gone[node] or link != _link(alone, below, many, node):
            continue
        order.append(node)
        saved, cost = many[node] - 1, alone[node] - below[node]
        waiting = [node]
        while waiting:
            each = waiting.pop()
            gone[each] = True
            waiting += [child for child in children[each] if child < nodes and not gone[child]]
        while node >= 0:
            many[node] -= saved
            below[node] += cost
            if not gone[node]:
                heapq.heappush(heap, (_link(alone, below, many, node), node))
            node = parent[node]
        left.append(many[0])
    return Pruning(whole, tuple(order), tuple(left))


def _link(alone: Sequence[float], below: Sequence[float], many: Sequence[int], node: int) -> float:
    """Return what a cut is worth, for each class that it makes."""
    return (alone[node] - below[node]) / max(many[node] - 1, 1)


def _nodes(whole: Cutting) -> tuple[list[int], list[int], list[float]]:
    """Return the parent, the classes and the loss as one region of each cut, then of each class."""
    inner, classes = len(whole.cuts), whole.recoding.classes
    first, many, parent, leaf_parent = [0] * inner, [0] * inner, [-1] * inner, [-1] * classes
    waiting = [(0, classes, -1)] if inner else []
    node = 0
    while waiting:  # in the order of the cuts: the left side first
        begin, size, above = waiting.pop()
        if size == 1:
            leaf_parent[begin] = above
            continue
        first[node], many[node], parent[node] = begin, size, above
        left = whole.left[node]
        waiting += [(begin + left, size - left, node), (begin, left, node)]
        node += 1
    begins = np.array(first + list(range(classes)))
    ends = begins + np.array(many + [1] * classes)
    low, high = _unions(whole, begins, ends, parent + leaf_parent)
    sums = np.append(0, np.cumsum(whole.recoding.sizes))
    losses = (sums[ends] - sums[begins]) * _costs(whole.recoding, low, high)
    return parent + leaf_parent, many + [1] * classes, losses.tolist()


def _unions(
    whole: Cutting, begins: NDArray[np.int64], ends: NDArray[np.int64], parent: Sequence[int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the box of codes of each node: what its cuts let through."""
    inner, classes = len(whole.cuts), whole.recoding.classes
    low = np.empty((inner + classes, whole.low.shape[1]), dtype=np.int32)
    high = np.empty_like(low)
    low[inner:], high[inner:] = whole.low, whole.high
    low[:inner], high[:inner] = np.iinfo(np.int32).max, -1
    for node in range(inner + classes - 1, 0, -1):
        # Cuts stand before what is below them, and classes behind all cuts.
        above = parent[node]
        low[above] = np.minimum(low[above], low[node])
        high[above] = np.maximum(high[above], high[node])
    return low, high


def _costs(
    recoding: Recoding, low: NDArray[np.int32], high: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return what a record loses in each box, all columns together."""
    total: NDArray[np.float64] = np.zeros(len(low))
    for j, domain in enumerate(recoding.table.domains):
        runs = low[:, j].astype(np.int64) << 32 | high[:, j]
        distinct, where = np.unique(runs, return_inverse=True)
        costs = [domain.cost(int(run >> 32), int(run & 0xFFFFFFFF)) for run in distinct]
        total += np.array(costs)[where] * domain.weight
    return total


def loss_of(recoding: Recoding) -> float:
    """Return the share of the information that regions lose, by what they release."""
    weights = sum(domain.weight for domain in recoding.table.domains)
    lost = (recoding.sizes * _costs(recoding, recoding.low, recoding.high)).sum()
    return float(lost / (recoding.table.records * weights))


def _without(whole: Cutting, gone: Sequence[int]) -> Cutting:
    """Return the tree without some cuts, and without what is below them."""
    out = set(gone)
    cuts, sides, ends = [], [], []
    waiting = [(0, 0, whole.recoding.classes)]
    while waiting:
        node, begin, size = waiting.pop()
        if size == 1 or node in out:
            ends.append(begin + size)
            continue
        cuts.append(whole.cuts[node])
        left = whole.left[node]
        sides.append((begin, begin + left))
        waiting += [(node + left, begin + left, size - left), (node + 1, begin, left)]
    begins = np.array([0, *ends[:-1]])
    low = np.minimum.reduceat(whole.low, begins, axis=0)
    high = np.maximum.reduceat(whole.high, begins, axis=0)
    number = np.repeat(np.arange(len(ends)), np.array(ends) - begins)
    found = whole.recoding
    united = Recoding(
        table=found.table, low=low, high=high, row=found.row, label=number[found.label],
        count=found.count, facts=found.facts,
    )  # fmt: skip
    left_sides = np.diff(np.searchsorted(ends, np.array(sides).reshape(-1, 2), side="right"))
    return Cutting(
        narrowed(united), low, high, whole.places, tuple(cuts), tuple(left_sides.ravel().tolist())
    )
