"""Mondrian's loop: cut the widest column at its median while both sides keep the promise.

Rows lie in a pool that is used like a stack: the part on top is taken, and its
two halves are written back in its place. So rows of one part are always
neighbours in memory, there is no recursion, and a row that a relaxed cut splits
in two needs just one place more on top.

A row of the pool is two pieces of memory: its codes (the quasi-identifiers, then the
sensitive columns) and its facts (how many records, and which row of the table).
Few arrays, and all of them made outside: that halves the time to compile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.axes import Axes, PromiseArrays
from shoal.kernels.helpers import inner, outer
from shoal.kernels.judge import judge, packed

RECORDS, ROW = 0, 1  # the facts of a row


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
    promise: PromiseArrays,
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
    most = records // max(int(promise.k), 1) + 1
    pool = rows + (most if relaxed else 0)
    cells = np.empty((pool, columns + sensitive.shape[1]), dtype=np.int32)
    cells[:rows, :columns] = codes
    cells[:rows, columns:] = sensitive + promise.start[:-1]  # places in a histogram
    facts = np.empty((pool, 2), dtype=np.int64)
    facts[:rows, RECORDS] = counts
    facts[:rows, ROW] = np.arange(rows)
    boxes = np.empty((min(pool, most), 2, columns), dtype=np.int32)
    pieces = np.empty((pool, 3), dtype=np.int64)
    classes, found = cut_at_medians(
        rows, cells, facts, np.empty_like(cells), np.empty_like(facts), axes, int(promise.k),
        *packed(promise), relaxed, boxes, pieces,
        np.empty((2, max(pool, axes.position.size) + 1), dtype=np.int64),
        np.empty((2, promise.reference.size), dtype=np.int64), np.empty(columns),
    )  # fmt: skip
    return Parts(
        low=boxes[:classes, 0].copy(),
        high=boxes[:classes, 1].copy(),
        row=pieces[:found, 0],
        label=pieces[:found, 1],
        share=pieces[:found, 2],
    )


@inner
def width(axes, j, low, high):
    """Return the normalized width of codes low … high of column j, times its weight."""
    if low == high:
        return 0.0
    weight = axes.weight[j]
    base = axes.start[j]
    position = axes.position
    if axes.is_tree[j]:
        first, parent = axes.first, axes.parent
        begin = axes.tree_start[j]
        goal = np.int64(position[base + low])
        node = np.int64(position[base + high])
        while first[begin + node] > goal:
            node = np.int64(parent[begin + node])
        return axes.height[begin + node] * weight
    if low == 0 and axes.has_missing[j]:
        return weight
    return (position[base + high] - position[base + low]) / axes.span[j] * weight


@inner
def heap_sort(keys, n):
    """Sort the first n keys. int64[n], in place.

    NumPy's own sort takes Numba two seconds to compile; this one a tenth of that.
    """
    for start in range(n // 2 - 1, -1, -1):
        sift(keys, start, n)
    for end in range(n - 1, 0, -1):
        keys[0], keys[end] = keys[end], keys[0]
        sift(keys, end - end, end)


@inner
def sift(keys, root, n):
    """Let a key sink in a heap until no child is larger."""
    key = keys[root]
    child = 2 * root + 1
    while child < n:
        if child + 1 < n and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        keys[root] = keys[child]
        root = child
        child = 2 * root + 1
    keys[root] = key


@inner
def middle(cells, facts, j, begin, end, low, high, keys):
    """Find the code at which column j's weight reaches half.

    Returns it with the weight up to and including it, and the weight before it. Counts by
    code where the codes are dense; sorts where they are far apart.
    """
    total = np.int64(0)
    before = np.int64(0)
    n = end - begin
    size = high - low + 1
    if size <= 8 * n:
        for i in range(size):
            keys[i] = 0
        for i in range(begin, end):
            keys[cells[i, j] - low] += facts[i, RECORDS]
            total += facts[i, RECORDS]
        i = np.int64(0)
        while 2 * (before + keys[i]) < total:
            before += keys[i]
            i += 1
        return low + i, before + keys[i], before
    for i in range(n):
        keys[i] = (np.int64(cells[begin + i, j]) << 32) | i
        total += facts[begin + i, RECORDS]
    heap_sort(keys, n)
    i = np.int64(0)
    while True:
        code = keys[i] >> 32
        here = np.int64(0)
        while i < n and (keys[i] >> 32) == code:
            here += facts[begin + (keys[i] & 0xFFFFFFFF), RECORDS]
            i += 1
        if 2 * (before + here) >= total:
            return code, before + here, before
        before += here


@inner
def goes_left(code, cut, share, records):
    """Return how many records of a row go left: all below the cut, at the cut a share."""
    if code < cut:
        return records
    if code == cut:
        return min(share, records)
    return share - share


@inner
def sides_hold(cells, facts, rules, rare, columns, j, cut, share, begin, end, left, hist):
    """Say whether the sensitive values on both sides of a cut keep the promise.

    hist: int64[2, values]; its first row holds the histogram of the whole part, its second
    is filled with that of one side.
    """
    weight = np.int64(0)
    for v in range(hist.shape[1]):
        hist[1, v] = 0
    for i in range(begin, end):
        moved = goes_left(cells[i, j], cut, share, facts[i, RECORDS])
        weight += facts[i, RECORDS]
        if cells[i, j] == cut:
            share -= moved
        if moved > 0:
            for s in range(columns, cells.shape[1]):
                hist[1, cells[i, s]] += moved
    # The rest is the whole less this side: one histogram serves both.
    for side in range(2):
        if not judge(rules, rare, left if side == 0 else weight - left, hist, 1):
            return False
        for v in range(hist.shape[1]):
            hist[1, v] = hist[0, v] - hist[1, v]
    return True


@inner
def whole_spread(cells, facts, columns, begin, end, hist):
    """Fill the first row of `hist` with the sensitive values of a part."""
    for v in range(hist.shape[1]):
        hist[0, v] = 0
    for i in range(begin, end):
        for s in range(columns, cells.shape[1]):
            hist[0, cells[i, s]] += facts[i, RECORDS]


@inner
def copy_row(cells, facts, source, to_cells, to_facts, goal, records):
    """Copy a row with some of its records. Written out: row assignments compile for seconds."""
    for j in range(cells.shape[1]):
        to_cells[goal, j] = cells[source, j]
    to_facts[goal, ROW] = facts[source, ROW]
    to_facts[goal, RECORDS] = records


@inner
def divide(cells, facts, other_cells, other_facts, j, cut, share, begin, end):
    """Write the left side, then the right side of a cut in place of the part.

    Returns the end of the left side and the new end of the part (one more than
    before when a row had to be split).
    """
    kept = begin
    moved = np.int64(0)
    for i in range(begin, end):
        records = facts[i, RECORDS]
        go = goes_left(cells[i, j], cut, share, records)
        if cells[i, j] == cut:
            share -= go
        if go < records:
            copy_row(cells, facts, i, other_cells, other_facts, moved, records - go)
            moved += 1
        if go > 0:
            copy_row(cells, facts, i, cells, facts, kept, go)
            kept += 1
    for i in range(moved):
        copy_row(other_cells, other_facts, i, cells, facts, kept + i, other_facts[i, RECORDS])
    return kept, kept + moved


@inner
def measure(cells, facts, axes, begin, end, box, widths):
    """Fill a part's box and the widths of its columns; return its number of records."""
    weight = np.int64(0)
    for j in range(widths.size):
        box[0, j] = cells[begin, j]
        box[1, j] = cells[begin, j]
    for i in range(begin, end):
        weight += facts[i, RECORDS]
        for j in range(widths.size):
            code = cells[i, j]
            if code < box[0, j]:
                box[0, j] = code
            elif code > box[1, j]:
                box[1, j] = code
    for j in range(widths.size):
        widths[j] = width(axes, j, box[0, j], box[1, j])
    return weight


