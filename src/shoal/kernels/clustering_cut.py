"""Best cut: Mondrian that cuts where the loss falls most, over all columns and positions.

For one column the rows of a part fall into buckets, one a code. Each bucket has a box over
all columns; boxes joined from the left and from the right give the loss of both sides of
every cut, so that a column costs one look at each row, however many positions it has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.axes import Promise
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
from shoal.kernels.judge import judge


class Cuts(NamedTuple):
    """Rows in an order in which each class is a run, and the class of each."""

    row: NDArray[np.int64]
    label: NDArray[np.int64]


def cut(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    *,
    space: Space,
    promise: Promise,
) -> Cuts:
    """Cut the table into classes.

    Guarantee:
        Every class meets the promise if the whole table does.
    """
    rows, columns = codes.shape
    if codes.dtype != np.int32 or counts.dtype != np.int64 or sensitive.dtype != np.int32:
        raise KernelInputError(problem="codes and sensitive must be int32, counts int64")
    if columns != len(space.column) or rows == 0:
        raise KernelInputError(problem="codes do not fit the columns, or there is no row")
    row = np.arange(rows)
    label = np.empty(rows, dtype=np.int64)
    run(
        codes.copy(), counts.copy(), sensitive.copy(), row, label,
        space.column, space.flat, space.log, promise,
    )  # fmt: skip
    return Cuts(row, label)


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
def rank(codes, j, begin, end, low, high, bucket, order, other, tally):
    """Give each row of a part the number of its bucket in column j; return how many there are.

    Codes that lie close together are their own bucket. Codes far apart are sorted, eight
    bits at a time, and numbered.
    """
    rows = end - begin
    if high - low <= 2 * rows + 64:
        for i in range(rows):
            bucket[i] = codes[begin + i, j] - low
        return high - low + 1
    for i in range(rows):
        order[i] = i
    shift = 0
    while (high - low) >> shift > 0:
        for digit in range(257):
            tally[digit] = 0
        for i in range(rows):
            tally[(((codes[begin + i, j] - low) >> shift) & 255) + 1] += 1
        for digit in range(256):
            tally[digit + 1] += tally[digit]
        for i in range(rows):
            digit = ((codes[begin + order[i], j] - low) >> shift) & 255
            other[tally[digit]] = order[i]
            tally[digit] += 1
        for i in range(rows):
            order[i] = other[i]
        shift += 8
    number = 0
    for i in range(rows):
        if i > 0 and codes[begin + order[i], j] != codes[begin + order[i - 1], j]:
            number += 1
        bucket[order[i]] = number
    return number + 1


@njit(**LEAN)
def box_buckets(codes, counts, begin, end, bucket, buckets, weight, first, last):
    """Write the weight and the box of each bucket."""
    columns = codes.shape[1]
    for b in range(buckets):
        weight[b] = 0
    for i in range(end - begin):
        b = bucket[i]
        at = b * columns
        if weight[b] == 0:
            for c in range(columns):
                first[at + c] = codes[begin + i, c]
                last[at + c] = codes[begin + i, c]
        else:
            for c in range(columns):
                first[at + c] = min(first[at + c], codes[begin + i, c])
                last[at + c] = max(last[at + c], codes[begin + i, c])
        weight[b] += counts[begin + i]


@njit(**LEAN)
def weigh(column, flat, log, buckets, weight, first, last, total, k, low, high, right, losses):
    """Write the loss of a cut after each bucket; below 0: no cut there. Return the best one."""
    columns = low.size
    none = np.int64(-1)
    left_weight = np.int64(0)
    for b in range(buckets - 1, 0, -1):  # right[b]: loss of the buckets from b on
        if weight[b] > 0:
            for c in range(columns):
                at = b * columns + c
                low[c] = first[at] if left_weight == 0 else min(low[c], first[at])
                high[c] = last[at] if left_weight == 0 else max(high[c], last[at])
            left_weight += weight[b]
            right[b] = 0
            if left_weight >= k and total - left_weight >= k:
                for c in range(columns):
                    right[b] += cost(column, flat, log, c, low[c], high[c])
        elif b + 1 < buckets:
            right[b] = right[b + 1]
    best = none
    left_weight = np.int64(0)
    for b in range(buckets - 1):
        losses[b] = none
        if weight[b] == 0:
            continue
        for c in range(columns):
            at = b * columns + c
            low[c] = first[at] if left_weight == 0 else min(low[c], first[at])
            high[c] = last[at] if left_weight == 0 else max(high[c], last[at])
        left_weight += weight[b]
        if left_weight < k or total - left_weight < k:
            continue
        loss = np.int64(0)
        for c in range(columns):
            loss += cost(column, flat, log, c, low[c], high[c])
        losses[b] = loss * left_weight + right[b + 1] * (total - left_weight)
        if best < 0 or losses[b] < losses[best]:
            best = np.int64(b)
    return best


@njit(**LEAN)
def part_rows(codes, counts, sensitive, row, begin, end, j, code, spare, spare_numbers):
    """Write the rows up to `code` first, the others after them; return where those begin."""
    columns = codes.shape[1]
    extra = sensitive.shape[1]
    kept = begin
    moved = 0
    for i in range(begin, end):
        if codes[i, j] <= code:
            for c in range(columns):
                codes[kept, c] = codes[i, c]
            for s in range(extra):
                sensitive[kept, s] = sensitive[i, s]
            counts[kept] = counts[i]
            row[kept] = row[i]
            kept += 1
        else:
            for c in range(columns):
                spare[moved, c] = codes[i, c]
            for s in range(extra):
                spare[moved, columns + s] = sensitive[i, s]
            spare_numbers[moved, 0] = counts[i]
            spare_numbers[moved, 1] = row[i]
            moved += 1
    for i in range(moved):
        for c in range(columns):
            codes[kept + i, c] = spare[i, c]
        for s in range(extra):
            sensitive[kept + i, s] = spare[i, columns + s]
        counts[kept + i] = spare_numbers[i, 0]
        row[kept + i] = spare_numbers[i, 1]
    return kept


@njit(cache=True, nogil=True)
def keeps(codes, counts, sensitive, promise, j, code, begin, end, histogram, scratch):
    """Say whether both sides of a cut after `code` keep the promise."""
    for side in range(2):
        for v in range(histogram.size):
            histogram[v] = 0
        weight = np.int64(0)
        for i in range(begin, end):
            if (codes[i, j] <= code) == (side == 0):
                weight += counts[i]
                for s in range(promise.start.size - 1):
                    histogram[promise.start[s] + sensitive[i, s]] += counts[i]
        if not judge(promise, weight, histogram, scratch):
            return False
    return True


@njit(cache=True, nogil=True)
def run(codes, counts, sensitive, row, label, column, flat, log, promise):
    """Cut until nothing more may be cut; rows are permuted, labels number the classes."""
    rows, columns = codes.shape
    widest = np.int64(0)
    for j in range(columns):
        widest = max(widest, column[j, SIZE])
    most = min(widest, 2 * rows + 66) + 2
    bucket = np.empty(rows, dtype=np.int64)
    order = np.empty(rows, dtype=np.int64)
    other = np.empty(rows, dtype=np.int64)
    tally = np.empty(258, dtype=np.int64)
    weight = np.empty(most, dtype=np.int64)
    first = np.empty(most * columns, dtype=np.int32)
    last = np.empty(most * columns, dtype=np.int32)
    right = np.empty(most, dtype=np.int64)
    losses = np.empty(most, dtype=np.int64)
    low = np.empty(columns, dtype=np.int64)
    high = np.empty(columns, dtype=np.int64)
    spare = np.empty((rows, columns + sensitive.shape[1]), dtype=np.int32)
    spare_numbers = np.empty((rows, 2), dtype=np.int64)
    histogram = np.empty(promise.reference.size, dtype=np.int64)
    scratch = np.empty(2 * max(promise.tree_parent.size, promise.reference.size) + 2)
    ends = np.empty(rows + 1, dtype=np.int64)
    ends[0] = rows
    depth = 1
    begin = np.int64(0)
    classes = np.int64(0)
    k = np.int64(promise.k)
    spread = promise.kind.size > 0
    while depth > 0:
        end = ends[depth - 1]
        total = np.int64(0)
        for i in range(begin, end):
            total += counts[i]
        column_at = -1
        code_at = np.int64(0)
        best = np.int64(-1)
        if total >= 2 * k:
            for j in range(columns):
                start = np.int64(codes[begin, j])
                stop = start
                for i in range(begin, end):
                    start = min(start, np.int64(codes[i, j]))
                    stop = max(stop, np.int64(codes[i, j]))
                if start == stop:
                    continue
                buckets = rank(codes, j, begin, end, start, stop, bucket, order, other, tally)
                box_buckets(codes, counts, begin, end, bucket, buckets, weight, first, last)
                b = weigh(
                    column, flat, log, buckets, weight, first, last, total, k, low, high,
                    right, losses,
                )  # fmt: skip
                if b < 0 or (best >= 0 and losses[b] >= best):
                    continue
                if spread:
                    b = best_kept(
                        codes, counts, sensitive, promise, j, begin, end, bucket, buckets,
                        losses, best, last, histogram, scratch,
                    )  # fmt: skip
                    if b < 0:
                        continue
                best = losses[b]
                column_at = j
                code_at = np.int64(last[b * columns + j])
        if column_at < 0:
            for i in range(begin, end):
                label[i] = classes
            classes += 1
            begin = end
            depth -= 1
            continue
        ends[depth] = part_rows(
            codes, counts, sensitive, row, begin, end, column_at, code_at, spare, spare_numbers
        )
        depth += 1
    return classes


@njit(cache=True, nogil=True)
def best_kept(
    codes, counts, sensitive, promise, j, begin, end, bucket, buckets, losses, best, last,
    histogram, scratch,
):  # fmt: skip
    """Return the bucket after which a cut loses least, among those that keep the promise."""
    columns = codes.shape[1]
    while True:
        found = np.int64(-1)
        for b in range(buckets - 1):
            if losses[b] >= 0 and (found < 0 or losses[b] < losses[found]):
                found = np.int64(b)
        if found < 0 or (best >= 0 and losses[found] >= best):
            return np.int64(-1)
        code = last[found * columns + j]
        if keeps(codes, counts, sensitive, promise, j, code, begin, end, histogram, scratch):
            return found
        losses[found] = -1
