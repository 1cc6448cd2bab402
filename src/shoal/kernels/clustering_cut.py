"""Best cut: Mondrian that cuts where the loss falls most, over all columns and positions.

The rows of a part are sorted by one column, equal codes keeping the order that earlier
cuts gave them. Boxes grown from the left and from the right give the loss of both sides
of every position in one look at each row. A cut may fall between rows of equal code: so a
part can be cut along an older column too, and sizes close to k can be reached. In a
hierarchy any subtree may also be cut out of the middle.

Measured on Adult, NCP at k = 10: 0.130 when equal codes must stay together, 0.123 when
they need not, 0.095 when subtrees may be cut out as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.axes import Promise
from shoal.kernels.clustering_space import (
    BRANCHES,
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

GROUPS = 256
"""Subtrees are cut out of columns of up to this many values."""


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
def sort_rows(codes, j, begin, end, order, other, tally):
    """Write the order of a part's rows by column j, equal codes as they stand.

    Returns: whether there is more than one code.
    """
    rows = end - begin
    low = np.int64(codes[begin, j])
    high = low
    for i in range(begin, end):
        low = min(low, np.int64(codes[i, j]))
        high = max(high, np.int64(codes[i, j]))
    for i in range(rows):
        order[i] = i
    shift = 0
    while (high - low) >> shift > 0:
        digits = min(((high - low) >> shift) + 1, 256)
        for digit in range(digits + 1):
            tally[digit] = 0
        for i in range(rows):
            tally[(((codes[begin + i, j] - low) >> shift) & 255) + 1] += 1
        for digit in range(digits):
            tally[digit + 1] += tally[digit]
        for i in range(rows):
            digit = ((codes[begin + order[i], j] - low) >> shift) & 255
            other[tally[digit]] = order[i]
            tally[digit] += 1
        for i in range(rows):
            order[i] = other[i]
        shift += 8
    return high > low


@njit(**LEAN)
def weigh(column, flat, log, codes, counts, begin, end, order, total, k, low, high, parts, losses):
    """Write the loss of a cut before each row of the order; below 0: none there. Return the best.

    parts: int64[rows, columns], the losses of the growing box in each column.
    """
    columns = low.size
    rows = end - begin
    right = np.int64(0)
    weight = np.int64(0)
    for i in range(rows - 1, 0, -1):
        at = begin + order[i]
        for c in range(columns):
            code = np.int64(codes[at, c])
            if weight == 0 or code < low[c] or code > high[c]:
                low[c] = code if weight == 0 else min(low[c], code)
                high[c] = code if weight == 0 else max(high[c], code)
                fresh = cost(column, flat, log, c, low[c], high[c])
                right += fresh if weight == 0 else fresh - parts[c]
                parts[c] = fresh
        weight += counts[at]
        losses[i] = right * weight if weight >= k and total - weight >= k else np.int64(-1)
    best = np.int64(-1)
    left = np.int64(0)
    weight = np.int64(0)
    for i in range(rows - 1):
        at = begin + order[i]
        for c in range(columns):
            code = np.int64(codes[at, c])
            if weight == 0 or code < low[c] or code > high[c]:
                low[c] = code if weight == 0 else min(low[c], code)
                high[c] = code if weight == 0 else max(high[c], code)
                fresh = cost(column, flat, log, c, low[c], high[c])
                left += fresh if weight == 0 else fresh - parts[c]
                parts[c] = fresh
        weight += counts[at]
        if losses[i + 1] >= 0:
            losses[i + 1] += left * weight
            if best < 0 or losses[i + 1] < losses[best]:
                best = np.int64(i + 1)
    return best


@njit(**LEAN)
def box_codes(codes, counts, j, begin, end, weights, first, last, found):
    """Write weight and box of each code of column j that occurs; list them in `found`.

    `weights` must be all zero. Returns: the number of codes.
    """
    columns = codes.shape[1]
    for i in range(begin, end):
        code = codes[i, j]
        at = code * columns
        fresh = weights[code] == 0
        weights[code] += counts[i]
        for c in range(columns):
            first[at + c] = codes[i, c] if fresh else min(first[at + c], codes[i, c])
            last[at + c] = codes[i, c] if fresh else max(last[at + c], codes[i, c])
    number = np.int64(0)
    for code in range(weights.size):
        if weights[code] > 0:
            found[number] = code
            number += 1
    return number


@njit(**LEAN)
def weigh_groups(
    column, flat, log, j, number, found, weights, first, last, total, k, low, high, best, group
):
    """Look at cuts between one subtree (or value) and the rest; return the least loss found.

    The subtree is written to `group`; -1: no cut loses less than `best`. Clears `weights`.
    """
    columns = low.size
    answer = np.int64(-1)
    for a in range(1, number - 1):  # a group at an end is a cut like any other
        inner = np.int64(0)
        for b in range(a, number - 1):
            inner += weights[found[b]]
            if total - inner < k:
                break
            for c in range(columns):
                at = found[b] * columns + c
                low[c] = np.int64(first[at]) if a == b else min(low[c], np.int64(first[at]))
                high[c] = np.int64(last[at]) if a == b else max(high[c], np.int64(last[at]))
            if inner < k:
                continue
            height = cost(column, flat, log, j, found[a], found[b])
            if (
                cost(column, flat, log, j, found[a - 1], found[b]) <= height
                or cost(column, flat, log, j, found[a], found[b + 1]) <= height
            ):
                continue  # a part of a subtree, not a whole one
            loss = np.int64(0)
            for c in range(columns):
                loss += cost(column, flat, log, c, low[c], high[c])
            loss *= inner
            for c in range(columns):
                if best >= 0 and loss >= best:
                    break
                start = np.int64(2147483647)
                stop = np.int64(-1)
                for other in range(number):
                    if other < a or other > b:
                        start = min(start, np.int64(first[found[other] * columns + c]))
                        stop = max(stop, np.int64(last[found[other] * columns + c]))
                loss += cost(column, flat, log, c, start, stop) * (total - inner)
            if best < 0 or loss < best:
                best = loss
                answer = loss
                group[0] = found[a]
                group[1] = found[b]
    for a in range(number):
        weights[found[a]] = 0
    return answer


@njit(**LEAN)
def gather(codes, j, begin, end, group, order, other):
    """Move the rows of a group of codes to the front of the order; return their number."""
    rows = end - begin
    inside = np.int64(0)
    for i in range(rows):
        other[i] = order[i]
        if group[0] <= codes[begin + order[i], j] <= group[1]:
            inside += 1
    front = np.int64(0)
    back = inside
    for i in range(rows):
        if group[0] <= codes[begin + other[i], j] <= group[1]:
            order[front] = other[i]
            front += 1
        else:
            order[back] = other[i]
            back += 1
    return inside


@njit(**LEAN)
def arrange(codes, counts, sensitive, row, begin, end, order, spare, spare_numbers):
    """Put a part's rows into the order."""
    columns = codes.shape[1]
    extra = sensitive.shape[1]
    for i in range(end - begin):
        at = begin + order[i]
        for c in range(columns):
            spare[i, c] = codes[at, c]
        for s in range(extra):
            spare[i, columns + s] = sensitive[at, s]
        spare_numbers[i, 0] = counts[at]
        spare_numbers[i, 1] = row[at]
    for i in range(end - begin):
        for c in range(columns):
            codes[begin + i, c] = spare[i, c]
        for s in range(extra):
            sensitive[begin + i, s] = spare[i, columns + s]
        counts[begin + i] = spare_numbers[i, 0]
        row[begin + i] = spare_numbers[i, 1]