@inner
def find_cut(cells, facts, k, rules, rare, relaxed, begin, end, weight, box, widths, keys, hist):
    """Return (column, cut, share) of the first allowed cut, the widest column first; -1: none.

    Relaxed: records at the median are shared out so that both sides are equal.
    Strict: the more even of the two cuts around the median, then the other one.
    """
    # A column that allows no cut is marked by a width below 0, and the next widest is tried.
    columns = widths.size
    for _ in range(columns):
        best = np.int64(0)
        for j in range(1, columns):  # the widest left; the first of equals
            if widths[j] > widths[best]:
                best = j
        if widths[best] <= 0.0:
            break
        widths[best] = -1.0
        low = np.int64(box[0, best])
        high = np.int64(box[1, best])
        code, upto, before = middle(cells, facts, best, begin, end, low, high, keys)
        after_first = abs(2 * upto - weight) <= abs(2 * before - weight)
        for attempt in range(1 if relaxed else 2):
            cut = code
            left = weight // 2
            share = left - before
            if not relaxed:
                share = np.int64(0)
                after = after_first == (attempt == 0)
                left = upto if after else before
                cut = code + 1 if after else code
            if left < k or weight - left < k:
                continue
            is_allowed = True
            if rules is not None:
                is_allowed = sides_hold(
                    cells, facts, rules, rare, columns, best, cut, share, begin, end, left, hist
                )
            if is_allowed:
                return best, cut, share
    return np.int64(-1), np.int64(0), np.int64(0)


@outer
def cut_at_medians(
    rows, cells, facts, other_cells, other_facts, axes, k, rules, rare, relaxed,
    boxes, pieces, stack, hist, widths,
):  # fmt: skip
    """Cut until nothing more may be cut; return the number of classes and of pieces.

    rules, rare: the promise, where it is more than k; otherwise None, and then nothing that
    judges a spread is compiled: half the time of a first run.
    stack: int64[2, …]: where each waiting part begins; keys for finding a median.
    """
    columns = boxes.shape[2]
    begins, keys = stack[0], stack[1]
    begins[0] = 0
    depth = np.int64(1)
    end = np.int64(rows)
    classes = np.int64(0)
    found = np.int64(0)
    while depth > 0:
        begin = begins[depth - 1]
        box = boxes[classes]
        weight = measure(cells, facts, axes, begin, end, box, widths)
        j = np.int64(-1)
        if weight >= 2 * k:
            if rules is not None:
                whole_spread(cells, facts, columns, begin, end, hist)
            j, cut, share = find_cut(
                cells, facts, k, rules, rare, relaxed, begin, end, weight, box, widths, keys, hist
            )  # fmt: skip
            if j >= 0:
                begins[depth], end = divide(
                    cells, facts, other_cells, other_facts, j, cut, share, begin, end
                )
                depth += 1
        if j < 0:
            for i in range(begin, end):
                pieces[found, 0] = facts[i, ROW]
                pieces[found, 1] = classes
                pieces[found, 2] = facts[i, RECORDS]
                found += 1
            classes += 1
            end = begin
            depth -= 1
    return classes, found
