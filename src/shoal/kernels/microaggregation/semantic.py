"""Distances between values, and the centroid of some of them, column by column.

A column is a line (numbers, dates, ordinal values) or the part of a tree that lies above its
values, numbered in post-order, root last. A value's *place* is its scaled position on the line
or its node; the place -1 is the missing value, as far as can be from every other one.
Distances are whole numbers, so that sums are exact in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.helpers import lean, lean_outer


class Semantics(NamedTuple):
    """The columns.

    `column` has one row a column: KIND; FULL (the distance of a missing value); how many CODES;
    NODES; and where it starts in `flat`: PLACE of each code; NODE: parent, depth and share of
    each node; TABLE of distances of all nodes (-1: none); SUMS: distances by depth, a row of
    which is WIDE; and COUNT: where a histogram of all columns has its codes.
    A distance is `table[a, b]` where there is a table; else, of DEPTHS, the entry (depth of the
    common ancestor, sum of the two depths), and of SHARES, the share of the common ancestor.
    Two arrays, not five: every array of an argument makes each caller slower to compile.
    """

    column: NDArray[np.int64]
    flat: NDArray[np.int64]


KIND, FULL, CODES, NODES, PLACE, NODE, TABLE, SUMS, WIDE, COUNT = range(10)
MEAN, MEDIAN, DEPTHS, SHARES = range(4)
PARENT, DEPTH, SHARE, FIELDS = range(4)


def scratch_of(semantics: Semantics) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what `centre` works in: a row of sums a node, all 0; and a list of nodes."""
    column = semantics.column
    nodes = int(column[:, NODES].max(initial=0))
    deepest = int(column[:, WIDE].max(initial=0)) // 2
    return (
        np.zeros((nodes + 1, max(deepest + 1, 3)), dtype=np.int64),
        np.zeros(nodes + 1, dtype=np.int64),
    )


@lean
def meeting(flat, base, a, b):
    """Return the lowest common ancestor of two nodes; a parent comes after its children."""
    while a != b:
        if a < b:
            a = flat[base + a * FIELDS + PARENT]
        else:
            b = flat[base + b * FIELDS + PARENT]
    return a


@lean
def apart(column, flat, j, a, b):
    """Return the distance of two places of column j."""
    if a == b:
        return np.int64(0)
    if a < 0 or b < 0:
        return column[j, FULL]
    kind = column[j, KIND]
    if kind <= MEDIAN:
        return abs(a - b)
    if column[j, TABLE] >= 0:
        return flat[column[j, TABLE] + a * column[j, NODES] + b]
    base = column[j, NODE]
    top = meeting(flat, base, a, b)
    if kind == SHARES:
        return flat[base + top * FIELDS + SHARE]
    both = flat[base + a * FIELDS + DEPTH] + flat[base + b * FIELDS + DEPTH]
    return flat[column[j, SUMS] + flat[base + top * FIELDS + DEPTH] * column[j, WIDE] + both]


@lean
def centre(column, flat, j, places, weights, n, sums, listed):
    """Return the centroid of n weighted places of column j, and the sum of distances to it.

    Where more than half of the weight is missing, the centroid is the missing value; else the
    missing ones are left out. Numbers: the mean. Other lines: the smallest place that half of
    the weight does not exceed. Trees: the node with the least sum of distances, of equal ones
    the first in post-order.
    """
    full = column[j, FULL]
    whole = np.int64(0)
    absent = np.int64(0)
    total = np.int64(0)
    low = np.int64(1) << 40
    high = np.int64(-1)
    for i in range(n):
        whole += weights[i]
        if places[i] < 0:
            absent += weights[i]
        else:
            total += weights[i] * places[i]
            low = min(low, places[i])
            high = max(high, places[i])
    if 2 * absent > whole:
        return np.int64(-1), (whole - absent) * full
    whole -= absent
    if low >= high:  # one value only
        return high, absent * full
    if column[j, KIND] >= DEPTHS:
        best, cost = best_node(column, flat, j, places, weights, n, sums, listed)
        return best, cost + absent * full
    if column[j, KIND] == MEAN:
        low = (2 * total + whole) // (2 * whole)
    else:
        while low < high:  # the answer is a place, because the weight changes only there
            middle = (low + high) // 2
            upto = np.int64(0)
            for i in range(n):
                if 0 <= places[i] <= middle:
                    upto += weights[i]
            if 2 * upto >= whole:
                high = middle
            else:
                low = middle + 1
    cost = absent * full
    for i in range(n):
        if places[i] >= 0:
            cost += weights[i] * abs(places[i] - low)
    return low, cost


