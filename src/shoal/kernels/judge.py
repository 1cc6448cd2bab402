"""Does a class keep the promise? Compiled; the slow twin is `core.privacy`.

A class is given as its number of records and one histogram for each sensitive
column, flat behind each other as `Promise.start` has them. Distances are
computed on shares in 64-bit floats; no product of two counts is ever formed,
so nothing overflows, whatever the number of records.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels.axes import (
    ALPHA,
    CHI2,
    CLOSENESS,
    DISTINCT,
    ENTROPY,
    EQUAL,
    NT_CLOSENESS,
    ORDERED,
    RECURSIVE,
)

# Slack where a float meets a limit: a tenth of what the exact verifier allows
# (`core.privacy.TOLERANCE`), so that a tie counts as a tie and the verifier,
# which adds in whole numbers, never finds a class wanting that passed here.
SLACK = 1e-13


@njit(cache=True, nogil=True)
def judge(promise, records, histogram, scratch):
    """Return whether a class of `records` with this `histogram` meets every model.

    scratch: float64 buffer of at least twice the nodes of the largest sensitive
    tree, or the length of the longest sensitive column, whichever is more.
    """
    if records < promise.k:
        return False
    for m in range(promise.kind.size):
        s = promise.column[m]
        low = promise.start[s]
        high = promise.start[s + 1]
        kind = promise.kind[m]
        if kind == DISTINCT:
            if count_distinct(histogram, low, high) < promise.first_number[m]:
                return False
        elif kind == ENTROPY:
            if (
                class_entropy(histogram, low, high, records)
                < np.log(promise.first_number[m]) - SLACK
            ):
                return False
        elif kind == RECURSIVE:
            if not is_recursive(
                histogram, low, high, promise.second_number[m], promise.first_number[m], scratch
            ):
                return False
        elif kind == CLOSENESS:
            limit = promise.first_number[m] * (1 + SLACK)
            if distance(promise, m, records, histogram, scratch) > limit:
                return False
        elif kind == NT_CLOSENESS:
            # The class itself, or the whole table, must be the set of n records around it.
            if records < promise.second_number[m]:
                limit = promise.first_number[m] * (1 + SLACK)
                if promise.reference[low:high].sum() < promise.second_number[m]:
                    return False
                if distance(promise, m, records, histogram, scratch) > limit:
                    return False
        elif kind == ALPHA:
            for v in range(low, high):
                if promise.marked[m, v - low] and histogram[v] / records > promise.first_number[m]:
                    return False
    return True


@njit(cache=True, nogil=True)
def count_distinct(histogram, low, high):
    """Return how many values occur."""
    found = 0
    for v in range(low, high):
        if histogram[v] > 0:
            found += 1
    return found


@njit(cache=True, nogil=True)
def class_entropy(histogram, low, high, records):
    """Return the entropy of the values, in nats."""
    total = 0.0
    for v in range(low, high):
        if histogram[v] > 0:
            share = histogram[v] / records
            total -= share * np.log(share)
    return total


@njit(cache=True, nogil=True)
def is_recursive(histogram, low, high, c, l, scratch):  # noqa: E741
    """Return whether r1 < c (r_l + … + r_m), counts sorted from large to small."""
    found = 0
    for v in range(low, high):
        if histogram[v] > 0:
            scratch[found] = -histogram[v]
            found += 1
    if found < l:
        return False
    scratch[:found].sort()
    tail = 0.0
    for i in range(int(l) - 1, found):
        tail -= scratch[i]
    return -scratch[0] / tail < c  # as the verifier divides, so that both round alike


@njit(cache=True, nogil=True)
def distance(promise, m, records, histogram, scratch):
    """Return the distance of the class from the whole table, as model m measures it."""
    s = promise.column[m]
    low = promise.start[s]
    high = promise.start[s + 1]
    whole = 0.0
    for v in range(low, high):
        whole += promise.reference[v]
    how = promise.distance[m]
    if how == EQUAL:
        total = 0.0
        for v in range(low, high):
            total += abs(histogram[v] / records - promise.reference[v] / whole)
        return total / 2
    if how == ORDERED:
        if high - low < 2:
            return 0.0
        total = 0.0
        carried = 0.0
        for v in range(low, high):
            carried += histogram[v] / records - promise.reference[v] / whole
            total += abs(carried)
        return total / (high - low - 1)
    if how == CHI2:
        total = 0.0
        for v in range(low, high):
            p = histogram[v] / records
            q = promise.reference[v] / whole
            if p + q > 0:
                total += (p - q) * (p - q) / (p + q)
        return total / 2
    return tree_distance(promise, s, records, whole, histogram, scratch)


@njit(cache=True, nogil=True)
def tree_distance(promise, s, records, whole, histogram, scratch):
    """Return the earth mover's distance with height(lowest common ancestor)/H as ground.

    Nodes stand in post-order, so a node's children are done before it is reached.
    A value that is an inner node counts as a leaf of its own below that node.
    """
    begin = promise.tree_start[s]
    nodes = promise.tree_start[s + 1] - begin
    surplus = scratch[:nodes]
    lack = scratch[nodes : 2 * nodes]
    for node in range(nodes):
        surplus[node] = 0.0
        lack[node] = 0.0
    for v in range(promise.start[s], promise.start[s + 1]):
        extra = histogram[v] / records - promise.reference[v] / whole
        node = promise.node[v]
        if extra > 0:
            surplus[node] += extra
        else:
            lack[node] -= extra
    total = 0.0
    for node in range(nodes):
        moved = min(surplus[node], lack[node])
        total += moved * promise.tree_height[begin + node]
        parent = promise.tree_parent[begin + node]
        if parent >= 0:
            rest = surplus[node] - lack[node]
            if rest > 0:
                surplus[parent] += rest
            else:
                lack[parent] -= rest
    return total
