"""What becomes of the records at a node of the lattice: classes, and who fails in them.

Columns are packed block by block into small integers, so a class is a handful
of block codes, and going up from one node to another is one look-up a block and
one table (or hash) access a class, however many columns there are.

Codes are unsigned: compiled code then need not ask whether an index counts from
the end, which took a fifth of the time. The three kernels are kept apart so that
a promise of k-anonymity alone never compiles the judge of sensitive values. Arrays are
made outside of compiled code: each kind of allocation there takes the compiler as long
as a loop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.axes import ALPHA, DISTINCT, ENTROPY, NT_CLOSENESS, RECURSIVE, PromiseArrays
from shoal.kernels.helpers import inner, outer
from shoal.kernels.judge import (
    BAR,
    FIRST,
    HIGH,
    KIND,
    LIMIT,
    LOW,
    MODELS,
    ROW,
    SECOND,
    figure,
    packed,
)
from shoal.kernels.judge import LEAST as LEAST_RECORDS

BLOCK = 4096  # codes of a block, unless a single column has more
ROOM = 2**62  # packed keys stay below this
SEATS = 1024  # seats for keys beside two for each of them

# Places in the tally of `sum_up`.
SUPPRESSED, LEAST, PUBLISHED, SQUARES, PUBLISHED_SQUARES = range(5)


class Classes(NamedTuple):
    """The classes of a node: block codes, records, and sensitive values where asked for.

    Class c holds amount[e] records with value[e], e from first[c] to first[c + 1] - 1; a
    value is its place in the flat histogram of all sensitive columns.
    """

    codes: NDArray[np.uint32]  # uint32[blocks, classes]
    counts: NDArray[np.int64]
    first: NDArray[np.int64]
    value: NDArray[np.uint32]
    amount: NDArray[np.int64]


@outer
def nearest(levels, sizes, cached, node):
    """Return the smallest cached node that is finer than `node`; the first always is."""
    found = 0
    for i in range(1, cached):
        if sizes[i] < sizes[found]:
            finer = True
            for j in range(node.size):
                if levels[i, j] > node[j]:
                    finer = False
                    break
            if finer:
                found = i
    return found


@inner
def number(keys, room, most, label, chosen, seats):
    """Number equal keys alike, in order of appearance; return how many (-1: above `most`).

    keys are below `room`. chosen: where each number appears first. seats: room for them.
    """
    found = 0
    if room <= 2 * keys.size + SEATS:  # a seat for every key; larger tables cost more to clear
        for i in range(room):
            seats[i] = 0  # 1 + number; 0: nobody there
        for g in range(keys.size):
            seat = seats[keys[g]]
            if seat == 0:
                if found >= most:
                    return -1
                chosen[found] = g
                found += 1
                seat = np.uint32(found)
                seats[keys[g]] = seat
            label[g] = seat - np.uint32(1)
        return found
    bits = 4
    while (1 << bits) < 2 * chosen.size:
        bits += 1
    for i in range(1 << bits):
        seats[i] = 0
    shift = np.uint64(64 - bits)
    mask = np.uint64((1 << bits) - 1)
    for g in range(keys.size):
        key = keys[g]
        place = (key * np.uint64(0x9E3779B97F4A7C15)) >> shift
        seat = seats[place]
        while seat > 0 and keys[chosen[seat - np.uint32(1)]] != key:
            place = (place + np.uint64(1)) & mask
            seat = seats[place]
        if seat == 0:
            if found >= most:
                return -1
            chosen[found] = g
            found += 1
            seat = np.uint32(found)
            seats[place] = seat
        label[g] = seat - np.uint32(1)
    return found


def regroup(
    codes: NDArray[np.uint32],
    counts: NDArray[np.int64],
    table: NDArray[Any],
    start: NDArray[np.int64],
    width: NDArray[np.int64],
    most: int,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64]]:
    """Group classes by what their block codes become.

    table[start[b] + code]: the new code of block b, one of width[b].

    Returns the new class of each old one, and the codes and records of the new
    classes; no class at all when there would be more than `most`.
    """
    blocks, rows = codes.shape
    label = np.empty(rows, dtype=np.uint32)
    chosen = np.empty(min(rows, most) + 1, dtype=np.uint32)
    hashed = 1 << max((2 * len(chosen) - 1).bit_length(), 4)
    seats = np.empty(max(2 * rows + SEATS, hashed), dtype=np.uint32)
    keys = np.zeros(rows, dtype=np.uint64)
    found = group(codes, table, start, width, most, keys, label, chosen, seats)
    made = np.empty((blocks, max(found, 0)), dtype=np.uint32)
    sizes = np.zeros(max(found, 0), dtype=np.int64)
    if found >= 0:
        fill(codes, counts, table, start, label, chosen, made, sizes)
    return label, made, sizes


@outer
def group(codes, table, start, width, most, keys, label, chosen, seats):
    """Find the new class of each old one; return how many there are, -1 for too many."""
    blocks, rows = codes.shape
    found = 0
    room = np.int64(1)
    b = 0
    while b < blocks:
        # As many blocks as a key holds; then the keys are numbered and made dense.
        while b < blocks and room <= ROOM // width[b]:
            room *= width[b]
            times = np.uint64(width[b])
            step = table[start[b] : start[b + 1]]
            mine = codes[b]
            for g in range(rows):
                keys[g] = keys[g] * times + np.uint64(step[mine[g]])
            b += 1
        found = number(keys, room, most, label, chosen, seats)
        if found < 0:
            break
        if b < blocks:
            for g in range(rows):
                keys[g] = np.uint64(label[g])
            room = np.int64(found)
    return found


@outer
def fill(codes, counts, table, start, label, chosen, made, sizes):
    """Write the codes and records of the new classes."""
    for b in range(codes.shape[0]):
        for c in range(sizes.size):
            made[b, c] = table[start[b] + codes[b, chosen[c]]]
    for g in range(label.size):
        sizes[label[g]] += counts[g]


def sum_up(
    codes: NDArray[np.uint32],
    sizes: NDArray[np.int64],
    due: NDArray[np.int64],
    start: NDArray[np.int64],
    cost: NDArray[np.int64],
    budget: int,
    with_logs: bool,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Add up what fails.

    due: per class, 0 if it holds; otherwise how many of its records fail at every finer
    node too. start: where the codes of each block begin in one long row. cost: int64[codes
    of all blocks, columns of the widest block], what a record pays.

    Returns the tally (see the places above), the sums of n·log2(n) over all and over
    published classes, by block code the failing records (row 0) and those due (row 1), and
    what these would have paid, int64[2, blocks, columns of the widest block]. All but the
    tally are zero when more records than `budget` are due.
    """
    tally = np.zeros(5, dtype=np.int64)
    logs = np.zeros(2)
    blocks = codes.shape[0]
    failed = np.zeros((2, cost.shape[0]), dtype=np.int64)
    paid = np.zeros((2, blocks, cost.shape[1]), dtype=np.int64)
    add_up(codes, sizes, due, start, cost, budget, with_logs, tally, logs, failed, paid)
    return tally, logs, failed, paid


