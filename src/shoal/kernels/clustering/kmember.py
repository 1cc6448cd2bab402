"""Greedy k-member's loop, exact, without looking at every row at every step.

Rows are cut into parts in which they are alike (see `row_tree`), parts into smaller
ones, down to blocks of a few rows; each of these nodes knows its box. The least loss that a
cluster can have with any row of a box is known from the box alone, so most nodes are passed
over; what is left is the exact minimum, ties going to the first row of the table. A cluster's
box only grows, so a bound that was found for an earlier step of the same cluster still holds,
and is looked up before it is counted anew.

A column of numbers is stored as scaled positions, a tree as places in a table that holds,
for the current cluster, what each value would make it lose: both cost a few instructions.
Taken rows leave their block, and when a third of the rows are left these are cut anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.row_search import (
    BEST,
    ENDLESS,
    FLOOR,
    FOUND,
    HIGH,
    LABEL,
    LAST,
    LEFT,
    LOW,
    MAJOR,
    NEVER,
    NOW,
    PENALTY,
    PIECES,
    ROW,
    SEED,
    TIMES,
    TOTAL,
    WHOLE,
    K,
    search,
)
from shoal.kernels.clustering.row_tree import (
    ABOVE,
    BEGIN,
    LIVE,
    STAMP,
    WIDTHS,
    plant,
    stacked,
)
from shoal.kernels.clustering.similarity_order import alike_tree
from shoal.kernels.clustering.space import BRANCHES, FULL, SIZE, Space, places_of, tree_steps
from shoal.kernels.helpers import lean, lean_outer

ONE_TREE = 32768


class Pieces(NamedTuple):
    """Where rows went: `records` of `row` are in cluster `label`; -1: in none yet."""

    row: NDArray[np.int64]
    label: NDArray[np.int64]
    records: NDArray[np.int64]


def grow(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
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
        space: the losses.
        k: records of a cluster.
        first: the row that the first seed is to be far from.
        target: class of each row, for the classification penalty.
        penalty: what a record costs extra that is of another class than the cluster's majority,
            or with which the cluster would lose everything, so that all of it is suppressed.
    """
    rows, columns = codes.shape
    if codes.dtype != np.int32 or counts.dtype != np.int64 or columns != len(space.column):
        raise KernelInputError(problem="codes must be int32, counts int64, and fit the columns")
    if k < 1 or not 0 <= first < rows:
        raise KernelInputError(problem="k or the first row is outside its range")
    turn = np.argsort(space.column[:, BRANCHES] == 0, kind="stable")  # trees first
    trees = int(space.column[:, BRANCHES].sum())
    base = np.concatenate(([0], np.cumsum(space.column[turn[:trees], SIZE]))).astype(np.int64)
    cells = np.empty((rows, columns + 2), dtype=np.int32)
    for at, j in enumerate(turn):
        if at < trees:
            cells[:, at] = codes[:, j] + base[at]
        else:
            cells[:, at] = places_of(space, int(j))[codes[:, j]]
    cells[:, columns] = np.arange(rows)
    cells[:, columns + 1] = 0 if target is None else target
    steps = [tree_steps(space, int(j)) for j in turn[:trees]]
    histogram = None if target is None else np.zeros(int(target.max()) + 1, dtype=np.int64)
    mark = np.zeros((5, columns), dtype=np.int64)
    mark[SEED] = cells[first, :columns]
    mark[WHOLE] = space.column[turn, FULL]
    mark[TOTAL] = -mark[WHOLE].sum()
    records = int(counts.sum())
    state = np.zeros(9, dtype=np.int64)
    state[LEFT] = records
    out = np.empty((3, rows + records // (k if target is None else 1) + 1), dtype=np.int64)
    table = np.zeros(base[-1] + 1, dtype=np.int32)
    flat = np.concatenate([np.zeros((2, 0), dtype=np.int32), *steps], axis=1)
    numbers = np.array([k, penalty, trees, 1, 0], dtype=np.int64)
    counts = counts.copy()
    live = np.arange(rows)
    while state[LEFT] >= k:
        some = codes[live]
        # Parts that suit the search for the nearest row do not suit that for the furthest
        # one. On 18,000 rows one tree for both is as good, on 80,000 it takes three times as
        # many looks for the one or thirty times as many for the other.
        is_large = len(live) > ONE_TREE
        tree = alike_tree(some, space, widths=WIDTHS, by_pairs=is_large)
        plants = [plant(cells[live], tree, rows)]
        if is_large:
            plants.append(plant(cells[live], alike_tree(some, space, widths=WIDTHS), rows))
        stack = np.zeros(max(part[-1].shape[0] for part in plants), dtype=np.int64)
        cut, place, block, nodes, boxes = (stacked(parts) for parts in zip(*plants, strict=True))
        greedy_kmember(
            cut, place, block, nodes, boxes, counts, table, flat, base,
            mark, numbers, histogram, stack, np.zeros(min(k, rows) + 1, dtype=np.int64), state,
            out,
        )  # fmt: skip
        live = live[counts[live] > 0]
    pieces = int(state[PIECES])
    return Pieces(
        np.concatenate((out[0, :pieces], live)),
        np.concatenate((out[1, :pieces], np.full(len(live), -1))),
        np.concatenate((out[2, :pieces], counts[live])),
    )


@lean
def aim(table, steps, begin, end, at, inner):
    """Write the loss of the cluster with each value of a tree; inner: its own loss, at `at`."""
    # Along the order of leaves the height of the common ancestor only grows, on both sides.
    loss = inner
    table[at] = loss
    for code in range(at + 1, end):
        if steps[1, code - 1] > loss:
            loss = steps[1, code - 1]
        table[code] = loss
    loss = inner
    for code in range(at - 1, begin - 1, -1):
        if steps[1, code] > loss:
            loss = steps[1, code]
        table[code] = loss


@lean
def drop(row, cells, place, block, nodes):
    """Let a row that is used up change places with the last one of its block, which ends."""
    width = cells.shape[1]
    at = place[row]
    node = block[at]
    end = nodes[BEGIN, node] + nodes[LIVE, node] - 1
    for j in range(width):
        cell = cells[at, j]
        cells[at, j] = cells[end, j]
        cells[end, j] = cell
    place[row] = -1
    if at != end:
        place[cells[at, width - 2]] = at
    while node >= 0:
        nodes[LIVE, node] -= 1
        if nodes[LIVE, node] > 0:
            break
        nodes[STAMP, node] = NEVER  # nothing is left in it
        node = nodes[ABOVE, node]


@lean
def take(row, amount, counts, state, out):
    """Move records of a row into the current cluster."""
    pieces = state[PIECES]
    counts[row] -= amount
    if pieces > 0 and out[0, pieces - 1] == row and out[1, pieces - 1] == state[LABEL]:
        out[2, pieces - 1] += amount
        return
    out[0, pieces] = row
    out[1, pieces] = state[LABEL]
    out[2, pieces] = amount
    state[PIECES] += 1


@lean
def step_in(cells, at, table, steps, base, mark, is_first):
    """Make a row part of the cluster's box; return the loss of the box."""
    columns = mark.shape[1]
    trees = base.size - 1
    total = np.int64(0)
    for j in range(trees):
        code = np.int64(cells[at, j])
        if is_first:
            mark[LOW, j] = code
            mark[SEED, j] = code
            aim(table, steps, base[j], base[j + 1], code, steps[0, code])
        elif table[code] > table[mark[LOW, j]]:
            aim(table, steps, base[j], base[j + 1], mark[LOW, j], table[code])
        total += table[code]
    for j in range(trees, columns):
        place = np.int64(cells[at, j])
        if is_first:
            mark[LOW, j] = place
            mark[HIGH, j] = place
            mark[SEED, j] = place
        if place < mark[LOW, j]:
            mark[LOW, j] = place
        if place > mark[HIGH, j]:
            mark[HIGH, j] = place
        gap = mark[HIGH, j] - mark[LOW, j]
        total += gap if gap < mark[WHOLE, j] else mark[WHOLE, j]
    return total


@lean
def renew(mark, table, steps, base):
    """Forget the last cluster; the next seed is to be far from the last one."""
    for j in range(mark.shape[1]):
        mark[LOW, j] = mark[SEED, j]
        mark[HIGH, j] = mark[SEED, j]
        if j < base.size - 1:
            aim(table, steps, base[j], base[j + 1], mark[SEED, j], steps[0, mark[SEED, j]])


@lean
def count_class(cells, at, numbers, histogram, size):
    """Count the class of the new member; return what its copies would cost extra."""
    group = np.int64(cells[at, cells.shape[1] - 1])
    histogram[group] += 1
    major = np.int64(0)
    for other in range(1, histogram.size):
        if histogram[other] > histogram[major]:
            major = np.int64(other)
    numbers[TIMES] = size + 1
    numbers[MAJOR] = major
    return np.int64(0) if group == major else numbers[PENALTY]


@lean
def begin_cluster(mark, table, steps, base, numbers, histogram, state):
    """Forget the last cluster, its classes, and the best row; what was bounded counts no more."""
    renew(mark, table, steps, base)
    if histogram is not None:
        numbers[TIMES] = 1
        for group in range(histogram.size):
            histogram[group] = 0
    state[FLOOR] = ENDLESS
    state[BEST] = ENDLESS
    state[ROW] = ENDLESS
    state[NOW] += 1


@lean
def prepare_next(counts, mark, numbers, histogram, state, row, loss, size, extra):
    """Set what the next search begins with: the box's loss, and a copy of the last member."""
    state[FLOOR] = loss
    state[BEST] = ENDLESS
    state[ROW] = ENDLESS
    state[LAST] = row
    if histogram is not None:
        # With a penalty a row inside the box may cost something: none is taken unseen.
        state[FLOOR] = ENDLESS
        if loss + mark[TOTAL, 0] == 0:
            extra = numbers[PENALTY]
        if counts[row] > 0:
            state[BEST] = loss * (size + 1) + extra  # of equals, a copy comes first
            state[ROW] = -1


@lean_outer
def greedy_kmember(
    cells, place, block, nodes, boxes, counts, table, steps, base, mark, numbers, histogram,
    stack, inside, state, out,
):  # fmt: skip
    """Build clusters until fewer than k records or a third of the rows are left ([byun2007]).

    A seed far from the last one, then k - 1 times the record that makes the cluster lose least.

    cells, place, block, nodes, boxes: one tree, or one for near and one for far searches.
    numbers: k, the penalty, how many columns are trees; then the factor of the loss and the
    class of the majority, which change from step to step.
    histogram: for the classes of a cluster's members; None: there are no classes.
    """
    k = numbers[K]
    rows = block.shape[1]
    few = rows // 3 if rows > WIDTHS[1] else np.int64(0)
    extra = np.int64(0)
    while state[LEFT] >= k and rows > few:
        begin_cluster(mark, table, steps, base, numbers, histogram, state)
        size = np.int64(0)
        while size < k:
            state[FOUND] = 0
            # The seed is sought in the tree for far searches, which is the last one.
            tree = block.shape[0] - 1 if size == 0 else 0
            blocks = block[tree, block.shape[1] - 1] + 1
            search(
                cells[tree], boxes[tree], nodes[tree], blocks, table, mark, numbers, histogram,
                size == 0, k - size, state, stack, inside,
            )  # fmt: skip
            # Rows inside the box cost nothing: they are taken in the table's order.
            i = np.int64(0)
            while True:
                row = inside[i] if state[FOUND] > 0 else state[ROW]
                if row < 0:  # a copy of the last member
                    row = state[LAST]
                at = place[0, row]
                if i == 0:
                    loss = step_in(cells[0], at, table, steps, base, mark, size == 0)
                    state[NOW] += size == 0
                amount = min(k - size, counts[row])
                if histogram is not None:
                    amount = np.int64(1)
                    extra = count_class(cells[0], at, numbers, histogram, size + 1)
                size += amount
                take(row, amount, counts, state, out)
                if counts[row] == 0:
                    rows -= 1
                    for t in range(block.shape[0]):
                        drop(row, cells[t], place[t], block[t], nodes[t])
                i += 1
                if size >= k or i >= state[FOUND]:
                    break
            prepare_next(counts, mark, numbers, histogram, state, row, loss, size, extra)
        state[LEFT] -= size
        state[LABEL] += 1
