"""What becomes of the records at a node of the lattice: classes, and who fails in them.

Columns are packed block by block into small integers, so a class is a handful
of block codes, and going up from one node to another is one look-up a block and
one table (or hash) access a class, however many columns there are.

Codes are unsigned: compiled code then need not ask whether an index counts from
the end, which took a fifth of the time. Arrays are made outside of compiled code: each
kind of allocation there takes the compiler as long as a loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.helpers import inner, outer

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
def nearest(
    levels: NDArray[np.int64], sizes: NDArray[np.int64], cached: int, node: NDArray[np.int64]
) -> int:
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
    # Open addressing with Fibonacci hashing: the upper bits of a product hang on every bit.
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
    table: NDArray[np.unsignedinteger],
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
    # Such a node is not asked for its loss: it cannot be chosen, nor any below it.
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
