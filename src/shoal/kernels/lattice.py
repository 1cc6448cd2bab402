"""What becomes of the records at a node of the lattice: classes, and who fails in them.

Columns are packed block by block into small integers, so a class is a handful
of block codes, and going up from one node to another is one look-up a block and
one table (or hash) access a class, however many columns there are. Blocks of
about 4,000 codes were measured best: fewer look-ups than a code a column, and
tables that stay in the first-level cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.judge import judge

BLOCK = 4096  # codes of a block, unless a single column has more
ROOM = 2**62  # packed keys stay below this


class Ladders(NamedTuple):
    """The levels of all columns in flat arrays.

    At level l, column j has cards[j, l] codes. step[step_start[j, a, b] + c] is what code
    c of level a becomes at level b >= a; cost[cost_start[j, l] + c] is what one record
    pays for code c at level l. Block b holds the columns block[b] … block[b + 1] - 1.
    """

    cards: NDArray[np.int64]
    step_start: NDArray[np.int64]
    step: NDArray[np.int32]
    cost_start: NDArray[np.int64]
    cost: NDArray[np.int64]
    block: NDArray[np.int64]


class Classes(NamedTuple):
    """The classes of a node: block codes, records, and sensitive values where asked for.

    Class c holds amount[e] records with value[e], e from first[c] to first[c + 1] - 1; a
    value is its place in the flat histogram of all sensitive columns.
    """

    codes: NDArray[np.int32]  # int32[blocks, classes]
    counts: NDArray[np.int64]
    first: NDArray[np.int64]
    value: NDArray[np.int32]
    amount: NDArray[np.int64]


# Places in the `tally` of `evaluate`.
CLASSES, SUPPRESSED, LEAST, PUBLISHED, SQUARES, PUBLISHED_SQUARES = range(6)


@njit(cache=True, nogil=True)
def pack(codes, counts, sensitive, start, used, ladders):
    """Return the finest classes, the class of each row, and records per code of each column.

    Rows with the same quasi-identifiers are neighbours; they differ in sensitive values.
    used: bool per sensitive column, whether the promise looks at it.
    """
    rows, columns = codes.shape
    blocks = ladders.block.size - 1
    home = np.empty(rows, dtype=np.int32)
    packed = np.empty((blocks, rows), dtype=np.int32)
    sizes = np.zeros(rows, dtype=np.int64)
    tallied = np.zeros((columns, ladders.cards[:, 0].max()), dtype=np.int64)
    watched = 0
    for s in range(used.size):
        if used[s]:
            watched += 1
    first = np.zeros(rows + 1 if watched else 1, dtype=np.int64)
    value = np.empty(rows * watched, dtype=np.int32)
    amount = np.empty(rows * watched, dtype=np.int64)
    classes = 0
    entries = 0
    for i in range(rows):
        fresh = i == 0
        for j in range(columns):
            tallied[j, codes[i, j]] += counts[i]
            if i > 0 and codes[i, j] != codes[i - 1, j]:
                fresh = True
        if fresh:
            for b in range(blocks):
                code = 0
                for j in range(ladders.block[b], ladders.block[b + 1]):
                    code = code * ladders.cards[j, 0] + codes[i, j]
                packed[b, classes] = code
            classes += 1
        home[i] = classes - 1
        sizes[classes - 1] += counts[i]
        if watched:
            for s in range(used.size):
                if used[s]:
                    value[entries] = start[s] + sensitive[i, s]
                    amount[entries] = counts[i]
                    entries += 1
            first[classes] = entries
    if watched:
        first = first[: classes + 1]
    return Classes(packed[:, :classes].copy(), sizes[:classes], first, value, amount), home, tallied


@njit(cache=True, nogil=True)
def nearest(levels, sizes, cached, node):
    """Return the smallest cached node that is finer than `node`; node 0 always is."""
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


@njit(cache=True, nogil=True)
def block_steps(ladders, before, after):
    """Return what each block code of level `before` becomes at `after`, and the new sizes."""
    blocks = ladders.block.size - 1
    start = np.zeros(blocks + 1, dtype=np.int64)
    width = np.ones(blocks, dtype=np.int64)
    for b in range(blocks):
        size = 1
        for j in range(ladders.block[b], ladders.block[b + 1]):
            size *= ladders.cards[j, before[j]]
            width[b] *= ladders.cards[j, after[j]]
        start[b + 1] = start[b] + size
    table = np.zeros(start[blocks], dtype=np.int32)
    for b in range(blocks):
        s = start[b]
        size = 1
        for j in range(ladders.block[b], ladders.block[b + 1]):
            old = ladders.cards[j, before[j]]
            new = ladders.cards[j, after[j]]
            at = ladders.step_start[j, before[j], after[j]]
            for p in range(size - 1, -1, -1):  # from the end, so that it grows in place
                base = table[s + p] * new
                for c in range(old - 1, -1, -1):
                    table[s + p * old + c] = base + ladders.step[at + c]
            size *= old
    return table, start, width


@njit(cache=True, nogil=True)
def number_keys(keys, room, most, label, chosen):
    """Number equal keys alike, in order of appearance; return how many (-1: more than most)."""
    found = 0
    if room <= max(65536, 4 * keys.size):
        seat = np.full(room, -1, dtype=np.int32)
        for g in range(keys.size):
            key = keys[g]
            mine = seat[key]
            if mine < 0:
                if found >= most:
                    return -1
                mine = np.int32(found)
                seat[key] = mine
                chosen[found] = g
                found += 1
            label[g] = mine
        return found
    bits = 4
    while (1 << bits) < 2 * min(keys.size, most + 1):
        bits += 1
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    seat = np.full(1 << bits, -1, dtype=np.int32)
    for g in range(keys.size):
        key = keys[g]
        place = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        mine = seat[place]
        while mine >= 0 and keys[chosen[mine]] != key:
            place = (place + 1) & mask
            mine = seat[place]
        if mine < 0:
            if found >= most:
                return -1
            mine = np.int32(found)
            seat[place] = mine
            chosen[found] = g
            found += 1
        label[g] = mine
    return found


@njit(cache=True, nogil=True)
def assign(source, steps, most, label, chosen):
    """Write the new class of each class of `source`; return how many (-1: more than most)."""
    table, start, width = steps
    rows = source.counts.size
    keys = np.zeros(rows, dtype=np.int64)
    room = 1
    found = 1
    for b in range(width.size):
        if room > ROOM // width[b]:  # make the keys dense again before they overflow
            found = number_keys(keys, room, most, label, chosen)
            if found < 0:
                return -1
            for g in range(rows):
                keys[g] = label[g]
            room = found
        room *= width[b]
        times = width[b]
        step = table[start[b] : start[b + 1]]
        codes = source.codes[b]
        for g in range(rows):
            keys[g] = keys[g] * times + step[codes[g]]
    return number_keys(keys, room, most, label, chosen)


@njit(cache=True, nogil=True)
def evaluate(ladders, source, before, after, floor, rest, budget, most, with_logs):
    """Group the classes of `source` (levels `before`) at the levels `after` and judge them.

    floor: the part of the promise that can only get better on the way up, rest: the
    other part. Stops counting when `floor` alone costs more than `budget` records.

    Returns tally (see the places above), logs (sum of n log2 n over all and over published
    classes), paid (cost of suppressed records, by column; row 1: of those that `floor`
    suppresses), lost (the suppressed records by column and code), the label of each
    source class (-1 - class where suppressed) and the classes themselves.
    """
    columns = before.size
    blocks = ladders.block.size - 1
    rows = source.counts.size
    tally = np.zeros(6, dtype=np.int64)
    logs = np.zeros(2)
    paid = np.zeros((2, columns), dtype=np.int64)
    places = np.zeros(columns + 1, dtype=np.int64)
    for j in range(columns):
        places[j + 1] = places[j] + ladders.cards[j, after[j]]
    lost = np.zeros((2, places[columns]), dtype=np.int64)
    label = np.empty(rows, dtype=np.int32)
    chosen = np.empty(rows, dtype=np.int32)
    steps = block_steps(ladders, before, after)
    found = assign(source, steps, most, label, chosen)
    tally[CLASSES] = found
    if found < 0:
        tally[LEAST] = budget + 1
        tally[SUPPRESSED] = budget + 1
        return tally, logs, paid, lost, label, source
    table, start, width = steps
    codes = np.empty((blocks, found), dtype=np.int32)
    for b in range(blocks):
        for c in range(found):
            codes[b, c] = table[start[b] + source.codes[b, chosen[c]]]
    counts = np.zeros(found, dtype=np.int64)
    for g in range(rows):
        counts[label[g]] += source.counts[g]
    fails = np.zeros(found, dtype=np.int8)
    if floor.kind.size + rest.kind.size > 0:
        first, value, amount = judge_spread(source, label, counts, floor, rest, fails, budget)
    else:
        first, value, amount = source.first, source.value, source.amount
        for c in range(found):
            if counts[c] < floor.k:
                fails[c] = 2
    sum_up(counts, fails, budget, with_logs, tally, logs)
    if tally[LEAST] <= budget:
        settle_costs(ladders, after, codes, counts, fails, width, places, paid, lost)
    for g in range(rows):
        if fails[label[g]]:
            label[g] = -1 - label[g]
    return tally, logs, paid, lost, label, Classes(codes, counts, first, value, amount)


@njit(cache=True, nogil=True)
def sum_up(counts, fails, budget, with_logs, tally, logs):
    """Fill the tally: records, classes and squares of all and of published classes."""
    for c in range(counts.size):
        n = counts[c]
        if fails[c]:
            tally[SUPPRESSED] += n
            if fails[c] == 2:
                tally[LEAST] += n
        else:
            tally[PUBLISHED] += 1
            tally[PUBLISHED_SQUARES] += n * n
        tally[SQUARES] += n * n
    if with_logs and tally[LEAST] <= budget:
        for c in range(counts.size):
            part = counts[c] * np.log2(counts[c])
            logs[0] += part
            if not fails[c]:
                logs[1] += part


@njit(cache=True, nogil=True)
def judge_spread(source, label, counts, floor, rest, fails, budget):
    """Merge the sensitive values class by class and judge each class as it is complete.

    fails: 0 the class holds, 1 it fails the rest of the promise, 2 it fails the floor.
    """
    rows = label.size
    found = counts.size
    begin = np.zeros(found + 2, dtype=np.int64)
    for g in range(rows):
        begin[label[g] + 2] += 1
    for c in range(2, found + 2):
        begin[c] += begin[c - 1]
    order = np.empty(rows, dtype=np.int32)
    for g in range(rows):
        order[begin[label[g] + 1]] = g
        begin[label[g] + 1] += 1
    first = np.zeros(found + 1, dtype=np.int64)
    value = np.empty(source.value.size, dtype=np.int32)
    amount = np.empty(source.value.size, dtype=np.int64)
    wide = floor.reference.size
    histogram = np.zeros(wide, dtype=np.int64)
    scratch = np.empty(2 * max(floor.tree_parent.size, wide) + 2)
    entries = 0
    least = 0
    for c in range(found):
        base = entries
        for i in range(begin[c], begin[c + 1]):
            g = order[i]
            for e in range(source.first[g], source.first[g + 1]):
                v = source.value[e]
                if histogram[v] == 0:
                    value[entries] = v
                    entries += 1
                histogram[v] += source.amount[e]
        if not judge(floor, counts[c], histogram, scratch):
            fails[c] = 2
            least += counts[c]
        elif least <= budget and not judge(rest, counts[c], histogram, scratch):
            fails[c] = 1
        for e in range(base, entries):
            amount[e] = histogram[value[e]]
            histogram[value[e]] = 0
        first[c + 1] = entries
    return first, value[:entries].copy(), amount[:entries].copy()


@njit(cache=True, nogil=True)
def settle_costs(ladders, after, codes, counts, fails, width, places, paid, lost):
    """Add up what suppressed records would have paid, and how they spread over the codes."""
    for b in range(width.size):
        failed = np.zeros((2, width[b]), dtype=np.int64)
        for c in range(counts.size):
            if fails[c]:
                failed[0, codes[b, c]] += counts[c]
                if fails[c] == 2:
                    failed[1, codes[b, c]] += counts[c]
        for code in range(width[b]):
            if failed[0, code] > 0:
                left = code
                for j in range(ladders.block[b + 1] - 1, ladders.block[b] - 1, -1):
                    card = ladders.cards[j, after[j]]
                    lost[0, places[j] + left % card] += failed[0, code]
                    lost[1, places[j] + left % card] += failed[1, code]
                    left //= card
    for j in range(after.size):
        at = ladders.cost_start[j, after[j]]
        for c in range(places[j + 1] - places[j]):
            paid[0, j] += lost[0, places[j] + c] * ladders.cost[at + c]
            paid[1, j] += lost[1, places[j] + c] * ladders.cost[at + c]


@njit(cache=True, nogil=True)
def boxes(codes, home, label, classes):
    """Return the class of each row and the lowest and highest code of each class and column.

    label: the class of each finest class, negative where it is suppressed.
    """
    rows, columns = codes.shape
    low = np.full((classes, columns), np.int32(2**31 - 1), dtype=np.int32)
    high = np.full((classes, columns), np.int32(-1), dtype=np.int32)
    found = np.empty(rows, dtype=np.int64)
    for i in range(rows):
        mine = label[home[i]]
        found[i] = mine
        if mine >= 0:
            for j in range(columns):
                low[mine, j] = min(low[mine, j], codes[i, j])
                high[mine, j] = max(high[mine, j], codes[i, j])
    return found, low, high
