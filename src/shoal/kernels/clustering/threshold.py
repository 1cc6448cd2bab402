"""Threshold clustering's loop: a cluster grows until its diversity would exceed a limit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.helpers import lean_outer


def grow_within(
    values: NDArray[np.int64],
    kinds: NDArray[np.int64],
    order: NDArray[np.int64],
    *,
    limit: int,
    quasi: int,
) -> NDArray[np.int64]:
    """Return the cluster of each row.

    Args:
        values: int64[rows, columns]; in a column of numbers the scaled position, in another
            one the code.
        kinds: for each column 0 if it holds numbers, otherwise what one more distinct value
            adds to the diversity.
        order: the rows in the order in which they may begin a cluster.
        limit: what the diversity of the first `quasi` columns may not exceed.
        quasi: how many columns are quasi-identifiers; diversity of the others is welcome.
    """
    if values.dtype != np.int64 or values.shape[1] != len(kinds) or len(order) != len(values):
        raise KernelInputError(problem="values, kinds and order do not fit each other")
    label = np.full(len(values), -1, dtype=np.int64)
    sizes = values.max(axis=0, initial=0) + 1
    starts = np.concatenate(([0], np.cumsum(np.where(kinds > 0, sizes, 0)))).astype(np.int64)
    grow_clusters(
        np.ascontiguousarray(values), kinds, order, limit, quasi, label, starts,
        np.zeros(starts[-1] + 1, dtype=np.int64), np.empty((2, len(kinds)), dtype=np.int64),
        np.arange(len(values)),
    )  # fmt: skip
    return label


@lean_outer
def grow_clusters(values, kinds, order, limit, quasi, label, starts, seen, ends, left):
    """Grow cluster after cluster; `seen` holds the last cluster in which a code was."""
    columns = values.shape[1]
    remaining = left.size
    cluster = np.int64(0)
    for turn in range(order.size):
        row = order[turn]
        if label[row] >= 0:
            continue
        cluster += 1
        for j in range(columns):
            ends[0, j] = values[row, j]
            ends[1, j] = values[row, j]
        diversity = np.int64(0)
        for j in range(quasi):
            diversity += kinds[j]
        while True:
            label[row] = cluster - 1
            for j in range(columns):
                if kinds[j] > 0:
                    seen[starts[j] + values[row, j]] = cluster
                else:
                    ends[0, j] = min(ends[0, j], values[row, j])
                    ends[1, j] = max(ends[1, j], values[row, j])
            # Rows that are taken leave the list as it is walked through.
            kept = 0
            best = np.int64(-1)
            least = np.int64(0)
            growth_of_best = np.int64(0)
            for n in range(remaining):
                i = left[n]
                if label[i] >= 0:
                    continue
                left[kept] = i
                kept += 1
                growth = np.int64(0)
                welcome = np.int64(0)
                for j in range(columns):
                    value = values[i, j]
                    more = np.int64(0)
                    if kinds[j] > 0:
                        if seen[starts[j] + value] != cluster:
                            more = kinds[j]
                    else:
                        more = max(value - ends[1, j], 0) + max(ends[0, j] - value, 0)
                    if j < quasi:
                        growth += more
                    else:
                        welcome += more
                # Diversity of the other columns is welcome, but never buys more of these.
                if diversity + growth > limit:
                    continue
                if best < 0 or growth - welcome < least:
                    best = i
                    least = growth - welcome
                    growth_of_best = growth
            remaining = kept
            if best < 0:
                break
            diversity += growth_of_best
            row = best
