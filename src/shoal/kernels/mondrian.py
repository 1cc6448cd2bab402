"""Mondrian's loop: cut the widest column at its median while both sides keep the promise.

Rows lie in a pool that is used like a stack: the part on top is taken, and its
two halves are written back in its place. So rows of one part are always
neighbours in memory, there is no recursion, and a row that a relaxed cut splits
in two needs just one place more on top.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.axes import Axes, Promise
from shoal.kernels.judge import judge


class Parts(NamedTuple):
    """What Mondrian leaves: classes as boxes of codes, and where each row went."""

    low: NDArray[np.int32]  # int32[classes, columns]
    high: NDArray[np.int32]
    row: NDArray[np.int64]  # for each piece: the row of the frequency table,
    label: NDArray[np.int64]  # its class,
    share: NDArray[np.int64]  # and how many of the row's records it holds


def split(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    *,
    axes: Axes,
    promise: Promise,
    relaxed: bool,
) -> Parts:
    """Run Mondrian over coded rows.

    Guarantee:
        Every class meets the promise if the whole table does.
    """
    rows, columns = codes.shape
    if codes.dtype != np.int32 or counts.dtype != np.int64 or sensitive.dtype != np.int32:
        raise KernelInputError(problem="codes and sensitive must be int32, counts int64")
    if columns != axes.is_tree.size or rows == 0:
        raise KernelInputError(problem="codes do not fit the axes, or there is no row")
    records = int(counts.sum())
    # Each relaxed cut splits at most one row, and there are fewer cuts than classes.
    spare = records // max(int(promise.k), 1) + 1 if relaxed else 0
    spare = min(spare, records)
    pool = rows + spare
    pool_codes = np.empty((pool, columns), dtype=np.int32)
    pool_codes[:rows] = codes
    pool_sensitive = np.empty((pool, sensitive.shape[1]), dtype=np.int32)
    pool_sensitive[:rows] = sensitive
    pool_counts = np.empty(pool, dtype=np.int64)
    pool_counts[:rows] = counts
    pool_row = np.empty(pool, dtype=np.int64)
    pool_row[:rows] = np.arange(rows)
    most = min(pool, records // max(int(promise.k), 1) + 1)
    low = np.empty((most, columns), dtype=np.int32)
    high = np.empty((most, columns), dtype=np.int32)
    row = np.empty(pool, dtype=np.int64)
    label = np.empty(pool, dtype=np.int64)
    count = np.empty(pool, dtype=np.int64)
    classes, pieces = run(
        rows, pool_codes, pool_counts, pool_sensitive, pool_row, axes, promise, relaxed,
        low, high, row, label, count,
    )  # fmt: skip
    return Parts(
        low=low[:classes].copy(),
        high=high[:classes].copy(),
        row=row[:pieces],
        label=label[:pieces],
        share=count[:pieces],
    )


@njit(cache=True, nogil=True)
def width(axes, j, low, high):
    """Return the normalized width of codes low … high of column j, times its weight."""
    if low == high:
        return 0.0
    base = axes.start[j]
    if axes.is_tree[j]:
        begin = axes.tree_start[j]
        goal = np.int64(axes.position[base + low])
        node = np.int64(axes.position[base + high])
        while axes.first[begin + node] > goal:
            node = axes.parent[begin + node]
        return axes.height[begin + node] * axes.weight[j]
    if low == 0 and axes.has_missing[j]:
        return axes.weight[j]
    return (axes.position[base + high] - axes.position[base + low]) / axes.span[j] * axes.weight[j]


@njit(cache=True, nogil=True)
def middle(codes, counts, j, begin, end, low, high, tally, found):
    """Find the code at which column j's weight reaches half.

    Returns it with the weight up to and including it, and the weight before it. Counts by
    code where the codes are dense; sorts where they are far apart.
    """
    total = 0
    size = high - low + 1
    if size <= 8 * (end - begin):
        for i in range(size):
            tally[i] = 0
        for i in range(begin, end):
            tally[codes[i, j] - low] += counts[i]
            total += counts[i]
        run_weight = 0
        for i in range(size):
            if 2 * (run_weight + tally[i]) >= total:
                return low + i, run_weight + tally[i], run_weight
            run_weight += tally[i]
        return high, total, 0
    n = end - begin
    for i in range(n):
        found[i] = (np.int64(codes[begin + i, j]) << 32) | i
        total += counts[begin + i]
    found[:n].sort()
    run_weight = 0
    i = 0
    while i < n:
        code = found[i] >> 32
        here = 0
        while i < n and (found[i] >> 32) == code:
            here += counts[begin + (found[i] & 0xFFFFFFFF)]
            i += 1
        if 2 * (run_weight + here) >= total:
            return code, run_weight + here, run_weight
        run_weight += here
    return np.int64(high), total, 0


@njit(cache=True, nogil=True)
def sides_hold(
    codes, counts, sensitive, promise, j, cut, share, begin, end, left_weight, weight,
    whole, part, scratch,
):  # fmt: skip
    """Say whether both sides of a cut keep the promise.

    Rows with a code below `cut` go left, above it right; of those at `cut`, the
    first `share` records go left.
    """
    if left_weight < promise.k or weight - left_weight < promise.k:
        return False
    if promise.kind.size == 0:
        return True
    part[:] = 0
    for i in range(begin, end):
        code = codes[i, j]
        moved = 0
        if code < cut:
            moved = counts[i]
        elif code == cut and share > 0:
            moved = min(share, counts[i])
            share -= moved
        if moved > 0:
            for s in range(promise.start.size - 1):
                part[promise.start[s] + sensitive[i, s]] += moved
    if not judge(promise, left_weight, part, scratch):
        return False
    for v in range(part.size):
        part[v] = whole[v] - part[v]
    return judge(promise, weight - left_weight, part, scratch)


@njit(cache=True, nogil=True)
def divide(codes, counts, sensitive, row, spare, j, cut, share, begin, end):
    """Write the left side, then the right side of a cut in place of the part.

    Returns the end of the left side and the new end of the part (one more than
    before when a row had to be split).
    """
    other_codes, other_counts, other_sensitive, other_row = spare
    kept = begin
    moved = 0
    for i in range(begin, end):
        code = codes[i, j]
        go = 0
        if code < cut:
            go = counts[i]
        elif code == cut and share > 0:
            go = min(share, counts[i])
            share -= go
        rest = counts[i] - go
        if rest > 0:
            other_codes[moved] = codes[i]
            other_sensitive[moved] = sensitive[i]
            other_counts[moved] = rest
            other_row[moved] = row[i]
            moved += 1
        if go > 0:
            codes[kept] = codes[i]
            sensitive[kept] = sensitive[i]
            counts[kept] = go
            row[kept] = row[i]
            kept += 1
    for i in range(moved):
        codes[kept + i] = other_codes[i]
        sensitive[kept + i] = other_sensitive[i]
        counts[kept + i] = other_counts[i]
        row[kept + i] = other_row[i]
    return kept, kept + moved


@njit(cache=True, nogil=True)
def run(
    rows, codes, counts, sensitive, row, axes, promise, relaxed,
    out_low, out_high, out_row, out_label, out_count,
):  # fmt: skip
    """Cut until nothing more may be cut; return the number of classes and of pieces."""
    columns = codes.shape[1]
    pool = codes.shape[0]
    longest = 1
    for j in range(columns):
        longest = max(longest, axes.start[j + 1] - axes.start[j])
    tally = np.empty(longest, dtype=np.int64)
    found = np.empty(rows + 1, dtype=np.int64)
    whole = np.empty(promise.reference.size, dtype=np.int64)
    part = np.empty(promise.reference.size, dtype=np.int64)
    scratch = np.empty(2 * max(promise.tree_parent.size, promise.reference.size) + 2)
    spare = (
        np.empty((pool, columns), dtype=np.int32),
        np.empty(pool, dtype=np.int64),
        np.empty((pool, sensitive.shape[1]), dtype=np.int32),
        np.empty(pool, dtype=np.int64),
    )
    low = np.empty(columns, dtype=np.int32)
    high = np.empty(columns, dtype=np.int32)
    widths = np.empty(columns)
    begins = np.empty(pool + 1, dtype=np.int64)
    begins[0] = 0
    depth = 1
    end = rows
    classes = 0
    pieces = 0
    while depth > 0:
        begin = begins[depth - 1]
        weight = np.int64(0)
        for j in range(columns):
            low[j] = codes[begin, j]
            high[j] = codes[begin, j]
        for i in range(begin, end):
            weight += counts[i]
            for j in range(columns):
                code = codes[i, j]
                if code < low[j]:
                    low[j] = code
                elif code > high[j]:
                    high[j] = code
        is_cut = False
        if weight >= 2 * promise.k:
            if promise.kind.size > 0:
                whole[:] = 0
                for i in range(begin, end):
                    for s in range(promise.start.size - 1):
                        whole[promise.start[s] + sensitive[i, s]] += counts[i]
            for j in range(columns):
                widths[j] = width(axes, j, low[j], high[j])
            for _ in range(columns):
                j = 0
                for other in range(1, columns):  # the widest left; the first of equals
                    if widths[other] > widths[j]:
                        j = other
                if widths[j] <= 0.0:
                    break
                widths[j] = -1.0
                code, upto, before = middle(
                    codes, counts, j, begin, end, low[j], high[j], tally, found
                )
                cut = np.int64(0)
                share = np.int64(0)
                if relaxed:
                    # Records at the median are shared out so that both sides are equal.
                    cut = code
                    share = weight // 2 - before
                    is_cut = sides_hold(
                        codes, counts, sensitive, promise, j, cut, share, begin, end,
                        weight // 2, weight, whole, part, scratch,
                    )  # fmt: skip
                else:
                    # The more even of the two cuts around the median first.
                    after_first = abs(2 * upto - weight) <= abs(2 * before - weight)
                    for attempt in range(2):
                        after = after_first if attempt == 0 else not after_first
                        left = upto if after else before
                        cut = code + 1 if after else code
                        is_cut = sides_hold(
                            codes, counts, sensitive, promise, j, cut, share, begin, end,
                            left, weight, whole, part, scratch,
                        )  # fmt: skip
                        if is_cut:
                            break
                if is_cut:
                    middle_row, end = divide(
                        codes, counts, sensitive, row, spare, j, cut, share, begin, end
                    )
                    begins[depth] = middle_row
                    depth += 1
                    break
        if not is_cut:
            out_low[classes] = low
            out_high[classes] = high
            for i in range(begin, end):
                out_row[pieces] = row[i]
                out_label[pieces] = classes
                out_count[pieces] = counts[i]
                pieces += 1
            classes += 1
            end = begin
            depth -= 1
    return classes, pieces
