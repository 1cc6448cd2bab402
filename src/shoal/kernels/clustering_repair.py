"""Repair: clusters that break the promise are merged with a neighbour, or suppressed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.axes import Promise
from shoal.kernels.clustering_space import (
    FULL,
    KIND,
    LINE,
    MISSING,
    SIZE,
    START,
    TABLE,
    Space,
    lean,
    lean_outer,
)
from shoal.kernels.judge import judge, packed


def mend(
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    sizes: NDArray[np.int64],
    histograms: NDArray[np.int64],
    *,
    space: Space,
    promise: Promise,
    budget: int,
    window: int,
) -> NDArray[np.int64]:
    """Return, for each cluster, the cluster it becomes part of; -1: suppressed.

    Clusters stand in an order in which neighbours are alike. One that breaks the promise is
    merged with the cluster, of up to `window` to each side, that makes the loss grow least,
    until it holds. Suppression is chosen instead where it loses less and `budget` records
    are not used up, and where nothing is left to merge with.

    Args:
        low: int32[clusters, columns], the lowest codes of the clusters' boxes.
        high: the highest ones.
        sizes: records per cluster.
        histograms: int64[clusters, values], of all sensitive columns behind each other.
        space: the losses.
        promise: what each cluster must keep.
        budget: records that may be suppressed.
        window: how far a cluster looks for another.
    """
    clusters = len(sizes)
    if low.shape != high.shape or len(low) != clusters or len(histograms) != clusters:
        raise KernelInputError(problem="boxes, sizes and histograms do not fit each other")
    if histograms.shape[1] != promise.reference.size:
        raise KernelInputError(problem="histograms do not fit the promise")
    home = np.arange(clusters)
    merge(
        low.astype(np.int64), high.astype(np.int64), sizes.copy(), histograms.copy(),
        space.column, space.flat, space.log, promise.k,
        *packed(promise),
        budget, window, np.stack((home - 1, home + 1)), home,
    )  # fmt: skip
    return home


@lean
def cost(column, flat, log, j, low, high):
    """Return the loss of codes low … high of column j."""
    kind = column[j, KIND]
    start = column[j, START]
    if kind == TABLE:
        return np.int64(flat[start + low * column[j, SIZE] + high])
    if kind == LINE:
        if low == 0 and high > 0 and column[j, MISSING] == 1:
            return column[j, FULL]
        return np.int64(flat[start + high]) - flat[start + low]
    if low == high:
        return np.int64(flat[start + low])
    level = log[high - low]
    base = start + (level + 1) * column[j, SIZE]
    return np.int64(max(flat[base + low], flat[base + high - (1 << level)]))


@lean
def union_loss(column, flat, log, low, high, a, b):
    """Return the loss of the box around two clusters."""
    loss = np.int64(0)
    for c in range(low.shape[1]):
        loss += cost(column, flat, log, c, min(low[a, c], low[b, c]), max(high[a, c], high[b, c]))
    return loss


@lean
def partner(column, flat, log, low, high, sizes, a, beside, window):
    """Return the neighbour whose merger with a grows the loss least, or -1; and the growth."""
    best = np.int64(-1)
    least = np.int64(0)
    own = sizes[a] * union_loss(column, flat, log, low, high, a, a)
    for side in range(2):
        b = beside[side, a]
        seen = 0
        while 0 <= b < sizes.size and seen < window:
            growth = (sizes[a] + sizes[b]) * union_loss(column, flat, log, low, high, a, b)
            growth -= own + sizes[b] * union_loss(column, flat, log, low, high, b, b)
            if best < 0 or growth < least or (growth == least and b < best):
                best = b
                least = growth
            seen += 1
            b = beside[side, b]
    return best, least


@lean_outer
def merge(
    low, high, sizes, histograms, column, flat, log, k, rules, rare, budget, window, beside, home
):
    """Merge or suppress until every cluster keeps the promise.

    rules, rare: the promise, where it is more than k; otherwise None, and then nothing that
    judges a spread is compiled. beside: the clusters before and after each one.
    """
    clusters = sizes.size
    columns = low.shape[1]
    full = np.int64(0)
    for c in range(columns):
        full += column[c, FULL]
    for a in range(clusters):
        if home[a] != a:
            continue
        while True:
            if rules is None:
                if sizes[a] >= k:
                    break
            elif judge(rules, rare, sizes[a], histograms, a):
                break
            b, growth = partner(column, flat, log, low, high, sizes, a, beside, window)
            lost = sizes[a] * full - sizes[a] * union_loss(column, flat, log, low, high, a, a)
            gone = b  # the one that leaves the line
            if b < 0 or (lost < growth and sizes[a] <= budget):
                budget -= sizes[a]
                home[a] = -1
                gone = np.int64(a)
            else:
                for c in range(columns):
                    low[a, c] = min(low[a, c], low[b, c])
                    high[a, c] = max(high[a, c], high[b, c])
                sizes[a] += sizes[b]
                for v in range(histograms.shape[1]):
                    histograms[a, v] += histograms[b, v]
                home[b] = a
            if beside[0, gone] >= 0:
                beside[1, beside[0, gone]] = beside[1, gone]
            if beside[1, gone] < clusters:
                beside[0, beside[1, gone]] = beside[0, gone]
            if gone == a:
                break
    for a in range(clusters):  # follow the mergers to their end
        at = home[a]
        while at >= 0 and home[at] != at:
            at = home[at]
        home[a] = at
