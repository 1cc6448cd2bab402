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
    LEAN,
    LINE,
    MISSING,
    SIZE,
    START,
    TABLE,
    Space,
)

WIDTH = 16


class Pieces(NamedTuple):
    """Where rows went: `records` of `row` are in cluster `label`; -1: in none yet."""

    row: NDArray[np.int64]
    label: NDArray[np.int64]
    records: NDArray[np.int64]


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
    seeds: NDArray[np.int64] | None = None,
    price: NDArray[np.int64] | None = None,
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
        seeds: rows in the order in which they begin clusters, instead of the furthest one.
        price: for each row, what it is worth to take it along: subtracted from its loss.
    """
    rows = len(counts)
    if codes.dtype != np.int32 or counts.dtype != np.int64 or codes.shape[1] != len(space.column):
        raise KernelInputError(problem="codes must be int32, counts int64, and fit the columns")
    if k < 1 or not 0 <= first < rows or len(order) != rows:
        raise KernelInputError(problem="k, the first row or the order is outside its range")
    groups = np.zeros(0, dtype=np.int32) if target is None else target[order].astype(np.int32)
    # Short columns first; their codes are written with the place of their column in the
    # table of the current cluster already added.
    turn = np.argsort(space.column[:, KIND] != TABLE, kind="stable")
    facts = space.column[turn]
    short = int((facts[:, KIND] == TABLE).sum())
    base = np.zeros(len(turn), dtype=np.int64)
    base[1:short] = np.cumsum(facts[: max(short - 1, 0), SIZE])
    cells = (codes[:, turn] + base).astype(np.uint32)
    most = rows + int(counts.sum()) // (k if target is None else 1) + 1
    out = np.empty((3, most), dtype=np.int64)
    pieces = run(
        cells[order].ravel(),
        counts[order],
        order.astype(np.int64),
        groups,
        facts,
        space.flat,
        space.log,
        base,
        np.array([k, penalty, 0 if target is None else int(target.max()) + 1, short]),
        cells[first].astype(np.int64),
        np.zeros(0, dtype=np.int64) if seeds is None else seeds.astype(np.int64),
        np.zeros(0, dtype=np.int64) if price is None else price.astype(np.int64),
        out,
    )
    row, label, count = out[:, :pieces]
    return Pieces(row, label, count)


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
def aim(column, flat, table, j, base, low, high):
    """Write the loss of low … high joined with each code of a short column."""
    size = column[j, SIZE]
    start = column[j, START]
    low -= base
    high -= base
    inner = flat[start + low * size + high]
    for code in range(size):
        loss = inner
        if code < low:
            loss = flat[start + code * size + high]
        elif code > high:
            loss = flat[start + low * size + code]
        table[base + code] = loss


@njit(**LEAN)
def bound(table, boxes, first, low, short, far):
    """Return the least loss of low … high joined with something in a box, short columns only.

    For `far`: minus the largest. boxes: for each box the first codes, then the last ones.
    """
    last = first + np.uint64(low.size)
    total = np.int64(0)
    if far:
        for j in range(short):
            total -= max(table[boxes[first + np.uint64(j)]], table[boxes[last + np.uint64(j)]])
    else:
        for j in range(short):  # the code of the box that is nearest to low … high
            near = min(boxes[last + np.uint64(j)], np.uint32(low[j]))
            total += table[max(boxes[first + np.uint64(j)], near)]
    return total


@njit(**LEAN)
def long_bound(column, flat, log, boxes, first, low, high, short, far):
    """Return the part of `bound` that the long columns have."""
    last = first + np.uint64(low.size)
    total = np.int64(0)
    for j in range(short, low.size):
        begin = np.int64(boxes[first + np.uint64(j)])
        end = np.int64(boxes[last + np.uint64(j)])
        if far:
            total -= max(
                cost(column, flat, log, j, min(low[j], begin), max(low[j], begin)),
                cost(column, flat, log, j, min(low[j], end), max(low[j], end)),
            )
        else:
            total += cost(column, flat, log, j, min(low[j], end), max(high[j], begin))
    return total


@njit(**LEAN)
def search(
    column, flat, log, table, cells, row, target, live, least, boxes, shelf_least, shelf_boxes,
    best, best_at, best_row, times, major, penalty, low, high, short, far, floor, inside, keys,
    price, worth, shelf_worth,
):  # fmt: skip
    """Find the row with the least key, ties to the first row of the table.

    The key is the loss of low … high with the row in it, times the cluster's new size,
    plus the penalty; with `far` it is minus the distance from the point `low`. A key that
    equals `floor` means a row inside the box: all of those are listed.

    Returns: the row's place, and the number of rows listed in `inside`.
    """
    columns = np.uint64(low.size)
    found = np.int64(0)
    priced = price.size > 0 and not far
    count = shelf_least.size
    start = 0
    for shelf in range(count):
        first = np.uint64(2 * shelf) * columns
        keys[shelf] = bound(table, shelf_boxes, first, low, short, far)
        if short < low.size:
            keys[shelf] += long_bound(column, flat, log, shelf_boxes, first, low, high, short, far)
        if priced:
            keys[shelf] -= shelf_worth[shelf]
        if keys[shelf] < keys[start]:
            start = shelf
    for turn in range(-1, count):  # the most promising shelf first
        shelf = start if turn < 0 else turn
        limit = keys[shelf] * times
        if turn == start or limit > best:
            continue
        if limit == best and limit != floor and shelf_least[shelf] > best_row:
            continue
        for b in range(shelf * WIDTH, (shelf + 1) * WIDTH):
            if live[b] == 0:
                continue
            first = np.uint64(2 * b) * columns
            limit = bound(table, boxes, first, low, short, far)
            if short < low.size:
                limit += long_bound(column, flat, log, boxes, first, low, high, short, far)
            if priced:
                limit -= worth[b]
            limit *= times
            if limit > best:
                continue
            if limit == best and limit != floor and least[b] > best_row:
                continue
            for i in range(b * WIDTH, b * WIDTH + live[b]):
                value = np.int64(0)
                at = np.uint64(i) * columns
                for j in range(short):
                    value += table[cells[at + np.uint64(j)]]
                for j in range(short, low.size):
                    code = np.int64(cells[at + np.uint64(j)])
                    value += cost(column, flat, log, j, min(low[j], code), max(high[j], code))
                if priced:
                    value -= price[row[i]]
                value = -value if far else value * times
                if penalty > 0 and not far and target[i] != major:
                    value += penalty
                if value > best:
                    continue
                if value < best or row[i] < best_row:
                    best = value
                    best_at = i
                    best_row = row[i]
                if value == floor:
                    inside[found] = row[i]
                    found += 1
    return best_at, found


@njit(**LEAN)
def take(at, amount, label, cells, row, counts, target, live, place, out, pieces):
    """Move records of the row at `at` into a cluster; return the number of pieces.

    A row that is used up changes places with the last one of its block.
    """
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
        columns = cells.size // row.size
        for j in range(columns):
            cells[at * columns + j] = cells[end * columns + j]
        row[at], row[end] = row[end], row[at]
        counts[at] = counts[end]
        counts[end] = 0
        place[row[at]] = at
        if target.size > 0:
            target[at] = target[end]
    return pieces


@njit(**LEAN)
def pack(
    cells, row, counts, target, place, planted, live, least, boxes, shelf_least, shelf_boxes,
    price, worth, shelf_worth,
):  # fmt: skip
    """Move the rows that are left to the front and box them; return their number."""
    columns = cells.size // row.size
    kept = np.int64(0)
    for i in range(planted):
        if counts[i] > 0:
            for j in range(columns):
                cells[kept * columns + j] = cells[i * columns + j]
            row[kept] = row[i]
            place[row[kept]] = kept
            if target.size > 0:
                target[kept] = target[i]
            amount = counts[i]
            counts[i] = 0
            counts[kept] = amount
            kept += 1
    for b in range(live.size):
        shelf = b // WIDTH
        begin = b * WIDTH
        live[b] = max(min(begin + WIDTH, kept) - begin, 0)
        for i in range(begin, begin + live[b]):
            least[b] = row[i] if i == begin else min(least[b], row[i])
            fresh = b % WIDTH == 0 and i == begin
            shelf_least[shelf] = row[i] if fresh else min(shelf_least[shelf], row[i])
            if price.size > 0:
                value = price[row[i]]
                worth[b] = value if i == begin else max(worth[b], value)
                shelf_worth[shelf] = value if fresh else max(shelf_worth[shelf], value)
            for j in range(columns):
                code = cells[i * columns + j]
                at = 2 * b * columns + j
                boxes[at] = code if i == begin else min(boxes[at], code)
                at += columns
                boxes[at] = code if i == begin else max(boxes[at], code)
                at = 2 * shelf * columns + j
                shelf_boxes[at] = code if fresh else min(shelf_boxes[at], code)
                at += columns
                shelf_boxes[at] = code if fresh else max(shelf_boxes[at], code)
    return kept


@njit(cache=True, nogil=True)
def run(cells, counts, row, target, column, flat, log, base, numbers, seed, seeds, price, out):
    """Build clusters until fewer than k records are left; return the number of pieces.

    numbers: k, the penalty, the number of classes, and of short columns.
    """
    k = numbers[0]
    penalty = numbers[1]
    classes = numbers[2]
    short = numbers[3]
    columns = seed.size
    planted = np.int64(row.size)
    place = np.empty(planted, dtype=np.int64)
    count = (planted + WIDTH * WIDTH - 1) // (WIDTH * WIDTH)
    live = np.empty(count * WIDTH, dtype=np.int64)
    least = np.empty(count * WIDTH, dtype=np.int64)
    boxes = np.empty(count * WIDTH * 2 * columns, dtype=np.uint32)
    shelf_least = np.empty(count, dtype=np.int64)
    shelf_boxes = np.empty(count * 2 * columns, dtype=np.uint32)
    worth = np.empty(count * WIDTH if price.size > 0 else 0, dtype=np.int64)
    shelf_worth = np.empty(count if price.size > 0 else 0, dtype=np.int64)
    next_seed = np.int64(0)
    room = np.int64(1)
    for j in range(short):
        room += column[j, SIZE]
    table = np.empty(room, dtype=np.int64)
    keys = np.empty(count, dtype=np.int64)
    inside = np.empty(planted, dtype=np.int64)
    low = seed.copy()
    high = seed.copy()
    histogram = np.zeros(max(classes, 1), dtype=np.int64)
    endless = np.iinfo(np.int64).max
    planted = pack(
        cells, row, counts, target, place, planted, live, least, boxes, shelf_least, shelf_boxes,
        price, worth, shelf_worth,
    )  # fmt: skip
    rows_left = planted
    left = np.int64(0)
    for i in range(planted):
        left += counts[i]
    pieces = np.int64(0)
    label = np.int64(0)
    while left >= k:
        if 2 * rows_left <= planted and planted > WIDTH * WIDTH:
            planted = pack(
                cells, row, counts, target, place, planted, live, least, boxes, shelf_least,
                shelf_boxes, price, worth, shelf_worth,
            )  # fmt: skip
            count = (planted + WIDTH * WIDTH - 1) // (WIDTH * WIDTH)
            shelf_least = shelf_least[:count]
        for j in range(columns):
            low[j] = seed[j]
            high[j] = seed[j]
            if j < short:
                aim(column, flat, table, j, base[j], low[j], high[j])
        at = np.int64(-1)
        while next_seed < seeds.size and at < 0:
            at = place[seeds[next_seed]]
            if counts[at] == 0 or row[at] != seeds[next_seed]:
                at = np.int64(-1)
                next_seed += 1
        best = endless
        best_row = endless
        floor = endless
        far = True
        size = np.int64(0)
        major = np.int64(0)
        for group in range(histogram.size):
            histogram[group] = 0
        while True:
            found = np.int64(0)
            if at < 0 or not far:
                at, found = search(
                    column, flat, log, table, cells, row, target, live, least, boxes,
                    shelf_least, shelf_boxes, best, max(at, 0), best_row, size + 1, major, penalty,
                    low, high, short, far, floor, inside, keys, price, worth, shelf_worth,
                )  # fmt: skip
            if found > 1:
                # Rows inside the box cost nothing: they are taken in the table's order, and
                # the last one of them below.
                insertion_sort(inside, found)
                for i in range(found):
                    at = place[inside[i]]
                    if counts[at] >= k - size or i == found - 1:
                        break
                    size += counts[at]
                    rows_left -= 1
                    pieces = take(
                        at, counts[at], label, cells, row, counts, target, live, place, out,
                        pieces,
                    )  # fmt: skip
            amount = min(counts[at], k - size) if classes == 0 else np.int64(1)
            floor = np.int64(0)
            for j in range(columns):
                code = np.int64(cells[at * columns + j])
                if far or code < low[j] or code > high[j]:
                    low[j] = code if far else min(low[j], code)
                    high[j] = code if far else max(high[j], code)
                    if far:
                        seed[j] = code
                    if j < short and size + amount < k:
                        aim(column, flat, table, j, base[j], low[j], high[j])
                floor += cost(column, flat, log, j, low[j] - base[j], high[j] - base[j])
            far = False
            group = np.int64(0)
            if classes > 0:
                group = np.int64(target[at])
                major = majority(histogram, group)
            size += amount
            name = row[at]
            rows_left -= counts[at] == amount
            pieces = take(at, amount, label, cells, row, counts, target, live, place, out, pieces)
            if size >= k:
                break
            floor *= size + 1
            best = endless
            best_row = endless
            if counts[at] > 0 and row[at] == name:
                # Of equals, a copy of the last member comes first.
                extra = penalty if classes > 0 and group != major else np.int64(0)
                best = floor + extra
                best_row = np.int64(-1)
            if classes > 0 or price.size > 0:
                floor = endless
        left -= size
        label += 1
    for i in range(planted):
        if counts[i] > 0:
            out[0, pieces] = row[i]
            out[1, pieces] = -1
            out[2, pieces] = counts[i]
            pieces += 1
    return pieces


@njit(**LEAN)
def insertion_sort(values, size):
    """Sort the first values in place; these lists are short, and NumPy's sort compiles slowly."""
    for i in range(1, size):
        value = values[i]
        at = i
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


@njit(**LEAN)
def majority(histogram, group):
    """Count one more record of a class; return the commonest class, the first of equals."""
    histogram[group] += 1
    major = np.int64(0)
    for other in range(1, histogram.size):
        if histogram[other] > histogram[major]:
            major = np.int64(other)
    return major
