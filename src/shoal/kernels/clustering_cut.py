"""Best cut: Mondrian that cuts where the loss falls most, over all columns and positions.

The rows of a part are sorted by one column, equal codes keeping the order that earlier
cuts gave them. Boxes grown from the right and from the left give the loss of both sides
of every position in one look at each row; a column in which a box has become as wide as
the part's is not looked at any more. A cut may fall between rows of equal code: so a part
can be cut along an older column too, and sizes close to k can be reached. In a hierarchy
any subtree may also be cut out of the middle.

Measured on Adult, NCP at k = 10: 0.130 when equal codes must stay together, 0.123 when
they need not, 0.095 when subtrees may be cut out as well.

One cut ahead a long hierarchy shows nothing: its loss falls only when a class is deep down in
it. So where the best cut of a large part gains little, the part is cut where that separates
most pairs of records, each pair weighed by how far apart it is. On 300,000 hospital stays, NCP
at k = 10: 0.175 without this, 0.140 with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.axes import Promise
from shoal.kernels.clustering_losses import FACTS, cost
from shoal.kernels.clustering_space import BRANCHES
from shoal.kernels.helpers import lean, lean_outer
from shoal.kernels.judge import judge, packed

GROUPS = 256
"""Subtrees are cut out where a part has up to this many values."""

SAMPLE = 500
"""Large parts are cut where this many rows of them, evenly spread, say so (at least 10 k).
On Adult, sizes from 250 to 512 and all rows differ by 1 to 2 % in NCP, in no order."""

LARGE = 64
"""Parts of more samples than this are not sorted by the column that is cut."""

FEW = 32
"""Up to so many rows are sorted by putting one after the other into its place."""

LITTLE = 10
"""A cut gains little where the loss falls by less than this part of it. (5: NCP 0.1458 on
300,000 hospital stays, 0.1000 on Adult; 10: 0.1402 and 0.0953; 20: 0.1644 and 0.0953.)"""

CLASSES = 8
"""A part is large where it has so many times k records."""

RECORDS, ROW, SPREAD = range(3)  # behind the codes of a row: the last begins its sensitive values
LOSS, AXIS, FIRST, LAST = range(4)  # a cut: rows FIRST … LAST - 1, sorted by AXIS, leave
LOW, HIGH, STOP = range(4, 7)  # the same as codes
PAIRS, PAIRS_AXIS, PAIRS_LAST = range(7, 10)  # the cut that separates most pairs, and their weight
WHOLE, LEFT, RIGHT = np.int64(4), np.int64(5), np.int64(6)  # histograms: rows of `work`


class Cuts(NamedTuple):
    """Rows in an order in which each class is a run, the class of each, and their codes."""

    row: NDArray[np.int64]
    label: NDArray[np.int64]
    codes: NDArray[np.int32]


def cut(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    *,
    losses: NDArray[np.int32],
    promise: Promise,
    sample: int | None = None,
) -> Cuts:
    """Cut the table into classes.

    Args:
        codes: of the quasi-identifiers.
        counts: records per row.
        sensitive: codes of the sensitive columns.
        losses: as `clustering_losses.packed` returns them.
        promise: what every class keeps.
        sample: how many rows of a large part decide its cut where k alone is promised; None:
            a number that fits k.

    Guarantee:
        Every class meets the promise if the whole table does.
    """
    rows, columns = codes.shape
    if codes.dtype != np.int32 or counts.dtype != np.int64 or sensitive.dtype != np.int32:
        raise KernelInputError(problem="codes and sensitive must be int32, counts int64")
    if losses.dtype != np.int32 or rows == 0 or len(sensitive) != rows:
        raise KernelInputError(problem="losses must be int32, and there must be rows")
    if counts.max() > np.iinfo(np.int32).max:
        raise KernelInputError(problem="bestcut takes up to 2,147,483,647 equal records")
    cells = np.empty((rows, columns + SPREAD + sensitive.shape[1]), dtype=np.int32)
    cells[:, :columns] = codes
    cells[:, columns + RECORDS] = counts
    cells[:, columns + ROW] = np.arange(rows, dtype=np.int32)
    cells[:, columns + SPREAD :] = sensitive + promise.start[:-1]  # places in a histogram
    label = np.empty(rows, dtype=np.int64)
    sample = rows if promise.kind.size else sample or max(SAMPLE, 10 * int(promise.k))
    room, values = rows + 2 * GROUPS + 258, promise.reference.size if promise.kind.size else 0
    run(
        cells, np.empty_like(cells), label, losses,
        np.array([promise.k, sample, *[0] * 10], dtype=np.int64),
        *packed(promise),
        np.empty((RIGHT + 1 if values else WHOLE, max(room, values)), dtype=np.int64),
        np.empty((2 * GROUPS + 3, 2, columns), dtype=np.int32),
        values,
    )  # fmt: skip
    return Cuts(cells[:, columns + ROW].astype(np.int64), label, cells[:, :columns])


@lean
def sort_rows(cells, j, begin, step, rows, boxes, work):
    """Write the order of every step-th row of a part by column j, equal codes as they stand."""
    order, other = work[0], work[1]
    for i in range(rows if rows <= FEW else 0):
        code = np.int64(cells[begin + i * step, j])
        to = i
        while to > 0 and other[to - 1] > code:
            other[to] = other[to - 1]
            order[to] = order[to - 1]
            to -= 1
        other[to] = code
        order[to] = i * step
    if rows <= FEW:
        return
    tally = other.size - 258  # behind the rows
    low = np.int64(boxes[1, 0, j])
    reach = boxes[1, 1, j] - low
    shift = 0
    while shift == 0 or reach >> shift > 0:
        digits = (reach >> shift) + 1
        if digits > 256:
            digits = np.int64(256)
        for digit in range(tally, tally + digits + 1):
            other[digit] = 0
        for i in range(rows):
            other[tally + (((cells[begin + i * step, j] - low) >> shift) & 255) + 1] += 1
        for digit in range(tally, tally + digits):
            other[digit + 1] += other[digit]
        for i in range(rows if shift > 0 else 0):
            other[i] = order[i]
        for i in range(rows):
            at = i * step if shift == 0 else other[i]
            place = tally + (((cells[begin + at, j] - low) >> shift) & 255)
            order[other[place]] = at
            other[place] += 1
        shift += 8


@lean
def both_hold(cells, columns, begin, first, last, left, whole, rules, rare, work, values, is_new):
    """Say whether one side of a part (LEFT) and the rest keep the promise.

    Rows first … last - 1 of the order are added to that side before; is_new: to nothing.
    """
    for v in range(values if is_new else 0):
        work[LEFT, v] = 0
    for i in range(first, last):
        at = begin + work[0, i]
        for s in range(columns + SPREAD, cells.shape[1]):
            work[LEFT, cells[at, s]] += cells[at, columns + RECORDS]
    for v in range(values):
        work[RIGHT, v] = work[WHOLE, v] - work[LEFT, v]
    for side in range(LEFT, RIGHT + 1):  # one call in a loop: two would be compiled twice
        if not judge(rules, rare, left if side == LEFT else whole - left, work, side):
            return False
    return True


@lean
def widen(cells, losses, at, active, loss, boxes):
    """Let a box grow by a row; return the columns that may still widen, and the loss.

    boxes: the box, the box of the whole part, and behind these the loss of each column and
    the columns that may still widen.
    """
    x = 0
    while x < active:
        c = np.int64(boxes[2, 1, x])
        code = cells[at, c]
        low = boxes[0, 0, c]
        high = boxes[0, 1, c]
        x += 1
        if code < low:
            low = code
        elif code > high:
            high = code
        else:
            continue
        fresh = cost(losses, c, low, high)
        loss += fresh - boxes[2, 0, c]
        boxes[2, 0, c] = fresh
        boxes[0, 0, c] = low
        boxes[0, 1, c] = high
        if low == boxes[1, 0, c] and high == boxes[1, 1, c]:
            active -= 1
            x -= 1
            boxes[2, 1, x] = boxes[2, 1, active]
    return active, loss


@lean
def weigh(cells, losses, j, begin, rows, whole, k, rules, rare, work, boxes, values, found):
    """Look at every position of a sorted part.

    Boxes grow from the right, then from the left, as long as one side alone does not lose as
    much as the best cut so far. Where column j is a tree they are kept at each change of
    code, so that what is left around a subtree is known. In a large part the pairs that a
    change of code separates are counted too.
    """
    columns = boxes.shape[2]
    order = work[0]
    is_tree = losses[FACTS * j + BRANCHES]
    is_large = whole >= CLASSES * k
    shift = 0  # so that products of records and losses stay below 2 ** 62
    while whole >> shift >= 1 << 20:
        shift += 1
    last_kept = np.int64(0)
    kept = np.int64(0)
    lowest = np.int64(rows)
    for side in range(2):
        last_kept = kept
        at = begin + order[0 if side == 1 else rows - 1]
        active = np.int64(columns)
        loss = np.int64(0)
        for c in range(columns):
            boxes[0, 0, c] = cells[at, c]
            boxes[0, 1, c] = cells[at, c]
            boxes[2, 0, c] = cost(losses, c, cells[at, c], cells[at, c])
            boxes[2, 1, c] = c
            loss += boxes[2, 0, c]
        weight = np.int64(0)
        kept = np.int64(0)
        counted = np.int64(0)
        is_open = True
        for n in range(1, rows):
            i = n if side == 1 else rows - n
            at = begin + order[n - 1 if side == 1 else i]
            if is_open:
                active, loss = widen(cells, losses, at, active, loss, boxes)
            weight += cells[at, columns + RECORDS]
            mine = loss * weight
            if 0 <= found[LOSS] <= mine:
                is_open = False
                if side == 0 or not is_large:
                    break
            code = cells[begin + order[i], j]
            before = cells[begin + order[i - 1], j]
            if side == 0:
                work[2, i] = mine
                lowest = i
            else:
                pairs = np.int64(0)
                if code != before and is_large:
                    pairs = (weight >> shift) * ((whole - weight) >> shift) * (1 + is_tree)
                    pairs *= cost(
                        losses, j, before if is_tree else boxes[1, 0, j],
                        code if is_tree else boxes[1, 1, j],
                    )  # fmt: skip
                mine += work[2, i]
                is_less = is_open and i >= lowest and (found[LOSS] < 0 or mine < found[LOSS])
                if weight >= k and whole - weight >= k and (is_less or pairs > found[PAIRS]):
                    is_allowed = True
                    if rules is not None:
                        is_allowed = both_hold(
                            cells, columns, begin, counted, i, weight, whole, rules, rare, work,
                            values, counted == 0,
                        )  # fmt: skip
                        counted = i
                    if is_allowed and is_less:
                        found[LOSS] = mine
                        found[AXIS] = j
                        found[FIRST] = 0
                        found[LAST] = i
                    if is_allowed and pairs > found[PAIRS]:
                        found[PAIRS] = pairs
                        found[PAIRS_AXIS] = j
                        found[PAIRS_LAST] = i
            if is_open and is_tree == 1 and kept < GROUPS and code != before:
                slot = kept + GROUPS * (1 - side)
                for c in range(columns):
                    boxes[3 + slot, 0, c] = boxes[0, 0, c]
                    boxes[3 + slot, 1, c] = boxes[0, 1, c]
                work[1, rows + slot] = i
                work[2, rows + slot] = weight
                kept += 1
    return kept, last_kept


@lean
def group_loss(cells, losses, begin, first, last, right, left, inside, outside, limit, work, boxes):
    """Return the loss of cutting rows first … last - 1 out of the middle; -1: not below a limit.

    right, left: where the boxes of the rows behind and before them stand.
    """
    columns = boxes.shape[2]
    loss = np.int64(0)
    for c in range(columns):
        low = boxes[left, 0, c]
        high = boxes[left, 1, c]
        if boxes[right, 0, c] < low:
            low = boxes[right, 0, c]
        if boxes[right, 1, c] > high:
            high = boxes[right, 1, c]
        loss += cost(losses, c, low, high) * outside
    for c in range(columns):
        if 0 <= limit <= loss:
            return np.int64(-1)
        low = cells[begin + work[0, first], c]
        high = low
        for i in range(first + 1, last):
            code = cells[begin + work[0, i], c]
            if code < low:
                low = code
            elif code > high:
                high = code
        loss += cost(losses, c, low, high) * inside
    return loss if limit < 0 or loss < limit else np.int64(-1)


@lean
def weigh_subtrees(
    cells, losses, j, begin, rows, whole, k, rules, rare, work, boxes, values, found,
    first_kept, last_kept,
):  # fmt: skip
    """Look at the cuts between a subtree (or value) in the middle and what lies around it."""
    order = work[0]
    for a in range(first_kept):
        first = work[1, rows + a]
        code = cells[begin + order[first], j]
        before = cells[begin + order[first - 1], j]
        for b in range(last_kept - 1, -1, -1):
            last = work[1, rows + GROUPS + b]
            if last <= first:
                continue
            inside = whole - work[2, rows + a] - work[2, rows + GROUPS + b]
            end = cells[begin + order[last - 1], j]
            height = cost(losses, j, code, end)
            if whole - inside < k or cost(losses, j, before, end) <= height:
                break  # so it is with every longer one
            if inside < k or cost(losses, j, code, cells[begin + order[last], j]) <= height:
                continue  # a part of a subtree, not a whole one
            loss = group_loss(
                cells, losses, begin, first, last, 3 + a, 3 + GROUPS + b,
                inside, whole - inside, found[LOSS], work, boxes,
            )  # fmt: skip
            if loss < 0:
                continue
            if rules is not None:
                if not both_hold(
                    cells, boxes.shape[2], begin, first, last, inside, whole, rules, rare, work,
                    values, first < last,
                ):  # fmt: skip
                    continue
            found[LOSS] = loss
            found[AXIS] = j
            found[FIRST] = first
            found[LAST] = last


@lean
def divide(cells, other, begin, rows, step, order, found):
    """Put the rows that leave in front of the others; return where they end."""
    j, low, high, stop = found[AXIS], found[LOW], found[HIGH], found[STOP]
    kept = np.int64(0)
    for i in range(rows):
        at = order[i] if step == 1 else np.int64(i)
        code = cells[begin + at, j]
        to = rows - 1 - i + kept  # from the end
        if low < code < high or (code == high and at < stop):
            to = kept
            kept += 1
        for c in range(cells.shape[1]):
            other[to, c] = cells[begin + at, c]
    for i in range(rows):
        at = i if i < kept else rows - 1 - i + kept
        for c in range(cells.shape[1]):
            cells[begin + i, c] = other[at, c]
    return begin + kept


@lean
def measure(cells, begin, rows, step, boxes):
    """Write the box of every step-th row of a part; return their records."""
    whole = np.int64(0)
    for c in range(boxes.shape[2]):
        boxes[1, 0, c] = cells[begin, c]
        boxes[1, 1, c] = cells[begin, c]
    for i in range(rows):
        at = begin + i * step
        whole += cells[at, boxes.shape[2] + RECORDS]
        for c in range(boxes.shape[2]):
            code = cells[at, c]
            if code < boxes[1, 0, c]:
                boxes[1, 0, c] = code
            elif code > boxes[1, 1, c]:
                boxes[1, 1, c] = code
    return whole


@lean_outer
def run(
    cells, other, label, losses, numbers, rules, rare, work, boxes,
    values,
):  # fmt: skip
    """Cut until nothing more may be cut; rows are permuted, labels number the classes.

    numbers: k, rows of a sample; then ten for the cut. values: how long a histogram is.
    rules, rare: the promise, where it is more than k; otherwise None, and nothing that judges a
    spread is compiled.
    """
    k, sample = numbers[0], numbers[1]
    columns = boxes.shape[2]
    found = numbers[2:]
    ends = work[3]
    ends[0] = len(label)
    depth = 1
    begin = np.int64(0)
    classes = np.int64(0)
    while depth > 0:
        rows = ends[depth - 1] - begin
        step = rows // sample if rows > sample else np.int64(1)
        found[AXIS] = -1
        while step > 0:
            taken = rows // step
            whole = measure(cells, begin, taken, step, boxes)
            is_known = found[AXIS] >= 0
            is_asked = whole >= 2 * k and not is_known
            loss = np.int64(0)
            if is_asked:
                if rules is not None:
                    for v in range(values):
                        work[WHOLE, v] = 0
                    for i in range(begin, begin + rows):
                        for s in range(columns + SPREAD, cells.shape[1]):
                            work[WHOLE, cells[i, s]] += cells[i, columns + RECORDS]
                found[LOSS] = -1
                found[PAIRS] = 0
            for c in range(columns + 1):  # in the end the rows are sorted by the best one again
                axis = np.int64(c)
                if c == columns:
                    is_little = found[AXIS] < 0 or (loss - found[LOSS]) * LITTLE < loss
                    if is_asked and found[PAIRS] > 0 and is_little:
                        found[AXIS] = found[PAIRS_AXIS]
                        found[FIRST] = 0
                        found[LAST] = found[PAIRS_LAST]
                    axis = found[AXIS]
                    if axis < 0:
                        break
                elif not is_asked:
                    continue
                else:
                    loss += whole * cost(losses, c, boxes[1, 0, c], boxes[1, 1, c])
                    if boxes[1, 0, c] == boxes[1, 1, c]:
                        continue
                sort_rows(cells, axis, begin, step, taken, boxes, work)
                if c == columns:
                    break
                before, after = weigh(
                    cells, losses, axis, begin, taken, whole, k, rules, rare, work, boxes, values,
                    found,
                )  # fmt: skip
                if before > 0 and after > 0:
                    weigh_subtrees(
                        cells, losses, axis, begin, taken, whole, k, rules, rare, work, boxes,
                        values, found, before, after,
                    )  # fmt: skip
            if found[AXIS] >= 0:
                if not is_known:
                    # As codes the cut holds for all rows: those above LOW up to HIGH leave, and
                    # of HIGH, where the cut fell among rows of that code, those before STOP.
                    axis = found[AXIS]
                    found[LOW] = -1
                    if found[FIRST] > 0:
                        found[LOW] = cells[begin + work[0, found[FIRST] - 1], axis]
                    found[HIGH] = cells[begin + work[0, found[LAST] - 1], axis]
                    found[STOP] = work[0, found[LAST]]
                    if cells[begin + found[STOP], axis] != found[HIGH]:
                        found[STOP] = rows
                if step == 1 or step > LARGE:
                    break
            step = np.int64(1) if step > 1 else np.int64(0)
        if found[AXIS] < 0:
            for i in range(begin, begin + rows):
                label[i] = classes
            classes += 1
            begin += rows
            depth -= 1
            continue
        ends[depth] = divide(cells, other, begin, rows, step, work[0], found)
        depth += 1
    return classes
