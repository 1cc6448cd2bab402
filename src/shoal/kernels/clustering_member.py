"""Greedy k-member's loop, exact, without looking at every row at every step.

Rows lie in an order in which neighbours are alike (see `clustering_order`), sixteen to a
block and sixteen blocks to a shelf; blocks and shelves know their boxes. The least growth
that any row of a box can cause is known from the box alone, so most shelves and blocks
are passed over; what is left is the exact minimum, ties going to the first row of the
table. Taken rows leave their block, and all is packed anew when half of the rows are gone.

Measured on Adult at k = 5: a binary tree of boxes looks at 390 boxes and rows a step but
needs 33 ns for each; keeping all blocks' bounds up to date costs more than it saves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering_space import (
    FULL,
    KIND,
    LINE,
    MISSING,
    SIZE,
    START,
    TABLE,
    Space,
)

WIDTH = 16


class Pieces(NamedTuple):
    """Where rows went: `count` records of `row` are in cluster `label`; -1: in none yet."""

    row: NDArray[np.int64]
    label: NDArray[np.int64]
    count: NDArray[np.int64]


def grow(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    order: NDArray[np.int64],
    *,
    space: Space,
    k: int,
    first: int,
    target: NDArray[np.int32] | None = None,
    penalty: int = 0,
) -> Pieces:
    """Build clusters of k records until fewer than k are left; those have label -1.

    Args:
        codes: int32[rows, columns].
        counts: records per row.
        order: an order of the rows in which neighbours are alike; it decides the time,
            never the result.
        space: the losses.
        k: records of a cluster.
        first: the row that the first seed is to be far from.
        target: class of each row, for the classification penalty.
        penalty: what a record of another class than the cluster's majority costs extra.
    """
    rows = len(counts)
    if codes.dtype != np.int32 or counts.dtype != np.int64 or codes.shape[1] != len(space.column):
        raise KernelInputError(problem="codes must be int32, counts int64, and fit the columns")
    if k < 1 or not 0 <= first < rows or len(order) != rows:
        raise KernelInputError(problem="k, the first row or the order is outside its range")
    groups = np.zeros(0, dtype=np.int32) if target is None else target[order].astype(np.int32)
    most = rows + int(counts.sum()) // (k if target is None else 1) + 1
    out = np.empty((3, most), dtype=np.int64)
    pieces = run(
        np.ascontiguousarray(codes[order].T.astype(np.uint32)),
        counts[order],
        order.astype(np.int64),
        groups,
        space,
        np.array([k, penalty, 0 if target is None else int(target.max()) + 1]),
        codes[first].astype(np.int64),
        out,
    )
    row, label, count = out[:, :pieces]
    return Pieces(row, label, count)


@njit(cache=True, nogil=True)
def cost(space, j, low, high):
    """Return the loss of codes low … high of column j."""
    kind = space.column[j, KIND]
    start = space.column[j, START]
    if kind == TABLE:
        return np.int64(space.flat[start + low * space.column[j, SIZE] + high])
    if kind == LINE:
        if low == 0 and high > 0 and space.column[j, MISSING] == 1:
            return space.column[j, FULL]
        return np.int64(space.flat[start + high]) - space.flat[start + low]
    if low == high:
        return np.int64(space.flat[start + low])
    level = space.log[high - low]
    base = start + (level + 1) * space.column[j, SIZE]
    return np.int64(max(space.flat[base + low], space.flat[base + high - (1 << level)]))


@njit(cache=True, nogil=True)
def aim(space, table, j, low, high):
    """Write the loss of low … high joined with each code of a short column."""
    size = space.column[j, SIZE]
    start = space.column[j, START]
    base = np.uint64(offset(space, j))
    for code in range(low):
        table[base + np.uint64(code)] = space.flat[start + code * size + high]
    inner = space.flat[start + low * size + high]
    for code in range(low, high + 1):
        table[base + np.uint64(code)] = inner
    for code in range(high + 1, size):
        table[base + np.uint64(code)] = space.flat[start + low * size + code]


@njit(cache=True, nogil=True)
def offset(space, j):
    """Return where column j stands in the table of the current cluster."""
    total = np.int64(0)
    for other in range(j):
        if space.column[other, KIND] == TABLE:
            total += space.column[other, SIZE]
    return total


@njit(cache=True, nogil=True)
def bounds(space, table, first, last, begin, size, low, high, far, key):
    """Write the least loss of low … high joined with something in each of `size` boxes.

    For `far`: minus the largest.
    """
    for i in range(size):
        key[i] = 0
    base = np.uint64(0)
    for j in range(low.size):
        if space.column[j, KIND] == TABLE:
            if far:
                for i in range(size):
                    key[i] -= max(
                        table[base + first[j, begin + i]], table[base + last[j, begin + i]]
                    )
            else:
                place = np.uint32(low[j])
                for i in range(size):  # the code of the box that is nearest to low … high
                    near = max(first[j, begin + i], min(last[j, begin + i], place))
                    key[i] += table[base + near]
            base += np.uint64(space.column[j, SIZE])
        else:
            for i in range(size):
                start = np.int64(first[j, begin + i])
                end = np.int64(last[j, begin + i])
                if far:
                    key[i] -= max(
                        cost(space, j, min(low[j], start), max(low[j], start)),
                        cost(space, j, min(low[j], end), max(low[j], end)),
                    )
                else:
                    key[i] += cost(space, j, min(low[j], end), max(high[j], start))


@njit(cache=True, nogil=True)
def losses(space, table, codes, begin, size, low, high, key):
    """Write the loss of low … high joined with each of `size` rows."""
    for i in range(size):
        key[i] = 0
    base = np.uint64(0)
    for j in range(low.size):
        if space.column[j, KIND] == TABLE:
            for i in range(size):
                key[i] += table[base + codes[j, begin + i]]
            base += np.uint64(space.column[j, SIZE])
        else:
            for i in range(size):
                code = np.int64(codes[j, begin + i])
                key[i] += cost(space, j, min(low[j], code), max(high[j], code))


@njit(cache=True, nogil=True)
def search(space, table, rows, blocks, shelves, cluster, low, high, far, floor, inside, keys):
    """Find the row with the least key, ties to the first row of the table.

    The key is the loss of low … high with the row in it, times the cluster's new size,
    plus the penalty; with `far` it is minus the distance from the point `low`. A key that
    equals `floor` means a row inside the box: all of those are listed.

    Returns: the row's place, and the number of rows listed in `inside`.
    """
    codes, row, counts, target = rows
    live, least, first, last = blocks
    shelf_least, shelf_first, shelf_last = shelves
    best, best_at, best_row, times, major, penalty = cluster
    key, block_key, shelf_key = keys
    found = np.int64(0)
    count = shelf_least.size
    bounds(space, table, shelf_first, shelf_last, 0, count, low, high, far, shelf_key)
    start = 0
    for shelf in range(1, count):
        if shelf_key[shelf] < shelf_key[start]:
            start = shelf
    for turn in range(-1, count):  # the most promising shelf first
        shelf = start if turn < 0 else turn
        limit = shelf_key[shelf] * times
        if turn == start or limit > best:
            continue
        if limit == best and limit != floor and shelf_least[shelf] > best_row:
            continue
        block = shelf * WIDTH
        bounds(space, table, first, last, block, WIDTH, low, high, far, block_key)
        for b in range(WIDTH):
            limit = block_key[b] * times
            if limit > best or live[block + b] == 0:
                continue
            if limit == best and limit != floor and least[block + b] > best_row:
                continue
            begin = (block + b) * WIDTH
            losses(space, table, codes, begin, live[block + b], low, high, key)
            for i in range(live[block + b]):
                value = -key[i] if far else key[i] * times
                if penalty > 0 and target[begin + i] != major:
                    value += penalty
                if value > best:
                    continue
                if value < best or row[begin + i] < best_row:
                    best = value
                    best_at = begin + i
                    best_row = row[begin + i]
                if value == floor:
                    inside[found] = row[begin + i]
                    found += 1
    return best_at, found


@njit(cache=True, nogil=True)
def take(at, amount, label, rows, live, place, out, pieces):
    """Move records of the row at `at` into a cluster; return the number of pieces.

    A row that is used up changes places with the last one of its block.
    """
    codes, row, counts, target = rows
    counts[at] -= amount
    if pieces > 0 and out[0, pieces - 1] == row[at] and out[1, pieces - 1] == label:
        out[2, pieces - 1] += amount
    else:
        out[0, pieces] = row[at]
        out[1, pieces] = label
        out[2, pieces] = amount
        pieces += 1
    if counts[at] == 0:
        b = at // WIDTH
        live[b] -= 1
        end = b * WIDTH + live[b]
        for j in range(codes.shape[0]):
            codes[j, at] = codes[j, end]
        row[at], row[end] = row[end], row[at]
        counts[at] = counts[end]
        counts[end] = 0
        place[row[at]] = at
        if target.size > 0:
            target[at] = target[end]
    return pieces


@njit(cache=True, nogil=True)
def pack(rows, place, planted, blocks, shelf_least, shelf_first, shelf_last):
    """Move the rows that are left to the front and box them; return their number."""
    codes, row, counts, target = rows
    live, least, first, last = blocks
    kept = np.int64(0)
    for i in range(planted):
        if counts[i] > 0:
            for j in range(codes.shape[0]):
                codes[j, kept] = codes[j, i]
            row[kept] = row[i]
            place[row[kept]] = kept
            if target.size > 0:
                target[kept] = target[i]
            amount = counts[i]
            counts[i] = 0
            counts[kept] = amount
            kept += 1
    for b in range(live.size):
        begin = b * WIDTH
        end = min(begin + WIDTH, kept)
        live[b] = max(end - begin, 0)
        if live[b] == 0:  # an empty block repeats the last box, which is harmless
            for j in range(codes.shape[0]):
                first[j, b] = first[j, b - 1]
                last[j, b] = last[j, b - 1]
            least[b] = least[b - 1]
            continue
        least[b] = row[begin]
        for i in range(begin, end):
            least[b] = min(least[b], row[i])
        for j in range(codes.shape[0]):
            first[j, b] = codes[j, begin]
            last[j, b] = codes[j, begin]
            for i in range(begin + 1, end):
                first[j, b] = min(first[j, b], codes[j, i])
                last[j, b] = max(last[j, b], codes[j, i])
    for b in range(live.size):
        shelf = b // WIDTH
        fresh = b % WIDTH == 0
        shelf_least[shelf] = least[b] if fresh else min(shelf_least[shelf], least[b])
        for j in range(codes.shape[0]):
            low = first[j, b]
            high = last[j, b]
            shelf_first[j, shelf] = low if fresh else min(shelf_first[j, shelf], low)
            shelf_last[j, shelf] = high if fresh else max(shelf_last[j, shelf], high)
    return kept


@njit(cache=True, nogil=True)
def run(codes, counts, row, target, space, numbers, seed, out):
    """Build clusters until fewer than k records are left; return the number of pieces.

    numbers: k, the penalty, and the number of classes.
    """
    k = numbers[0]
    penalty = numbers[1]
    classes = numbers[2]
    columns, planted = codes.shape
    rows = (codes, row, counts, target)
    place = np.empty(planted, dtype=np.int64)
    count = (planted + WIDTH * WIDTH - 1) // (WIDTH * WIDTH)
    blocks = (
        np.empty(count * WIDTH, dtype=np.int64),
        np.empty(count * WIDTH, dtype=np.int64),
        np.empty((columns, count * WIDTH), dtype=np.uint32),
        np.empty((columns, count * WIDTH), dtype=np.uint32),
    )
    least = np.empty(count, dtype=np.int64)
    first = np.empty((columns, count), dtype=np.uint32)
    last = np.empty((columns, count), dtype=np.uint32)
    table = np.empty(offset(space, columns) + 1, dtype=np.int32)
    keys = (
        np.empty(WIDTH, dtype=np.int64),
        np.empty(WIDTH, dtype=np.int64),
        np.empty(count, dtype=np.int64),
    )
    inside = np.empty(planted, dtype=np.int64)
    low = seed.copy()
    high = seed.copy()
    histogram = np.zeros(max(classes, 1), dtype=np.int64)
    endless = np.iinfo(np.int64).max
    planted = pack(rows, place, planted, blocks, least, first, last)
    shelves = (least, first, last)
    rows_left = planted
    left = np.int64(0)
    for i in range(planted):
        left += counts[i]
    pieces = np.int64(0)
    label = np.int64(0)
    while left >= k:
        if 2 * rows_left <= planted and planted > WIDTH * WIDTH:
            planted = pack(rows, place, planted, blocks, least, first, last)
            count = (planted + WIDTH * WIDTH - 1) // (WIDTH * WIDTH)
            shelves = (least[:count], first, last)
        for j in range(columns):
            low[j] = seed[j]
            high[j] = seed[j]
            if space.column[j, KIND] == TABLE:
                aim(space, table, j, low[j], high[j])
        none = (endless, np.int64(0), endless, np.int64(1), np.int64(0), np.int64(0))
        at, found = search(
            space, table, rows, blocks, shelves, none, low, high, True, endless, inside, keys
        )
        for j in range(columns):
            seed[j] = codes[j, at]
            low[j] = -1  # so that every column counts as changed
        for group in range(histogram.size):
            histogram[group] = 0
        size = np.int64(0)
        major = np.int64(0)
        while True:
            amount = min(counts[at], k - size) if classes == 0 else np.int64(1)
            floor = np.int64(0)
            for j in range(columns):
                code = np.int64(codes[j, at])
                if low[j] < 0 or code < low[j] or code > high[j]:
                    high[j] = code if low[j] < 0 else max(high[j], code)
                    low[j] = code if low[j] < 0 else min(low[j], code)
                    if size + amount < k and space.column[j, KIND] == TABLE:
                        aim(space, table, j, low[j], high[j])
                floor += cost(space, j, low[j], high[j])
            group = np.int64(0)
            if classes > 0:
                group = np.int64(target[at])
                major = majority(histogram, group)
            size += amount
            name = row[at]
            rows_left -= counts[at] == amount
            pieces = take(at, amount, label, rows, blocks[0], place, out, pieces)
            if size >= k:
                break
            floor *= size + 1
            best = (endless, at, endless, size + 1, major, penalty)
            if counts[at] > 0 and row[at] == name:
                # Of equals, a copy of the last member comes first.
                extra = penalty if classes > 0 and group != major else np.int64(0)
                best = (floor + extra, at, np.int64(-1), size + 1, major, penalty)
            if classes > 0:
                floor = endless
            at, found = search(
                space, table, rows, blocks, shelves, best, low, high, False, floor, inside, keys
            )
            if found > 1:
                # Rows inside the box cost nothing: they are taken in the table's order, and
                # the last one by the loop above.
                insertion_sort(inside, found)
                for i in range(found):
                    at = place[inside[i]]
                    if counts[at] >= k - size or i == found - 1:
                        break
                    size += counts[at]
                    rows_left -= 1
                    pieces = take(at, counts[at], label, rows, blocks[0], place, out, pieces)
        left -= size
        label += 1
    for i in range(planted):
        if counts[i] > 0:
            out[0, pieces] = row[i]
            out[1, pieces] = -1
            out[2, pieces] = counts[i]
            pieces += 1
    return pieces


@njit(cache=True, nogil=True)
def insertion_sort(values, size):
    """Sort the first values in place; these lists are short, and NumPy's sort compiles slowly."""
    for i in range(1, size):
        value = values[i]
        at = i
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


@njit(cache=True, nogil=True)
def majority(histogram, group):
    """Count one more record of a class; return the commonest class, the first of equals."""
    histogram[group] += 1
    major = np.int64(0)
    for other in range(1, histogram.size):
        if histogram[other] > histogram[major]:
            major = np.int64(other)
    return major
