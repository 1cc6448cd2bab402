"""Does a class keep the promise? Compiled; the slow twin is `core.privacy`.

A class is given as its number of records and one histogram for each sensitive
column, flat behind each other as `Promise.start` has them. Distances are
computed on shares in 64-bit floats; no product of two counts is ever formed,
so nothing overflows, whatever the number of records.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.axes import (
    ALPHA,
    DISTINCT,
    ENTROPY,
    EQUAL,
    HIERARCHICAL,
    NT_CLOSENESS,
    ORDERED,
    RECURSIVE,
    inner,
)

# Slack where a float meets a limit: a tenth of what the exact verifier allows
# (`core.privacy.TOLERANCE`), so that a tie counts as a tie and the verifier,
# which adds in whole numbers, never finds a class wanting that passed here.
SLACK = 1e-13


@inner
def judge(promise, records, histogram, scratch):
    """Return whether a class of `records` with this `histogram` meets every model.

    scratch: float64 buffer of at least twice the nodes of the largest sensitive
    tree, or the length of the longest sensitive column, whichever is more.
    """
    if records < promise.k:
        return False
    # Each look into the tuple costs the compiler as much as ten lines, so look once.
    kinds, columns, start = promise.kind, promise.column, promise.start
    numbers, seconds, distances = promise.first_number, promise.second_number, promise.distance
    reference, marked, node = promise.reference, promise.marked, promise.node
    tree_start, tree_parent = promise.tree_start, promise.tree_parent
    tree_height = promise.tree_height
    for m in range(kinds.size):
        s = columns[m]
        low = start[s]
        high = start[s + 1]
        kind = kinds[m]
        limit = numbers[m]
        if kind == DISTINCT or kind == ENTROPY:
            # Both in one loop: two calls less to compile, which a first run notices.
            found = 0
            spread = 0.0
            for v in range(low, high):
                if histogram[v] > 0:
                    found += 1
                    share = histogram[v] / records
                    spread -= share * np.log(share)
            if kind == DISTINCT and found < limit:
                return False
            if kind == ENTROPY and spread < np.log(limit) - SLACK:
                return False
        elif kind == RECURSIVE:
            if not is_recursive(histogram, low, high, seconds[m], limit, scratch):
                return False
        elif kind == ALPHA:
            for v in range(low, high):
                if marked[m, v - low] and histogram[v] / records > limit:
                    return False
        else:
            whole = np.int64(0)
            for v in range(low, high):
                whole += reference[v]
            if kind == NT_CLOSENESS:
                # The class itself, or the whole table, must be the set of n records around it.
                if records >= seconds[m]:
                    continue
                if whole < seconds[m]:
                    return False
            if distances[m] == HIERARCHICAL:
                apart = tree_distance(
                    histogram, reference, node, low, high, records, whole,
                    tree_parent, tree_height, tree_start[s], tree_start[s + 1], scratch,
                )  # fmt: skip
            else:
                apart = line_distance(histogram, reference, low, high, records, whole, distances[m])
            if apart > limit * (1 + SLACK):
                return False
    return True


@inner
def count_distinct(histogram, low, high):
    """Return how many values occur."""
    found = 0
    for v in range(low, high):
        if histogram[v] > 0:
            found += 1
    return found


@inner
def class_entropy(histogram, low, high, records):
    """Return the entropy of the values, in nats."""
    total = 0.0
    for v in range(low, high):
        if histogram[v] > 0:
            share = histogram[v] / records
            total -= share * np.log(share)
    return total


@inner
def is_recursive(histogram, low, high, c, l, scratch):  # noqa: E741
    """Return whether r1 < c (r_l + … + r_m), counts sorted from large to small.

    The l - 1 largest counts are kept in order as they come: l is small, and a
    general sort takes the compiler a second and a half.
    """
    kept = 0
    most = int(l) - 1
    found = 0
    tail = 0.0
    top = 0.0
    for v in range(low, high):
        count = float(histogram[v])
        if count <= 0.0:
            continue
        found += 1
        top = max(top, count)
        tail += count
        i = kept
        while i > 0 and scratch[i - 1] < count:
            if i < most:
                scratch[i] = scratch[i - 1]
            i -= 1
        if i < most:
            scratch[i] = count
            kept = min(kept + 1, most)
    if found < l:
        return False
    for i in range(kept):
        tail -= scratch[i]
    return top / tail < c  # as the verifier divides, so that both round alike


@inner
def line_distance(histogram, reference, low, high, records, whole, how):
    """Return the distance of a class from the whole table: equal, ordered or chi-square."""
    total = 0.0
    carried = 0.0
    for v in range(low, high):
        p = histogram[v] / records
        q = reference[v] / whole
        if how == EQUAL:
            total += abs(p - q)
        elif how == ORDERED:
            carried += p - q
            total += abs(carried)
        elif p + q > 0:
            total += (p - q) * (p - q) / (p + q)
    if how == ORDERED:
        return total / (high - low - 1) if high - low > 1 else 0.0
    return total / 2


@inner
def tree_distance(
    histogram, reference, node, low, high, records, whole, parent, height, begin, end, scratch
):
    """Return the earth mover's distance with height(lowest common ancestor)/H as ground.

    Nodes stand in post-order, so a node's children are done before it is reached.
    A value that is an inner node counts as a leaf of its own below that node.
    """
    nodes = end - begin
    for i in range(2 * nodes):  # the surplus of each node, then the lack of each node
        scratch[i] = 0.0
    for v in range(low, high):
        extra = histogram[v] / records - reference[v] / whole
        if extra > 0:
            scratch[node[v]] += extra
        else:
            scratch[nodes + node[v]] -= extra
    total = 0.0
    for i in range(nodes):
        total += min(scratch[i], scratch[nodes + i]) * height[begin + i]
        above = parent[begin + i]
        if above >= 0:
            rest = scratch[i] - scratch[nodes + i]
            if rest > 0:
                scratch[above] += rest
            else:
                scratch[nodes + above] -= rest
    return total
