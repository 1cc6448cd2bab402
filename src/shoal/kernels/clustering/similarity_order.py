"""Put rows in an order in which neighbours are alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.losses import FACTS, cost, packed
from shoal.kernels.clustering.space import BRANCHES, Space
from shoal.kernels.helpers import lean, lean_outer


def alike_tree(
    codes: NDArray[np.int32], space: Space, *, widths: Sequence[int], by_pairs: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an order in which neighbours are alike, and where its parts begin.

    Rows are cut and cut again, down to parts of at most widths[0] rows or of equal ones. The
    second array says of each place how many of the (rising) widths have a part that begins
    there: the largest parts of the cutting that are no wider. A cut is where one column's own
    loss falls most, or, with `by_pairs`, where it separates most pairs of rows, each pair
    weighed by its distance: that gives parts that are narrow in every column alike.
    """
    if codes.dtype != np.int32 or codes.shape[1] != len(space.column):
        raise KernelInputError(problem="codes must be int32 and fit the columns")
    rows, columns = codes.shape
    order = np.arange(rows)
    rank = np.zeros(rows, dtype=np.int64)
    halve(
        np.array(codes, order="C"), np.empty((rows, columns), dtype=np.int32),
        np.stack((order, order)), packed(space),
        np.asarray(widths, dtype=np.int64), np.empty(max(32, rows) + 1, dtype=np.int64),
        np.full((2, rows + 2), rows, dtype=np.int64), order, rank, by_pairs,
    )  # fmt: skip
    return order, rank


@lean
def best_cut(codes, losses, begin, end, tally, by_pairs):
    """Return the column and the code at which one column's own loss falls most.

    by_pairs: instead, where most pairs of rows are separated, weighed by their distance.

    Wide columns are looked at in bins, no more of them than rows: this order is a
    guide, and does not have to be the best one.
    """
    rows = end - begin
    best = np.int64(-1)
    axis = np.int64(-1)
    cut = np.int64(0)
    for j in range(codes.shape[1]):
        low = np.int64(codes[begin, j])
        high = low
        for i in range(begin + 1, end):
            code = np.int64(codes[i, j])
            if code < low:
                low = code
            if code > high:
                high = code
        if low == high:
            continue
        # Neighbouring codes share a bin until there are no more bins than rows.
        shift = 0
        while ((high - low) >> shift) >= rows and ((high - low) >> shift) >= 32:
            shift += 1
        bins = ((high - low) >> shift) + 1
        for b in range(bins):
            tally[b] = 0
        for i in range(begin, end):
            tally[(codes[i, j] - low) >> shift] += 1
        whole = rows * cost(losses, j, low, high)
        left = tally[0]
        before = np.int64(0)  # the last bin that has rows
        for b in range(1, bins):
            if tally[b] == 0:
                continue
            edge = low + ((before + 1) << shift) - 1
            here = low + (b << shift)
            if by_pairs:
                apart = 2 * cost(losses, j, edge, here)
                if losses[FACTS * j + BRANCHES] == 0:
                    apart = whole // rows
                gain = left * (rows - left) // rows * apart
            else:
                gain = whole - left * cost(losses, j, low, edge)
                gain -= (rows - left) * cost(losses, j, here, high)
            if gain > best:
                best = gain
                axis = np.int64(j)
                cut = here
            left += tally[b]
            before = np.int64(b)
    return axis, cut


@lean_outer
def halve(codes, other, orders, losses, widths, tally, ends, order, rank, by_pairs):
    """Cut and cut again; codes are permuted, and order and rank are written.

    ends: where the parts that wait stop, and how wide the part was that they come from.
    """
    columns = codes.shape[1]
    depth = 1
    begin = np.int64(0)
    ends[1, 0] = order.size + widths[widths.size - 1] + 1
    while depth > 0:  # parts are done from left to right
        end = ends[0, depth - 1]
        axis = np.int64(-1)
        cut = np.int64(0)
        rows = end - begin
        if rows > widths[0]:
            axis, cut = best_cut(codes, losses, begin, end, tally, by_pairs)
        if begin < end:
            for level in range(widths.size):
                # The largest parts no wider than a width: their parent was wider.
                is_part = (axis < 0 or rows <= widths[level]) and widths[level] < ends[1, depth - 1]
                if is_part and rank[begin] <= level:
                    rank[begin] = level + 1
        if axis < 0:
            begin = end
            depth -= 1
            continue
        # A stable partition: rows that stay in front keep their order, so do the others.
        kept = begin
        moved = begin
        for i in range(begin, end):
            row = orders[0, i]
            if codes[i, axis] < cut:
                for j in range(columns):
                    codes[kept, j] = codes[i, j]
                orders[0, kept] = row
                kept += 1
            else:
                for j in range(columns):
                    other[moved, j] = codes[i, j]
                orders[1, moved] = row
                moved += 1
        for i in range(begin, moved):
            at = kept + i - begin
            for j in range(columns):
                codes[at, j] = other[i, j]
            orders[0, at] = orders[1, i]
        ends[1, depth - 1] = rows
        ends[0, depth] = kept
        ends[1, depth] = rows
        depth += 1
    for i in range(order.size):
        order[i] = orders[0, i]
