"""Best cut: Mondrian that cuts where the loss falls most, over all columns and positions.

The rows of a part are sorted by each column. Boxes grown from the right and from the left
give the loss of both sides of every position in one look at each row. A cut may fall between
rows of equal code: they are ordered by the columns with few values, so that sizes close to k can
be reached without losing much. In a hierarchy any subtree may also be cut out of the middle.

Measured on Adult, NCP at k = 10: 0.121 when equal codes must stay together, 0.116 when
they need not, 0.096 when subtrees may be cut out as well.

One cut ahead a long hierarchy shows nothing: its loss falls only when a class is deep down in
it. So where the best cut of a large part gains little, the part is cut where that separates
most pairs of records, each pair weighed by how far apart it is. On 300,000 hospital stays, NCP
at k = 10: 0.172 without this, 0.141 with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.axes import PromiseArrays
from shoal.kernels.clustering_losses import FACTS, cost
from shoal.kernels.clustering_space import BRANCHES, SIZE
from shoal.kernels.helpers import lean, lean_outer
from shoal.kernels.judge import judge, packed

GROUPS = 256
"""Subtrees are cut out between so many changes of code, the first of a part."""

SAMPLE = 500
"""Large parts are cut where this many rows of them, evenly spread, say so (at least 10 k).
On Adult, sizes from 300 to 1,500 and all rows differ by 1 to 2 % in NCP, in no order."""

NEAR = 1 << 15
"""Parts of up to so many rows are copied, so that their rows lie close to each other."""

FEW = 256
"""Equal codes are ordered by the columns with up to this many values, those with fewest first."""

LITTLE = 10
"""A cut gains little where the loss falls by less than this part of it. (5: NCP 0.1435 on
300,000 hospital stays, 0.0976 on Adult; 10: 0.1406 and 0.0960; 20: 0.1636 and 0.0957.)"""

CLASSES = 8
"""A part is large where it has so many times k records."""

RECORDS, ROW, SPREAD = range(3)  # behind the codes of a row: the last begins its sensitive values
MOST = np.iinfo(np.int64).max  # no loss reaches it
LOSS, AXIS, FIRST, LAST = range(4)  # a cut: rows FIRST … LAST - 1, sorted by AXIS, leave
PAIRS, PAIRS_AXIS, PAIRS_LAST = range(4, 7)  # the cut that separates most pairs, their weight
WEIGHT, PLACE = range(3, 5)  # rows of `work`, behind the losses of both sides
# Behind the box of a part and its losses: the boxes of runs, with those before, with those behind.
RUN, BEFORE, BEHIND = 2, 3 + GROUPS, 4 + 2 * GROUPS
WHOLE, LEFT, RIGHT = np.int64(5), np.int64(6), np.int64(7)  # histograms


class Cuts(NamedTuple):
    """Rows in an order in which each class is a run, each row's class, and the boxes."""

    row: NDArray[np.int32]
    label: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]


