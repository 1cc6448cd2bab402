"""Where to cut a partition: every column, every position, and subtrees out of the middle.

The rows of a partition are sorted by each column. Boxes grown from the right and from the left
give the loss of both sides of every position in one look at each row.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.clustering.losses import FACTS, cost
from shoal.kernels.clustering.space import BRANCHES
from shoal.kernels.helpers import lean
from shoal.kernels.judge import judge

GROUPS = 256
"""Subtrees are cut out between so many changes of code, the first of a part."""

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
    # What is written are gains against the whole partition: they end where the box is whole.
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
def reach_persons(cells, columns, order, at, end, k, people, way):
    """Return how many rows it takes from a place on, in a way (1, -1), to have k persons.

    The rows stop before `end`; -1 where they do not suffice. people: see `bestcut.cut`.
    """
    stamps = people[1]
    turn = stamps[stamps.size - 1] + 1
    stamps[stamps.size - 1] = turn
    seen = np.int64(0)
    rows = np.int64(0)
    while at != end:
        row = cells[columns + ROW, order[at]]
        who = people[0, row]
        rows += 1
        if who == -1:
            seen += cells[columns + RECORDS, order[at]]
        elif who >= 0 and stamps[who] != turn:
            stamps[who] = turn
            seen += 1
        if seen >= k:
            return rows
        at += way
    return np.int64(-1)


@lean
def are_persons(cells, columns, order, begin, first, last, end, k, people):
    """Say whether rows first … last - 1 have k persons, and those around them as well."""
    if reach_persons(cells, columns, order, first, last, k, people, 1) < 0:
        return False
    rows = reach_persons(cells, columns, order, begin, first, k, people, 1)
    if rows >= 0:
        return True
    # Who was seen before the rows is still stamped: those behind them are added up.
    stamps = people[1]
    turn = stamps[stamps.size - 1]
    seen = np.int64(0)
    for part in range(2):
        for i in range(begin if part == 0 else last, first if part == 0 else end):
            who = people[0, cells[columns + ROW, order[i]]]
            if part == 0:
                if who == -1:
                    seen += cells[columns + RECORDS, order[i]]
                elif who >= 0 and stamps[who] == turn:
                    stamps[who] = -turn  # counted once
                    seen += 1
            elif who == -1:
                seen += cells[columns + RECORDS, order[i]]
            elif who >= 0 and stamps[who] != -turn:
                stamps[who] = -turn
                seen += 1
    return seen >= k


@lean
def weigh(
    cells, losses, j, order, begin, end, whole, loss, k, rules, rare, work, boxes, values, found,
    people,
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
    if people is not None:  # records are not enough, and the rest is not the whole less a side
        rows = reach_persons(cells, columns, order, begin, end, k, people, 1)
        first = begin + rows if rows >= 0 else end
        rows = reach_persons(cells, columns, order, end - 1, begin - 1, k, people, -1)
        last = end - rows if rows >= 0 else begin
    for c in range(columns if first <= last else 0):
        # A column without spread loses nothing on either side.
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
        # The promise is judged only where a position would be chosen.
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
    cells, losses, j, order, begin, end, whole, k, rules, rare, work, boxes, values, found, changes,
    people,
):  # fmt: skip
    """Look at the cuts between a subtree (or value) in the middle and what lies around it."""
    is_measured = False
    near = np.int64(0)
    for a in range(changes):
        first = work[PLACE, a]
        code = cells[j, order[first]]
        before = cells[j, order[first - 1]]
        # The first change that leaves k records inside moves on with the subtree's begin.
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
            if people is not None:
                if not are_persons(
                    cells, boxes.shape[2], order, begin, first, last, end, k, people
                ):
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
