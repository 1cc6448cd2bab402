"""One-pass k-means: each record goes to the cluster whose centroid is nearest.

The centroid of a cluster is the mean of a line and the lowest common ancestor of a tree,
and the distance is multiplied by the cluster's size. Size times distance from a mean is
|size · x - sum|, a whole number: no mean is rounded.

How far each value of a column is from each cluster stands in a table, one row a value. Only
the cluster that took the last record has changed, so the distances of the next one from all
clusters are a sum of rows; and where it begins like the last one, the sum over the columns
that they share stands already. On Adult at k = 10 this takes a tenth of the time of looking
up every cluster's box for every record.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.losses import FACTS, cost, packed
from shoal.kernels.clustering.space import BRANCHES, FULL, KIND, MISSING, SIZE, START, TABLE, Space
from shoal.kernels.helpers import lean, lean_outer

State = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

# More facts of a column: where the places of a line's values begin in the losses, where its rows
# begin in the table of distances, and how many they are.
PLACES, FIRST, ROWS = range(6, 9)

_ROOM = 1 << 23
"""Entries of the table; columns that do not fit have one row, made anew for every value."""

_RATIO = 4
"""Clusters for each value of a column, at least; else it has one row too."""

_SHUT = 1 << 62
"""How far a cluster is that takes no more records."""

_BLOCK = 64


def attach(
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    clusters: State,
    *,
    space: Space,
    fill: int = 0,
    sized: bool = True,
) -> NDArray[np.int64]:
    """Return the cluster of each row; a cluster's centroid moves with every row.

    Args:
        codes: int32[rows, columns], in the order in which they are attached.
        weights: records of each row; they go to one cluster together.
        clusters: size[c], sum of places[c, columns], low[c, columns], high[c, columns];
            they are changed.
        space: the losses.
        fill: while a cluster has fewer records than this, only such clusters are chosen.
        sized: whether the distance is multiplied by the cluster's size, as the paper has it.
    """
    sizes, sums, low, high = clusters
    if codes.dtype != np.int32 or codes.shape[1:] != low.shape[1:] or low.shape != sums.shape:
        raise KernelInputError(problem="codes and clusters do not fit each other")
    if len(sizes) == 0:
        raise KernelInputError(problem="there is no cluster")
    codes = np.ascontiguousarray(codes)
    chosen = np.empty(len(codes), dtype=np.int64)
    state = np.column_stack((sizes, sums, low, high))
    losses = packed(space)
    done = 0
    while done < len(codes):
        # Full clusters are left out of the table, anew whenever half of those in it are full.
        here = np.flatnonzero(state[:, 0] < fill)
        limit = fill if len(here) else 0
        if not len(here):
            here = np.arange(len(state))
        column, table = _table(space, losses, len(here))
        part = state[here]
        end = done + one_pass_kmeans(
            codes[done:], weights[done:], part, column, losses, table, limit, sized, chosen[done:]
        )
        chosen[done:end] = here[chosen[done:end]]
        state[here] = part
        done = end
    sizes[:] = state[:, 0]
    sums[:], low[:], high[:] = np.split(state[:, 1:], 3, axis=1)
    return chosen


def _table(
    space: Space, losses: NDArray[np.int32], clusters: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the facts of the columns, and an empty table of distances from the clusters.

    The rows of the columns come first, then those of sums: over no column, over the first
    one, … over all. To keep a row for each of many values up to date would take longer than
    to make one anew.
    """
    facts = space.column
    rows = np.ones(len(facts), dtype=np.int64)
    left = _ROOM // clusters
    for j in np.argsort(facts[:, SIZE], kind="stable"):
        if facts[j, SIZE] <= min(clusters // _RATIO, left):
            rows[j] = facts[j, SIZE]
            left -= rows[j]
    # In a full table of losses the places are the losses of the runs from the first value on.
    behind = (facts[:, KIND] == TABLE) & (facts[:, MISSING] == 1) & (facts[:, SIZE] > 1)
    starts = losses[START : FACTS * len(facts) : FACTS]
    places = starts + np.where(behind, facts[:, SIZE], 0)
    column = np.column_stack((facts, places, np.cumsum(rows) - rows, rows))
    return column, np.zeros((int(rows.sum()) + len(facts) + 1, clusters), dtype=np.int64)


@lean
def distance(column, losses, cluster, j, value, sized):
    """Return how far a value of column j is from a cluster's centroid, times its size.

    cluster: its size, and of each column the sum, the low and the high. Without `sized` the
    distance is not multiplied.
    """
    columns = column.shape[0]
    size = cluster[0]
    times = size if sized else np.int64(1)
    low = cluster[1 + columns + j]
    high = cluster[1 + 2 * columns + j]
    if column[j, BRANCHES] == 1:
        return times * cost(losses, j, min(low, value), max(high, value))
    if column[j, MISSING] == 1 and (value == 0 or low == 0):
        # Missing is far from all but missing.
        return np.int64(0) if value == 0 and high == 0 else times * column[j, FULL]
    away = abs(size * losses[column[j, PLACES] + value] - cluster[1 + j])
    return away if sized else away // size


@lean
def attach_row(cluster, column, losses, codes, i, weight):
    """Let a cluster's sums and box cover a row too."""
    columns = column.shape[0]
    cluster[0] += weight
    for j in range(columns):
        code = np.int64(codes[i, j])
        if column[j, BRANCHES] == 0:
            cluster[1 + j] += weight * losses[column[j, PLACES] + code]
        at = 1 + columns + j
        cluster[at] = min(cluster[at], code)
        cluster[at + columns] = max(cluster[at + columns], code)


@lean
def nearest_cluster(distances):
    """Return the cluster with the least distance, the first of equals.

    Block by block: a minimum alone is found with vectors, its place afterwards in one block.
    """
    least = np.iinfo(np.int64).max
    best = np.int64(0)
    for begin in range(0, distances.size, _BLOCK):
        nearest = least
        for c in range(begin, min(begin + _BLOCK, distances.size)):
            nearest = min(nearest, distances[c])
        if nearest < least:
            least = nearest
            best = np.int64(begin)
    while distances[best] != least:
        best += 1
    return best


@lean_outer
def one_pass_kmeans(codes, weights, state, column, losses, table, limit, sized, chosen):
    """Attach row after row, ties to the first cluster; return how many were attached.

    state: of each cluster the size, and of each column the sums, the lows, the highs. With a
    limit, clusters that reach it are shut, and the run stops when half of them are.
    """
    columns, clusters = codes.shape[1], state.shape[0]
    total = table.shape[0] - 1
    left = clusters
    best = np.int64(0)
    for i in range(codes.shape[0]):
        shared = i > 0
        for j in range(columns):
            code = np.int64(codes[i, j])
            same = i > 0 and codes[i - 1, j] == code
            shared = shared and same
            # A column has a row of distances for each of its values, or one for this value.
            begin = np.int64(0)
            end = column[j, SIZE]
            first = column[j, FIRST]
            anew = i == 0
            if column[j, ROWS] == 1:
                begin = code
                end = code + 1
                anew = not same
            # Only the cluster that took the last row has changed.
            b = np.int64(0) if anew else best
            last = np.int64(clusters) if anew else best + 1
            for value in range(begin, end):
                for c in range(b, last):
                    away = distance(column, losses, state[c], j, value, sized)
                    table[first + value - begin, c] = away
            row = first + code - begin
            so_far = total - columns + j
            if shared:
                table[so_far + 1, best] = table[so_far, best] + table[row, best]
            else:
                for c in range(clusters):
                    table[so_far + 1, c] = table[so_far, c] + table[row, c]
        best = nearest_cluster(table[total])
        chosen[i] = best
        # A full cluster takes nothing more: its first partial sum shuts it out of all others.
        if state[best, 0] < limit <= state[best, 0] + weights[i]:
            table[total - columns, best] = _SHUT
            left -= 1
        attach_row(state[best], column, losses, codes, i, weights[i])
        if limit > 0 and 2 * left <= clusters:
            return i + 1
    return codes.shape[0]