@njit(cache=True, nogil=True)
def keeps(counts, sensitive, promise, order, begin, rows, position, histogram, scratch):
    """Say whether both sides of a cut before a position keep the promise."""
    for side in range(2):
        for v in range(histogram.size):
            histogram[v] = 0
        weight = np.int64(0)
        for i in range(0 if side == 0 else position, position if side == 0 else rows):
            at = begin + order[i]
            weight += counts[at]
            for s in range(promise.start.size - 1):
                histogram[promise.start[s] + sensitive[at, s]] += counts[at]
        if not judge(promise, weight, histogram, scratch):
            return False
    return True


@njit(cache=True, nogil=True)
def best_kept(counts, sensitive, promise, order, begin, rows, losses, best, histogram, scratch):
    """Return the position where a cut loses least, among those that keep the promise."""
    while True:
        found = np.int64(-1)
        for i in range(1, rows):
            if losses[i] >= 0 and (found < 0 or losses[i] < losses[found]):
                found = np.int64(i)
        if found < 0 or (best >= 0 and losses[found] >= best):
            return np.int64(-1)
        if keeps(counts, sensitive, promise, order, begin, rows, found, histogram, scratch):
            return found
        losses[found] = -1


@njit(cache=True, nogil=True)
def run(codes, counts, sensitive, row, label, column, flat, log, promise):
    """Cut until nothing more may be cut; rows are permuted, labels number the classes."""
    rows, columns = codes.shape
    order = np.empty(rows, dtype=np.int64)
    other = np.empty(rows, dtype=np.int64)
    tally = np.empty(258, dtype=np.int64)
    losses = np.empty(rows, dtype=np.int64)
    low = np.empty(columns, dtype=np.int64)
    high = np.empty(columns, dtype=np.int64)
    parts = np.empty(columns, dtype=np.int64)
    spare = np.empty((rows, columns + sensitive.shape[1]), dtype=np.int32)
    spare_numbers = np.empty((rows, 2), dtype=np.int64)
    histogram = np.empty(promise.reference.size, dtype=np.int64)
    scratch = np.empty(2 * max(promise.tree_parent.size, promise.reference.size) + 2)
    ends = np.empty(rows + 1, dtype=np.int64)
    ends[0] = rows
    weights = np.zeros(GROUPS, dtype=np.int64)
    first = np.empty(GROUPS * columns, dtype=np.int32)
    last = np.empty(GROUPS * columns, dtype=np.int32)
    found = np.empty(GROUPS, dtype=np.int64)
    group = np.empty(2, dtype=np.int64)
    trial = np.empty(2, dtype=np.int64)
    depth = 1
    begin = np.int64(0)
    classes = np.int64(0)
    k = np.int64(promise.k)
    while depth > 0:
        end = ends[depth - 1]
        total = np.int64(0)
        for i in range(begin, end):
            total += counts[i]
        best = np.int64(-1)
        group[0] = -1
        axis = np.int64(-1)
        position = np.int64(0)
        for j in range(columns if total >= 2 * k else 0):
            if not sort_rows(codes, j, begin, end, order, other, tally):
                continue
            i = weigh(
                column, flat, log, codes, counts, begin, end, order, total, k, low, high,
                parts, losses,
            )  # fmt: skip
            if i >= 0 and promise.kind.size > 0:
                i = best_kept(
                    counts, sensitive, promise, order, begin, end - begin, losses, best,
                    histogram, scratch,
                )  # fmt: skip
            if i >= 0 and (best < 0 or losses[i] < best):
                best = losses[i]
                axis = np.int64(j)
                position = i
                group[0] = -1
            if column[j, BRANCHES] == 0 or column[j, SIZE] > GROUPS:
                continue
            number = box_codes(codes, counts, j, begin, end, weights, first, last, found)
            loss = weigh_groups(
                column, flat, log, j, number, found, weights, first, last, total, k, low, high,
                best, trial,
            )  # fmt: skip
            if loss < 0 or (best >= 0 and loss >= best):
                continue
            if promise.kind.size > 0:
                middle = gather(codes, j, begin, end, trial, order, other)
                if not keeps(
                    counts, sensitive, promise, order, begin, end - begin, middle, histogram,
                    scratch,
                ):  # fmt: skip
                    continue
            best = loss
            axis = np.int64(j)
            group[0] = trial[0]
            group[1] = trial[1]
        if axis < 0:
            for i in range(begin, end):
                label[i] = classes
            classes += 1
            begin = end
            depth -= 1
            continue
        sort_rows(codes, axis, begin, end, order, other, tally)
        if group[0] >= 0:
            position = gather(codes, axis, begin, end, group, order, other)
        arrange(codes, counts, sensitive, row, begin, end, order, spare, spare_numbers)
        ends[depth] = begin + position
        depth += 1
    return classes
