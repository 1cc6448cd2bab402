"""Put rows in an order in which neighbours are alike."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering_space import (
    FULL,
    KIND,
    LEAN,
    LINE,
    MISSING,
    SIZE,
    START,
    TABLE,
    Space,
)


def alike_order(codes: NDArray[np.int32], space: Space, *, leaf: int = 8) -> NDArray[np.int64]:
    """Return an order of the rows in which neighbours are alike; ties keep the rows' order."""
    if codes.dtype != np.int32 or codes.shape[1] != len(space.column):
        raise KernelInputError(problem="codes must be int32 and fit the columns")
    return halve(np.ascontiguousarray(codes).copy(), space.column, space.flat, space.log, leaf)


@njit(**LEAN)
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


@njit(**LEAN)
def best_cut(codes, column, flat, log, begin, end, tally):
    """Return the column and the code at which one column's own loss falls most.

    Wide columns are looked at in bins, no more of them than rows: this order is a
    guide, and does not have to be the best one.
    """
    rows = end - begin
    best = np.int64(-1)
    axis = -1
    cut = np.int64(0)
    for j in range(codes.shape[1]):
        low = np.int64(codes[begin, j])
        high = low
        for i in range(begin + 1, end):
            code = np.int64(codes[i, j])
            low = min(low, code)
            high = max(high, code)
        if low == high:
            continue
        shift = 0
        while ((high - low) >> shift) >= max(32, rows):
            shift += 1
        bins = ((high - low) >> shift) + 1
        for b in range(bins):
            tally[b] = 0
        for i in range(begin, end):
            tally[(codes[i, j] - low) >> shift] += 1
        whole = rows * cost(column, flat, log, j, low, high)
        left = tally[0]
        edge = min(high, low + (np.int64(1) << shift) - 1)
        for b in range(1, bins):
            if tally[b] == 0:
                continue
            here = low + (b << shift)
            gain = whole - left * cost(column, flat, log, j, low, edge)
            gain -= (rows - left) * cost(column, flat, log, j, here, high)
            if gain > best:
                best = gain
                axis = j
                cut = here
            left += tally[b]
            edge = min(high, low + ((b + 1) << shift) - 1)
    return axis, cut


@njit(**LEAN)
def copy_row(source, i, goal, at):
    """Copy one row; written out, since a slice assignment takes seconds to compile."""
    for j in range(source.shape[1]):
        goal[at, j] = source[i, j]


@njit(cache=True, nogil=True)
def halve(codes, column, flat, log, leaf):
    """Cut and cut again until parts have `leaf` rows or no difference; codes are permuted."""
    rows, columns = codes.shape
    order = np.arange(rows)
    tally = np.empty(max(32, rows) + 1, dtype=np.int64)
    other_codes = np.empty((rows, columns), dtype=np.int32)
    other = np.empty(rows, dtype=np.int64)
    ends = np.empty(rows + 1, dtype=np.int64)
    ends[0] = rows
    depth = 1
    begin = np.int64(0)
    while depth > 0:  # parts are done from left to right; `ends` holds where they stop
        end = ends[depth - 1]
        axis = -1
        cut = np.int64(0)
        if end - begin > leaf:
            axis, cut = best_cut(codes, column, flat, log, begin, end, tally)
        if axis < 0:
            begin = end
            depth -= 1
            continue
        kept = begin
        moved = np.int64(0)
        for i in range(begin, end):
            if codes[i, axis] < cut:
                copy_row(codes, i, codes, kept)
                order[kept] = order[i]
                kept += 1
            else:
                copy_row(codes, i, other_codes, moved)
                other[moved] = order[i]
                moved += 1
        for i in range(moved):
            copy_row(other_codes, i, codes, kept + i)
            order[kept + i] = other[i]
        ends[depth] = kept
        depth += 1
    return order


def hardness(
    codes: NDArray[np.int32], counts: NDArray[np.int64], space: Space, *, k: int, reach: int = 16
) -> NDArray[np.int64]:
    """Return how far each row's k-th nearest record is, among the rows around it.

    `codes` stand in an order in which neighbours are alike; `reach` rows to each side are
    looked at. Where these hold fewer than k records, the furthest one counts.
    """
    if codes.dtype != np.int32 or len(codes) != len(counts):
        raise KernelInputError(problem="codes must be int32 and fit the counts")
    hard = np.empty(len(codes), dtype=np.int64)
    measure(np.ascontiguousarray(codes), counts, space.column, space.flat, space.log, k, reach,
            np.empty((2, 2 * reach), dtype=np.int64), hard)  # fmt: skip
    return hard


@njit(**LEAN)
def measure(codes, counts, column, flat, log, k, reach, near, hard):
    """Write the distance of each row to its k-th nearest record around it."""
    rows, columns = codes.shape
    for i in range(rows):
        found = 0
        for other in range(max(i - reach, 0), min(i + reach + 1, rows)):
            if other == i:
                continue
            gap = np.int64(0)
            for j in range(columns):
                low = np.int64(min(codes[i, j], codes[other, j]))
                high = np.int64(max(codes[i, j], codes[other, j]))
                gap += cost(column, flat, log, j, low, high)
            at = found
            while at > 0 and near[0, at - 1] > gap:
                near[0, at] = near[0, at - 1]
                near[1, at] = near[1, at - 1]
                at -= 1
            near[0, at] = gap
            near[1, at] = counts[other]
            found += 1
        records = counts[i]
        hard[i] = 0
        at = 0
        while records < k and at < found:
            records += near[1, at]
            hard[i] = near[0, at]
            at += 1