def cut(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    *,
    losses: NDArray[np.int32],
    promise: PromiseArrays,
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
    if columns == 0:  # nothing to cut along
        none = np.empty((1, 0), dtype=np.int32)
        return Cuts(np.arange(rows, dtype=np.int32), np.zeros(rows, dtype=np.int64), none, none)
    near = NEAR if rows > NEAR else 0
    source = np.empty((columns + SPREAD + sensitive.shape[1], rows + near), dtype=np.int32)
    for some in range(0, rows, NEAR):
        source[:columns, some : min(some + NEAR, rows)] = codes[some : some + NEAR].T
    source[columns + RECORDS, :rows] = counts
    source[columns + SPREAD :, :rows] = (sensitive + promise.start[:-1]).T  # places in a histogram
    sample = rows if promise.kind.size else sample or max(SAMPLE, 10 * int(promise.k))
    values = promise.reference.size if promise.kind.size else 0
    sizes = losses[SIZE : FACTS * columns : FACTS]
    turns = np.argsort(-sizes, kind="stable")
    orders = np.empty((columns + 3, rows), dtype=np.int32)
    label = np.empty(rows, dtype=np.int64)
    boxes = np.empty((2, rows, columns), dtype=np.int32)
    classes = run(
        source, np.empty((len(source), rows), dtype=np.int32), orders, label, boxes, losses,
        np.array([promise.k, sample, (sizes <= FEW).sum(), *[0] * 7, *turns], dtype=np.int64),
        *packed(promise),
        np.empty((RIGHT + 1 if values else WHOLE, max(rows + 259, GROUPS, values)), np.int64),
        np.empty((BEHIND + GROUPS + 1, 2, columns), dtype=np.int32),
        values,
    )  # fmt: skip
    return Cuts(orders[columns + 2], label, boxes[0, :classes], boxes[1, :classes])


@lean
def sort_rows(cells, j, before, rows, orders, work):
    """Write the order of rows by column j, equal codes as in another column's order; -1: as is."""
    order, other, tally = orders[j], orders[len(orders) - 2], work[0]
    low = np.int64(cells[j, 0])
    high = low
    for i in range(rows):
        if cells[j, i] < low:
            low = np.int64(cells[j, i])
        elif cells[j, i] > high:
            high = np.int64(cells[j, i])
        order[i] = i if before < 0 else orders[before, i]
    reach = high - low
    shift = 0
    while reach >> shift > 0:
        for digit in range(258):
            tally[digit] = 0
        for i in range(rows):
            other[i] = order[i]
            tally[(((cells[j, i] - low) >> shift) & 255) + 1] += 1
        for digit in range(256):
            tally[digit + 1] += tally[digit]
        for i in range(rows):
            at = other[i]
            digit = ((cells[j, at] - low) >> shift) & 255
            order[tally[digit]] = at
            tally[digit] += 1
        shift += 8


@lean
def both_hold(cells, columns, order, first, last, left, whole, rules, rare, work, values, is_new):
    """Say whether one side of a part (LEFT) and the rest keep the promise.

    Rows first … last - 1 of the order are added to that side before; is_new: to nothing.
    """
    for v in range(values if is_new else 0):
        work[LEFT, v] = 0
    for i in range(first, last):
        at = order[i]
        for s in range(columns + SPREAD, len(cells)):
            work[LEFT, cells[s, at]] += cells[columns + RECORDS, at]
    for v in range(values):
        work[RIGHT, v] = work[WHOLE, v] - work[LEFT, v]
    for side in range(LEFT, RIGHT + 1):  # one call in a loop: two would be compiled twice
        if not judge(rules, rare, left if side == LEFT else whole - left, work, side):
            return False
    return True


@lean
def scan(cells, losses, c, order, at, rows, number, side, work, boxes):
    """Let a box grow from the right (side 0) or the left (1) end of a part, in column c alone.

    Its first rows lead to the first of a number of positions; to each of these is added how much
    less the box loses there than the whole part, until it loses as much. at: where its first row
    stands in the order.
    """
    way = 2 * side - 1
    low = cells[c, order[at]]
    high = low
    for _ in range(rows):
        code = cells[c, order[at]]
        low = code if code < low else low
        high = code if code > high else high
        at += way
    less = boxes[1, 0, c] - cost(losses, c, low, high)
    to = at + 1 - side
    for _ in range(number if less > 0 else 0):
        work[1 + side, to] += less
        code = cells[c, order[at]]
        at += way
        to += way
        if code < low:
            low = code
        elif code > high:
            high = code
        else:
            continue
        less = boxes[1, 0, c] - cost(losses, c, low, high)
        if less == 0:
            return


@lean
def weigh(
    cells, losses, j, order, begin, end, whole, loss, k, rules, rare, work, boxes, values, found
):  # fmt: skip
    """Look at every position of a part, sorted by column j, that leaves k records on each side.

    Boxes grow from the right and from the left, column by column. In a large part the pairs that
    a change of code separates are counted too. Where column j is a tree, the places where its
    code changes are written down; return how many they are.

    loss: of the whole part. boxes: its box, the loss of each column in it; then boxes of runs.
    """
    columns = boxes.shape[2]
    is_tree = losses[FACTS * j + BRANCHES]
    reach = np.int64(0)  # how far apart pairs are at most; in a small part it does not matter
    if whole >= CLASSES * k:
        reach = np.int64(boxes[1, 0, j]) * (1 + is_tree)
    shift = 0  # so that products of records and losses stay below 2 ** 62
    while whole >> shift >= 1 << 20:
        shift += 1
    changes = np.int64(0)
    weight = np.int64(0)
    first = end
    last = begin
    beyond = cells[j, order[begin]]
    for i in range(begin + 1, end):
        weight += cells[columns + RECORDS, order[i - 1]]
        work[1, i] = 0
        work[2, i] = 0
        work[WEIGHT, i] = weight
        if weight >= k and first == end:
            first = i
        if whole - weight >= k:
            last = i
        if is_tree:
            code = beyond
            beyond = cells[j, order[i]]
            if code != beyond and changes < GROUPS:
                work[PLACE, changes] = i
                changes += 1
    for c in range(columns if first <= last else 0):
        for side in range(2 if boxes[0, 0, c] < boxes[0, 1, c] else 0):
            scan(
                cells, losses, c, order, begin if side == 1 else end - 1,
                first - begin if side == 1 else end - last, last + 1 - first, side, work, boxes,
            )  # fmt: skip
    counted = begin
    best = found[LOSS]
    most = found[PAIRS]
    for i in range(first, last + 1):
        weight = work[WEIGHT, i]
        less = whole - weight
        mine = loss - work[2, i] * weight - work[1, i] * less
        pairs = (weight >> shift) * (less >> shift) * reach
        if pairs > most:
            code = cells[j, order[i - 1]]
            beyond = cells[j, order[i]]
            if code == beyond:
                pairs = np.int64(0)
            elif is_tree:
                pairs = (weight >> shift) * (less >> shift) * 2 * cost(losses, j, code, beyond)
        if mine < best or pairs > most:
            if rules is not None:
                is_allowed = both_hold(
                    cells, columns, order, counted, i, weight, whole, rules, rare, work, values,
                    counted == begin,
                )  # fmt: skip
                counted = i
                if not is_allowed:
                    continue
            if mine < best:
                best = mine
                found[AXIS] = j
                found[FIRST] = begin
                found[LAST] = i
            if pairs > most:
                most = pairs
                found[PAIRS_AXIS] = j
                found[PAIRS_LAST] = i
    found[LOSS] = best
    found[PAIRS] = most
    return changes


@lean
def measure_runs(cells, order, begin, end, changes, work, boxes):
    """Write the boxes of a part's runs of equal codes, from one change to the next.

    Behind them: the boxes of each run with all before it, and with all after it.
    """
    for c in range(boxes.shape[2]):
        for run in range(changes + 1):
            first = begin if run == 0 else work[PLACE, run - 1]
            last = end if run == changes else work[PLACE, run]
            low = cells[c, order[first]]
            high = low
            while first < last:
                code = cells[c, order[first]]
                low = code if code < low else low
                high = code if code > high else high
                first += 1
            boxes[RUN + run, 0, c] = low
            boxes[RUN + run, 1, c] = high
        for to in (BEFORE, BEHIND):
            way = 1 if to == BEFORE else -1
            run = 0 if to == BEFORE else changes
            low = boxes[RUN + run, 0, c]
            high = boxes[RUN + run, 1, c]
            for _ in range(changes + 1):
                low = boxes[RUN + run, 0, c] if boxes[RUN + run, 0, c] < low else low
                high = boxes[RUN + run, 1, c] if boxes[RUN + run, 1, c] > high else high
                boxes[to + run, 0, c] = low
                boxes[to + run, 1, c] = high
                run += way


@lean
def group_loss(losses, first, last, inside, outside, limit, boxes):
    """Return the loss of cutting runs first … last - 1 out of the middle, or a limit."""
    before = BEFORE + first - 1
    behind = BEHIND + last
    loss = np.int64(0)
    for c in range(boxes.shape[2]):
        if limit <= loss:
            return limit
        low = boxes[before, 0, c]
        high = boxes[before, 1, c]
        low = boxes[behind, 0, c] if boxes[behind, 0, c] < low else low
        high = boxes[behind, 1, c] if boxes[behind, 1, c] > high else high
        loss += cost(losses, c, low, high) * outside
        low = boxes[RUN + first, 0, c]
        high = boxes[RUN + first, 1, c]
        for run in range(RUN + first + 1, RUN + last):
            low = boxes[run, 0, c] if boxes[run, 0, c] < low else low
            high = boxes[run, 1, c] if boxes[run, 1, c] > high else high
        loss += cost(losses, c, low, high) * inside
    return loss if loss < limit else limit


@lean
def weigh_subtrees(
    cells, losses, j, order, begin, end, whole, k, rules, rare, work, boxes, values, found, changes
):  # fmt: skip
    """Look at the cuts between a subtree (or value) in the middle and what lies around it."""
    is_measured = False
    near = np.int64(0)
    for a in range(changes):
        first = work[PLACE, a]
        code = cells[j, order[first]]
        before = cells[j, order[first - 1]]
        near = near if near > a else np.int64(a + 1)
        while near < changes and work[WEIGHT, work[PLACE, near]] - work[WEIGHT, first] < k:
            near += 1
        for b in range(near, changes):
            last = work[PLACE, b]
            inside = work[WEIGHT, last] - work[WEIGHT, first]
            high = cells[j, order[last - 1]]
            height = cost(losses, j, code, high)
            if whole - inside < k or cost(losses, j, before, high) <= height:
                break  # so it is with every longer one
            if cost(losses, j, code, cells[j, order[last]]) <= height:
                continue  # a part of a subtree, not a whole one
            if not is_measured:
                measure_runs(cells, order, begin, end, changes, work, boxes)
                is_measured = True
            loss = group_loss(losses, a + 1, b + 1, inside, whole - inside, found[LOSS], boxes)
            if loss == found[LOSS]:
                continue
            if rules is not None:
                if not both_hold(
                    cells, boxes.shape[2], order, first, last, inside, whole, rules, rare, work,
                    values, first < last,
                ):  # fmt: skip
                    continue
            found[LOSS] = loss
            found[AXIS] = j
            found[FIRST] = first
            found[LAST] = last


@lean
def divide(source, orders, begin, end, axis, low, high, stop):
    """Put the rows that leave in front of the others, as they stood; return how many leave.

    Those with codes above low up to high leave, and of high only those before stop.
    """
    columns = len(orders) - 3
    ids, other = orders[columns + 2], orders[columns + 1]
    kept = begin
    moved = 0
    for i in range(begin, end):
        at = ids[i]
        code = source[axis, at]
        leaves = np.int64((code > low) & ((code < high) | ((code == high) & (i < stop))))
        ids[kept] = at
        other[moved] = at
        kept += leaves
        moved += 1 - leaves
    for i in range(moved):
        ids[kept + i] = other[i]
    return kept - begin


@lean
def split(orders, begin, end, found, boxes):
    """Put the rows that leave in front of the others in the order of every column.

    A column that does not vary here needs no order any more; the first one says who is there.
    """
    columns = boxes.shape[2]
    axis, first, last = found[AXIS], found[FIRST], found[LAST]
    is_leaving, other = orders[columns], orders[columns + 1]
    for i in range(begin, end):
        is_leaving[orders[axis, i]] = first <= i < last
    for c in range(columns):
        if (c > 0 and boxes[0, 0, c] == boxes[0, 1, c]) or (c == axis and first == begin):
            continue
        kept = begin
        moved = 0
        for i in range(begin, end):
            at = orders[c, i]
            leaves = is_leaving[at]
            orders[c, kept] = at
            other[moved] = at
            kept += leaves
            moved += 1 - leaves
        for i in range(moved):
            orders[c, kept + i] = other[i]
    return last - first


@lean_outer
def run(
    source, cells, orders, label, out, losses, numbers, rules, rare, work, boxes, values
):  # fmt: skip
    """Cut until nothing more may be cut; return how many classes there are.

    A part of many rows is a run of the rows' numbers (behind the orders). One that is small
    enough to be weighed as a whole is copied and sorted by every column once; from then on it
    is the same run in the order of each column.

    source: the columns, with room behind them for a part whose rows lie close to each other.
    numbers: k, rows of a sample, how many columns have few values; then seven for the cut, and
    the columns, those with few values last. values: how long a histogram is. rules, rare: the
    promise, where it is more than k; otherwise None, and nothing that judges a spread is
    compiled.
    """
    k, sample, few = numbers[0], numbers[1], numbers[2]
    columns = boxes.shape[2]
    found, turns = numbers[3:10], numbers[10:]
    ends = work[0]
    ids = orders[columns + 2]
    for i in range(len(label)):
        ids[i] = i
    ends[258] = len(label)
    depth = 1
    begin = np.int64(0)
    base = np.int64(0)  # where the copied part begins
    copied = np.int64(0)  # where it ends
    near = np.int64(0)  # where the rows end that were copied to lie close to each other
    classes = np.int64(0)
    is_whole = False  # a sample found nothing
    while depth > 0:
        rows = ends[257 + depth] - begin
        step = np.int64(1)
        if begin >= copied:
            if rows > sample and not is_whole:
                step = rows // sample
            if step == 1:
                copied = begin + rows
            if begin >= near and rows <= NEAR < len(label):
                near = begin + rows
                for c in range(len(source)):
                    for i in range(rows):
                        source[c, len(label) + i] = source[c, ids[begin + i]]
                for i in range(rows):
                    source[columns + ROW, len(label) + i] = ids[begin + i]
                    ids[begin + i] = len(label) + i
            base = begin
            for i in range(rows // step):
                at = ids[begin + i * step]
                for c in range(len(source)):
                    cells[c, i] = source[c, at]
                if at < len(label):
                    cells[columns + ROW, i] = at
            before = np.int64(-1)
            for n in range(-few if step == 1 else 0, columns):
                c = turns[n if n >= 0 else n + columns]
                sort_rows(cells, c, before, rows // step, orders, work)
                before = c if n < 0 else before
        first = begin - base
        last = first + rows // step
        found[AXIS] = -1
        found[LOSS] = MOST
        found[PAIRS] = 0
        whole = np.int64(0)
        for i in range(first, last):
            whole += cells[columns + RECORDS, orders[0, i]]
        loss = np.int64(0)
        for c in range(columns):
            boxes[0, 0, c] = cells[c, orders[c, first]]
            boxes[0, 1, c] = cells[c, orders[c, last - 1]]
            boxes[1, 0, c] = cost(losses, c, boxes[0, 0, c], boxes[0, 1, c])
            loss += whole * boxes[1, 0, c]
        if rules is not None:
            for v in range(values):
                work[WHOLE, v] = 0
            for i in range(first, last):
                at = orders[0, i]
                for s in range(columns + SPREAD, len(cells)):
                    work[WHOLE, cells[s, at]] += cells[columns + RECORDS, at]
        for c in range(columns if whole >= 2 * k else 0):
            if boxes[0, 0, c] == boxes[0, 1, c]:
                continue
            order = orders[c]
            changes = weigh(
                cells, losses, c, order, first, last, whole, loss, k, rules, rare, work, boxes,
                values, found,
            )  # fmt: skip
            weigh_subtrees(
                cells, losses, c, order, first, last, whole, k, rules, rare, work, boxes, values,
                found, changes,
            )  # fmt: skip
        is_little = found[AXIS] < 0 or (loss - found[LOSS]) * LITTLE < loss
        if found[PAIRS] > 0 and is_little:
            found[AXIS] = found[PAIRS_AXIS]
            found[FIRST] = first
            found[LAST] = found[PAIRS_LAST]
        is_whole = found[AXIS] < 0 and step > 1
        if is_whole:
            continue
        if found[AXIS] < 0:
            for c in range(columns):
                out[0, classes, c] = boxes[0, 0, c]
                out[1, classes, c] = boxes[0, 1, c]
            for i in range(rows):
                at = cells[columns + ROW, orders[0, first + i]]
                ids[begin + i] = at
                label[at] = classes
            classes += 1
            begin += rows
            depth -= 1
            continue
        if step == 1:
            ends[258 + depth] = begin + split(orders, first, last, found, boxes)
        else:
            # As codes the cut holds for all rows.
            axis = found[AXIS]
            low = np.int32(-1)
            if found[FIRST] > 0:
                low = cells[axis, orders[axis, found[FIRST] - 1]]
            at = orders[axis, found[LAST]]
            high = cells[axis, orders[axis, found[LAST] - 1]]
            stop = begin + at * step if cells[axis, at] == high else begin + rows
            ends[258 + depth] = begin + divide(
                source, orders, begin, begin + rows, axis, low, high, stop
            )
        depth += 1
    return classes
