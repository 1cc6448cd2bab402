"""Best cut: Mondrian that cuts where the loss falls most, over all columns and positions.

The rows of a part are sorted by one column, equal codes keeping the order that earlier
cuts gave them. Boxes grown from the right and from the left give the loss of both sides
of every position in one look at each row; a column in which a box has become as wide as
the part's is not looked at any more. A cut may fall between rows of equal code: so a part
can be cut along an older column too, and sizes close to k can be reached. In a hierarchy
any subtree may also be cut out of the middle.

Measured on Adult, NCP at k = 10: 0.130 when equal codes must stay together, 0.123 when
they need not, 0.095 when subtrees may be cut out as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.axes import Promise
from shoal.kernels.clustering_losses import FACTS, cost
from shoal.kernels.clustering_space import BRANCHES, lean, lean_outer
from shoal.kernels.judge import judge, packed

GROUPS = 256
"""Subtrees are cut out where a part has up to this many values."""

SAMPLE = 500
"""Large parts are cut where this many rows of them, evenly spread, say so (at least 10 k).
On Adult, sizes from 250 to 512 and all rows differ by 1 to 2 % in NCP, in no order."""

LARGE = 64
"""Parts of more samples than this are not sorted by the column that is cut."""

RECORDS, ROW = 0, 1  # the facts of a row
LOSS, AXIS, FIRST, LAST = range(4)  # a cut: rows FIRST … LAST - 1, sorted by AXIS, leave
LOW, HIGH, STOP = range(4, 7)  # the same as codes, see `aim`


class Cuts(NamedTuple):
    """Rows in an order in which each class is a run, and the class of each."""

    row: NDArray[np.int64]
    label: NDArray[np.int64]


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
    places = sensitive + promise.start[:-1].astype(np.int32)  # in a histogram
    cells = np.concatenate((codes, places), axis=1)
    facts = np.stack((counts, np.arange(rows)), axis=1)
    label = np.empty(rows, dtype=np.int64)
    sample = rows if promise.kind.size else sample or max(SAMPLE, 10 * int(promise.k))
    run(
        cells, facts, np.empty_like(cells), np.empty_like(facts), label, losses,
        np.array([promise.k, sample, *[0] * 7], dtype=np.int64),
        *packed(promise),
        np.empty((4, rows + 2 * GROUPS + 258), dtype=np.int64),
        np.empty((2 * GROUPS + 3, 2, columns), dtype=np.int32),
        np.empty((3, promise.reference.size), dtype=np.int64),
    )  # fmt: skip
    return Cuts(facts[:, ROW].copy(), label)


@lean
def sort_rows(cells, j, begin, step, rows, boxes, work):
    """Write the order of every step-th row of a part by column j, equal codes as they stand."""
    order, other = work[0], work[1]
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
def both_hold(rules, rare, hist, left, whole):
    """Say whether the left side (hist[1]) and the rest of a part (hist[0]) keep the promise."""
    for v in range(hist.shape[1]):
        hist[2, v] = hist[0, v] - hist[1, v]
    for side in range(1, 3):  # one call in a loop: two would be compiled twice
        if not judge(rules, rare, left if side == 1 else whole - left, hist, side):
            return False
    return True


@lean
def count_values(cells, facts, columns, i, hist, h):
    """Add a row's sensitive values to a histogram."""
    for s in range(columns, cells.shape[1]):
        hist[h, cells[i, s]] += facts[i, RECORDS]


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
def weigh(cells, facts, losses, j, begin, rows, whole, k, rules, rare, work, boxes, hist, found):
    """Look at every cut of a sorted part, positions first, then subtrees.

    Boxes grow from the right, then from the left, as long as one side alone does not lose as
    much as the best cut so far. Where column j is a tree they are kept at each change of
    code, so that what is left around a subtree is known.
    """
    columns = boxes.shape[2]
    order, places, sides = work[0], work[1], work[2]
    last_kept = np.int64(0)
    first_kept = np.int64(0)
    lowest = np.int64(rows)
    for side in range(2):
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
        if rules is not None:
            for v in range(hist.shape[1]):
                hist[1, v] = 0
        for n in range(1, rows):
            i = n if side == 1 else rows - n
            at = begin + order[n - 1 if side == 1 else i]
            active, loss = widen(cells, losses, at, active, loss, boxes)
            weight += facts[at, RECORDS]
            mine = loss * weight
            if 0 <= found[LOSS] <= mine:
                break
            if side == 0:
                sides[i] = mine
                lowest = i
            else:
                if rules is not None:
                    count_values(cells, facts, columns, at, hist, 1)
                if i >= lowest and weight >= k and whole - weight >= k:
                    mine += sides[i]
                    if found[LOSS] < 0 or mine < found[LOSS]:
                        is_allowed = True
                        if rules is not None:
                            is_allowed = both_hold(rules, rare, hist, weight, whole)
                        if is_allowed:
                            found[LOSS] = mine
                            found[AXIS] = j
                            found[FIRST] = 0
                            found[LAST] = i
            if (
                losses[FACTS * j + BRANCHES] == 1
                and kept < GROUPS
                and cells[begin + order[i], j] != cells[begin + order[i - 1], j]
            ):
                for c in range(columns):
                    boxes[3 + GROUPS * (1 - side) + kept, 0, c] = boxes[0, 0, c]
                    boxes[3 + GROUPS * (1 - side) + kept, 1, c] = boxes[0, 1, c]
                places[rows + GROUPS * (1 - side) + kept] = i
                sides[rows + GROUPS * (1 - side) + kept] = weight
                kept += 1
        if side == 0:
            last_kept = kept
        else:
            first_kept = kept
    return first_kept, last_kept


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
    cells, facts, losses, j, begin, rows, whole, k, rules, rare, work, boxes, hist, found,
    first_kept, last_kept,
):  # fmt: skip
    """Look at the cuts between a subtree (or value) in the middle and what lies around it."""
    columns = boxes.shape[2]
    order, places, sides = work[0], work[1], work[2]
    for a in range(first_kept):
        first = places[rows + a]
        code = cells[begin + order[first], j]
        before = cells[begin + order[first - 1], j]
        for b in range(last_kept - 1, -1, -1):
            last = places[rows + GROUPS + b]
            if last <= first:
                continue
            inside = whole - sides[rows + a] - sides[rows + GROUPS + b]
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
                for v in range(hist.shape[1]):
                    hist[1, v] = 0
                for i in range(first, last):
                    count_values(cells, facts, columns, begin + order[i], hist, 1)
                if not both_hold(rules, rare, hist, inside, whole):
                    continue
            found[LOSS] = loss
            found[AXIS] = j
            found[FIRST] = first
            found[LAST] = last