@lean
def best_node(column, flat, j, places, weights, n, sums, listed):
    """Return the node with the least sum of distances to some nodes, and that sum.

    Only the nodes from the values up to their lowest common ancestor can be it. Each gets the
    weight below it, by depth (DEPTHS) or at once and its own (SHARES); then the values of one
    depth that meet a candidate in the same ancestor are all equally far from it.
    """
    base = column[j, NODE]
    is_deep = column[j, KIND] == DEPTHS
    start = column[j, SUMS]
    wide = column[j, WIDE]
    top = np.int64(-1)
    least = np.int64(1) << 40
    most = np.int64(0)
    for i in range(n):
        if places[i] >= 0:
            top = places[i] if top < 0 else meeting(flat, base, top, places[i])
            least = min(least, flat[base + places[i] * FIELDS + DEPTH])
            most = max(most, flat[base + places[i] * FIELDS + DEPTH])
    # Each value's weight is added to all its ancestors up to the common one.
    found = np.int64(0)
    for i in range(n):
        at = places[i]
        if at < 0:
            continue
        cell = flat[base + at * FIELDS + DEPTH] if is_deep else np.int64(1)
        if not is_deep:
            sums[at, 2] += weights[i]
        while True:
            if sums[at, 0] == 0:
                sums[at, 0] = 1
                listed[found] = at
                found += 1
            sums[at, cell] += weights[i]
            if at == top:
                break
            at = flat[base + at * FIELDS + PARENT]
    if not is_deep:
        least = np.int64(1)
        most = np.int64(1)
    best = np.int64(-1)
    lowest = np.int64(0)
    for f in range(found):
        own = listed[f]
        depth = flat[base + own * FIELDS + DEPTH]
        cost = np.int64(0)
        if not is_deep:  # it is no distance away from itself
            cost -= sums[own, 2] * flat[base + own * FIELDS + SHARE]
        # Up from the candidate: at each ancestor, the weight that meets it exactly there.
        at = own
        below = np.int64(-1)
        while True:
            row = start + flat[base + at * FIELDS + DEPTH] * wide + depth
            for h in range(least, most + 1):
                weight = sums[at, h]
                if below >= 0:
                    weight -= sums[below, h]
                if weight != 0:
                    if is_deep:
                        cost += weight * flat[row + h]
                    else:
                        cost += weight * flat[base + at * FIELDS + SHARE]
            if at == top:
                break
            below = at
            at = flat[base + at * FIELDS + PARENT]
        if best < 0 or cost < lowest or (cost == lowest and own < best):
            best = own
            lowest = cost
    # Left as it was found, all 0: to clear everything would cost more than the search.
    for f in range(found):
        at = listed[f]
        sums[at, 0] = 0
        sums[at, 2] = 0
        for h in range(least, most + 1):
            sums[at, h] = 0
    return best, lowest


def centroids_of(
    semantics: Semantics,
    j: int,
    places: NDArray[np.int64],
    weights: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the centroid of each class of column j.

    places, weights: int64[pieces], class after class; starts: int64[classes + 1].
    """
    found = np.empty(len(starts) - 1, dtype=np.int64)
    fill_centroids(*semantics, j, places, weights, starts, *scratch_of(semantics), found)
    return found


@lean_outer
def fill_centroids(column, flat, j, places, weights, starts, sums, listed, out):
    """Fill `out` with the centroid of each class of column j."""
    for c in range(starts.size - 1):
        begin, end = starts[c], starts[c + 1]
        out[c], _ = centre(
            column, flat, j, places[begin:end], weights[begin:end], end - begin, sums, listed
        )
