"""k-modes: tuples to the nearest mode, modes anew, and small clusters dissolved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.helpers import lean, lean_outer
from shoal.kernels.microaggregation.semantic import PLACE, Semantics, apart, centre, scratch_of


def assign(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    first: NDArray[np.int64],
    *,
    k: int,
    iterations: int,
    semantics: Semantics,
) -> NDArray[np.int64]:
    """Return the cluster of each tuple; every cluster has k records if all together have.

    Args:
        codes: int32[tuples, columns], all different.
        counts: records of each tuple.
        first: the tuples that are the first modes.
        k: records of a cluster, at least.
        iterations: rounds at most.
        semantics: the distances.
    """
    tuples, columns = codes.shape
    if counts.shape != (tuples,) or columns != len(semantics.column):
        raise KernelInputError(problem="codes, counts and columns do not fit each other")
    if len(first) and (first.min() < 0 or first.max() >= tuples):
        raise KernelInputError(problem="a first mode is no tuple")
    label = np.full(tuples, -1, dtype=np.int64)
    kmodes(
        codes, counts, first, k, iterations, *semantics, label,
        np.empty((len(first), columns), dtype=np.int64), np.zeros((2, len(first)), dtype=np.int64),
        np.empty((3, tuples + 1), dtype=np.int64), *scratch_of(semantics),
    )  # fmt: skip
    return label


@lean
def nearest(codes, t, goals, sizes, column, flat):
    """Return the mode nearest to a tuple, of equal ones the first; dissolved ones (-1) not."""
    best = np.int64(-1)
    least = np.int64(0)
    for c in range(sizes.size):
        if sizes[c] < 0:
            continue
        total = np.int64(0)
        for j in range(codes.shape[1]):
            total += apart(column, flat, j, goals[c, j], flat[column[j, PLACE] + codes[t, j]])
            if best >= 0 and total >= least:
                break
        if best < 0 or total < least:
            best = np.int64(c)
            least = total
    return best


@lean
def sort_by_cluster(counts, label, sizes, starts, lists):
    """List the tuples cluster by cluster, and count the records of each.

    starts: how many tuples each cluster has; then where it ends in the list.
    """
    total = np.int64(0)
    for c in range(sizes.size):
        starts[c], total = total, total + starts[c]
    for t in range(label.size):
        lists[0, starts[label[t]]] = t
        starts[label[t]] += 1
        sizes[label[t]] += counts[t]


@lean
def find_modes(codes, counts, column, flat, goals, starts, lists, sums, listed):
    """Find the mode of each cluster anew, column by column; an empty one keeps its own."""
    begin = np.int64(0)
    for c in range(starts.size):
        n = starts[c] - begin
        for j in range(codes.shape[1]):
            for i in range(n):
                t = lists[0, begin + i]
                lists[1, i] = flat[column[j, PLACE] + codes[t, j]]
                lists[2, i] = counts[t]
            if n > 0:
                goals[c, j], _ = centre(column, flat, j, lists[1], lists[2], n, sums, listed)
        begin = starts[c]


@lean
def dissolve_small(codes, counts, k, column, flat, label, goals, sizes):
    """Send the tuples of clusters below k, the smallest first, to the nearest that is left."""
    for c in range(sizes.size):
        if sizes[c] == 0:
            sizes[c] = -1
    while True:
        small = np.int64(-1)
        others = 0
        for c in range(sizes.size):
            if sizes[c] >= 0:
                others += 1
                if sizes[c] < k and (small < 0 or sizes[c] < sizes[small]):
                    small = np.int64(c)
        if small < 0 or others < 2:
            return
        sizes[small] = -1
        for t in range(label.size):
            if label[t] == small:
                label[t] = nearest(codes, t, goals, sizes, column, flat)
                sizes[label[t]] += counts[t]


@lean_outer
def kmodes(
    codes, counts, first, k, iterations, column, flat, label, goals, facts, lists, sums, listed
):
    """Fill `label`. facts: records of each cluster; where its tuples begin in a list by cluster."""
    tuples, columns = codes.shape
    sizes, starts = facts[0], facts[1]
    for c in range(sizes.size):
        for j in range(columns):
            goals[c, j] = flat[column[j, PLACE] + codes[first[c], j]]
    for turn in range(iterations):
        moved = 0
        for c in range(sizes.size):
            sizes[c] = 0
            starts[c] = 0
        for t in range(tuples):
            best = nearest(codes, t, goals, sizes, column, flat)
            if best != label[t]:
                moved += 1
                label[t] = best
            starts[best] += 1
        sort_by_cluster(counts, label, sizes, starts, lists)
        # Modes of the last round would serve nobody.
        if moved == 0 or turn + 1 == iterations:
            break
        find_modes(codes, counts, column, flat, goals, starts, lists, sums, listed)
    # k-modes knows no least size: what is too small for the promise is dissolved afterwards.
    dissolve_small(codes, counts, k, column, flat, label, goals, sizes)