@lean
def aim(cells, begin, rows, order, found):
    """Turn a cut of some sorted rows into one of codes, which holds for all rows.

    What leaves are the codes above LOW up to HIGH; of HIGH, where the cut fell among rows of
    that code, those in front of row STOP.
    """
    j = found[AXIS]
    found[LOW] = cells[begin + order[found[FIRST] - 1], j] if found[FIRST] > 0 else np.int32(-1)
    found[HIGH] = cells[begin + order[found[LAST] - 1], j]
    found[STOP] = order[found[LAST]]
    if cells[begin + found[STOP], j] != found[HIGH]:
        found[STOP] = rows


@lean
def divide(cells, facts, other_cells, other_facts, begin, rows, step, order, found):
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
            other_cells[to, c] = cells[begin + at, c]
        other_facts[to, RECORDS] = facts[begin + at, RECORDS]
        other_facts[to, ROW] = facts[begin + at, ROW]
    for i in range(rows):
        at = i if i < kept else rows - 1 - i + kept
        for c in range(cells.shape[1]):
            cells[begin + i, c] = other_cells[at, c]
        facts[begin + i, RECORDS] = other_facts[at, RECORDS]
        facts[begin + i, ROW] = other_facts[at, ROW]
    return begin + kept


@lean
def measure(cells, facts, begin, rows, step, boxes):
    """Write the box of every step-th row of a part; return their records."""
    whole = np.int64(0)
    for c in range(boxes.shape[2]):
        boxes[1, 0, c] = cells[begin, c]
        boxes[1, 1, c] = cells[begin, c]
    for i in range(rows):
        at = begin + i * step
        whole += facts[at, RECORDS]
        for c in range(boxes.shape[2]):
            code = cells[at, c]
            if code < boxes[1, 0, c]:
                boxes[1, 0, c] = code
            elif code > boxes[1, 1, c]:
                boxes[1, 1, c] = code
    return whole


@lean_outer
def run(
    cells, facts, other_cells, other_facts, label, losses, numbers, rules, rare, work, boxes, hist,
):  # fmt: skip
    """Cut until nothing more may be cut; rows are permuted, labels number the classes.

    numbers: k, rows of a sample; then seven for the cut.
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
            whole = measure(cells, facts, begin, taken, step, boxes)
            is_known = found[AXIS] >= 0
            if whole >= 2 * k and not is_known:
                if rules is not None:
                    for v in range(hist.shape[1]):
                        hist[0, v] = 0
                    for i in range(begin, begin + rows):
                        count_values(cells, facts, columns, i, hist, 0)
                found[LOSS] = -1
                for c in range(columns):
                    if boxes[1, 0, c] == boxes[1, 1, c]:
                        continue
                    sort_rows(cells, c, begin, step, taken, boxes, work)
                    before, after = weigh(
                        cells, facts, losses, c, begin, taken, whole, k, rules, rare, work, boxes,
                        hist, found,
                    )  # fmt: skip
                    if before > 0 and after > 0:
                        weigh_subtrees(
                            cells, facts, losses, c, begin, taken, whole, k, rules, rare, work,
                            boxes, hist, found, before, after,
                        )  # fmt: skip
            if found[AXIS] >= 0:
                sort_rows(cells, found[AXIS], begin, step, taken, boxes, work)
                if not is_known:
                    aim(cells, begin, rows, work[0], found)
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
        ends[depth] = divide(
            cells, facts, other_cells, other_facts, begin, rows, step, work[0], found
        )
        depth += 1
    return classes