@outer
def add_up(codes, sizes, due, start, cost, budget, with_logs, tally, logs, failed, paid):
    """Fill the arrays of `sum_up`."""
    for c in range(sizes.size):
        n = sizes[c]
        tally[SQUARES] += n * n
        if due[c] == 0:
            tally[PUBLISHED] += 1
            tally[PUBLISHED_SQUARES] += n * n
        else:
            tally[SUPPRESSED] += n
            tally[LEAST] += due[c]
    if tally[LEAST] > budget:
        return
    for b in range(codes.shape[0]):
        if tally[SUPPRESSED] > 0:
            for c in range(sizes.size):
                if due[c] > 0:
                    place = start[b] + codes[b, c]
                    failed[0, place] += sizes[c]
                    failed[1, place] += due[c]
            for place in range(start[b], start[b + 1]):
                if failed[0, place] > 0:
                    for p in range(cost.shape[1]):
                        paid[0, b, p] += failed[0, place] * cost[place, p]
                        paid[1, b, p] += failed[1, place] * cost[place, p]
    if with_logs:
        for c in range(sizes.size):
            part = sizes[c] * np.log2(sizes[c])
            logs[0] += part
            if due[c] == 0:
                logs[1] += part


def judge_spread(
    source: Classes,
    label: NDArray[np.uint32],
    sizes: NDArray[np.int64],
    promise: PromiseArrays,
    farthest: NDArray[np.float64],
    budget: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
    """Merge the sensitive values class by class and judge each class as it is complete.

    farthest: per model, the largest distance that any records can have from the table.

    Returns `due` as `sum_up` takes it, and first, value and amount of the new classes.
    Judging stops when more than `budget` records are due.
    """
    found = sizes.size
    due = np.zeros(found, dtype=np.int64)
    first = np.zeros(found + 1, dtype=np.int64)
    value = np.empty(source.value.size, dtype=np.uint32)
    amount = np.empty(source.value.size, dtype=np.int64)
    entries = merge(
        source.first, source.value, source.amount, label, sizes, *packed(promise), farthest, budget,
        np.zeros(found + 2, dtype=np.int64), np.empty(label.size, dtype=np.uint32),
        np.zeros((1, promise.reference.size), dtype=np.int64),
        due, first, value, amount,
    )  # fmt: skip
    return due, first, value[:entries].copy(), amount[:entries].copy()


@outer
def merge(
    old_first, old_value, old_amount, label, sizes, rules, rare, farthest, budget, begin, order,
    hist, due, first, value, amount,
):  # fmt: skip
    """Fill the arrays of `judge_spread`; return how many entries there are."""
    rows = label.size
    found = sizes.size
    for g in range(rows):
        begin[label[g] + 2] += 1
    for c in range(2, found + 2):
        begin[c] += begin[c - 1]
    for g in range(rows):
        order[begin[label[g] + 1]] = g
        begin[label[g] + 1] += 1
    least = rules[LEAST_RECORDS]
    entries = 0
    total = 0
    for c in range(found):
        base = entries
        for i in range(begin[c], begin[c + 1]):
            g = order[i]
            for e in range(old_first[g], old_first[g + 1]):
                v = old_value[e]
                if hist[0, v] == 0:
                    value[entries] = v
                    entries += 1
                hist[0, v] += old_amount[e]
        if sizes[c] < least:
            due[c] = sizes[c]
        elif total <= budget:
            due[c] = due_of(rules, rare, sizes[c], hist, farthest)
        total += due[c]
        for e in range(base, entries):
            amount[e] = hist[0, value[e]]
            hist[0, value[e]] = 0
        first[c + 1] = entries
    return entries


@inner
def due_of(rules, rare, records, hist, farthest):
    """Return 0 if a class holds, else how many of its records fail at every finer node too.

    At a finer node, the classes that hold and are parts of this one hold together too (all
    models are closed under union), so the question is how many records must go before the
    rest holds. Too few distinct values: all. Distances d are convex: with a share s
    gone, d(class) <= (1 - s) t + s·farthest. Entropy is concave and at least 0. For
    recursive (c,l) no value may keep more than c times the tail, which only shrinks.

    Whether it holds is decided as `judge` does.
    """
    most = 0.0
    for m in range(np.int64(rules[MODELS])):
        row = FIRST + ROW * m
        kind = rules[row + KIND]
        limit = rules[row + LIMIT]
        found = figure(rules, rare, row, records, hist, 0)
        if found <= rules[row + BAR]:
            continue
        gone = 1.0
        if kind == DISTINCT or (found == np.inf and kind == NT_CLOSENESS):
            return records
        if kind == ENTROPY:
            gone = records * (1 + found / np.log(limit))
        elif kind == RECURSIVE:
            gone = above_tail(rules, row, hist)
        elif kind == ALPHA:
            gone = records * (found - limit) / (1 - limit)
        elif farthest[m] > limit:
            gone = records * (found - limit) / (farthest[m] - limit)
        most = max(most, gone, 1.0)
    # Less a little: a bound that is rounded up by mistake would hide a solution.
    return min(records, np.int64(np.ceil(most - 1e-6)))


@inner
def above_tail(rules, row, hist):
    """Return the records above c times the tail r_l + … + r_m, summed over the values.

    The tail is at most what the largest value leaves, so for l > 2 the bound is weaker
    than it could be, but needs no sorting.
    """
    low = np.int64(rules[row + LOW])
    high = np.int64(rules[row + HIGH])
    total = 0.0
    top = 0.0
    for v in range(low, high):
        total += hist[0, v]
        top = max(top, float(hist[0, v]))
    tail = total - top if rules[row + LIMIT] >= 2 else total
    gone = 0.0
    for v in range(low, high):
        gone += max(hist[0, v] - rules[row + SECOND] * tail, 0.0)
    return gone


def raise_bounds(
    bounds: NDArray[np.float64],
    shape: NDArray[np.int64],
    node: NDArray[np.int64],
    scores: NDArray[np.float64],
    is_max: bool,
) -> None:
    """Raise the bound of every node at or below `node` to what its columns score together.

    bounds: float64[nodes], the last column's level running fastest. scores: float64[columns,
    levels]. is_max: a node scores its largest column, not the sum of its columns.
    """
    level = np.zeros((2, shape.size), dtype=np.int64)
    raise_below(bounds, shape, node, scores, is_max, level[0], level[1], np.zeros(shape.size + 1))


@outer
def raise_below(bounds, shape, node, scores, is_max, level, stride, so_far):
    """Do it, with room for the level and the stride of each column and for partial sums."""
    columns = shape.size
    stride[columns - 1] = 1
    for j in range(columns - 2, -1, -1):
        stride[j] = stride[j + 1] * shape[j + 1]
    place = 0
    j = 0
    while True:
        for i in range(j, columns):  # columns from the left, as a node's own score adds them
            mine = scores[i, level[i]]
            so_far[i + 1] = max(so_far[i], mine) if is_max else so_far[i] + mine
        if so_far[columns] > bounds[place]:
            bounds[place] = so_far[columns]
        j = columns - 1
        while j >= 0 and level[j] == node[j]:
            place -= level[j] * stride[j]
            level[j] = 0
            j -= 1
        if j < 0:
            return
        level[j] += 1
        place += stride[j]


def climb(
    bounds: NDArray[np.float64], shape: NDArray[np.int64], start: int, ceiling: float
) -> NDArray[np.int64]:
    """Return the way from node number `start` upwards, always to the lowest bound.

    It ends where all bounds above are at `ceiling` or higher.
    """
    path = np.empty(int(shape.sum()) - shape.size + 1, dtype=np.int64)
    path[0] = start
    return path[: walk_up(bounds, shape, ceiling, path)]


@outer
def walk_up(bounds, shape, ceiling, path):
    """Write the way behind its start; return how long it is."""
    steps = 1
    while True:
        best = -1
        stride = 1
        for j in range(shape.size - 1, -1, -1):
            above = path[steps - 1] + stride
            if (path[steps - 1] // stride) % shape[j] < shape[j] - 1 and bounds[above] < ceiling:
                if best < 0 or bounds[above] <= bounds[best]:
                    best = above
            stride *= shape[j]
        if best < 0:
            return steps
        path[steps] = best
        steps += 1
