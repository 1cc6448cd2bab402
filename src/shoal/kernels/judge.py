"""Does a class keep the promise? Compiled; the slow twin is `privacy.judge`.

The promise goes into compiled code as one array (`packed`), because each array that is
handed from function to function costs the compiler a quarter of a second. A class is given
as its number of records and a row of a table of histograms; the sensitive columns lie
behind each other in it, as `PromiseArrays.start` has them. Distances are computed on shares in
64-bit floats; no product of two counts is ever formed, so nothing overflows, whatever the
number of records.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.axes import (
    ALPHA,
    CLOSENESS,
    DISTINCT,
    ENTROPY,
    EQUAL,
    HIERARCHICAL,
    NT_CLOSENESS,
    ORDERED,
    PLAIN,
    RECURSIVE,
    PromiseArrays,
)
from shoal.kernels.helpers import inner
from shoal.kernels.plain import ask

# Slack where a float meets a limit: a tenth of what the exact verifier allows
# (`privacy.TOLERANCE`), so that a tie counts as a tie and the verifier,
# which adds in whole numbers, never finds a class wanting that passed here.
SLACK = 1e-13

LEAST, MODELS, ROOM, FIRST = range(4)  # k, number of models, where the scratch room begins; rows
# A row a model. BAR: what `figure` may not exceed. LOW, HIGH: the values of its column in a
# histogram. AT: where its marks, or its reference, nodes and tree begin.
KIND, LIMIT, SECOND, BAR, LOW, HIGH, HOW, AT, WHOLE, NODES = range(10)
ROW = 10


def packed(
    promise: PromiseArrays, behind: int = 0
) -> tuple[NDArray[np.float64] | None, bool | None]:
    """Return the promise as compiled code takes it: `rules` and `rare`.

    rules: one array with room behind it that `judge` writes to, so each thread needs its
    own; None where nothing but k is promised. rare: True where a promise is recursive,
    measures by a hierarchy or has no compiled form, otherwise None. What is None is not
    compiled. Counts are exact: they stay below 2^53.

    behind: where the histograms begin in the rows that `judge` is given.
    """
    if not promise.kind.size:
        return None, None
    close = (promise.kind == CLOSENESS) | (promise.kind == NT_CLOSENESS)
    is_rare = (promise.kind == RECURSIVE) | (promise.kind == PLAIN)
    is_rare |= close & (promise.distance == HIERARCHICAL)
    return _rules(promise, behind), True if is_rare.any() else None


def _rules(promise: PromiseArrays, behind: int) -> NDArray[np.float64]:
    models = promise.kind.size
    rows = np.zeros((models, ROW))
    rows[:, KIND] = promise.kind
    rows[:, LIMIT] = promise.first_number
    rows[:, SECOND] = promise.second_number
    rows[:, BAR] = _bars(promise)
    rows[:, HOW] = promise.distance
    rows[:, LOW] = promise.start[promise.column] + behind
    rows[:, HIGH] = promise.start[promise.column + 1] + behind
    more: list[NDArray[np.generic]] = []
    at = FIRST + rows.size
    for m, (kind, column) in enumerate(zip(promise.kind, promise.column, strict=True)):
        values = slice(promise.start[column], promise.start[column + 1])
        tree = slice(promise.tree_start[column], promise.tree_start[column + 1])
        own: list[NDArray[np.generic]] = []
        if kind == ALPHA:
            own = [promise.marked[m, : values.stop - values.start]]
        elif kind in (CLOSENESS, NT_CLOSENESS):
            own = [promise.reference[values], promise.node[values]]
            own += [promise.tree_parent[tree], promise.tree_height[tree]]
            rows[m, WHOLE] = promise.reference[values].sum()
            rows[m, NODES] = tree.stop - tree.start
        plain = promise.plain[m] if kind == PLAIN else None
        if plain is not None:
            rows[m, LIMIT] = plain.address  # below 2^53, so a float holds it exactly
        rows[m, AT] = at
        more += own
        at += sum(len(part) for part in own)
    scratch = 2 * max(promise.tree_parent.size, promise.reference.size) + 2
    head = np.array([promise.k, models, at], dtype=np.float64)
    return np.concatenate([head, rows.ravel(), *more, np.zeros(scratch)])


def _bars(promise: PromiseArrays) -> NDArray[np.float64]:
    bars = promise.first_number.copy()
    for m, kind in enumerate(promise.kind):
        limit = promise.first_number[m]
        if kind == DISTINCT:
            bars[m] = -limit
        elif kind == ENTROPY:
            bars[m] = SLACK - np.log(limit)
        elif kind == RECURSIVE:  # r1 / tail must stay below c
            bars[m] = np.nextafter(promise.second_number[m], -np.inf)
        elif kind in (CLOSENESS, NT_CLOSENESS):
            bars[m] = limit * (1 + SLACK)
        elif kind == PLAIN:  # the answer is 0 or 1
            bars[m] = 0.5
    return bars


@inner
def judge(rules, rare, records, hist, h):
    """Return whether a class of `records` with histogram hist[h] meets every model.

    rules, rare: as `packed` returns them.
    """
    if records < rules[LEAST]:
        return False
    for m in range(np.int64(rules[MODELS])):
        row = FIRST + ROW * m
        if figure(rules, rare, row, records, hist, h) > rules[row + BAR]:
            return False
    return True


@inner
def figure(rules, rare, row, records, hist, h):
    """Return what a model limits in a class: it holds where that is not above the bar.

    Distinct values and entropy count from above, so they are returned below 0. A class that
    (n,t)-closeness does not ask is at distance 0.
    """
    kind = rules[row + KIND]
    how = rules[row + HOW]
    is_close = kind == CLOSENESS or kind == NT_CLOSENESS
    if kind == NT_CLOSENESS:
        # The class itself, or the whole table, must be the set of n records around it.
        if records >= rules[row + SECOND]:
            return 0.0
        if rules[row + WHOLE] < rules[row + SECOND]:
            return np.inf
    if rare is not None:
        if kind == RECURSIVE:
            return top_share(rules, row, hist, h)
        if kind == PLAIN:
            return plain_answer(rules, row, records, hist, h)
        if is_close and how == HIERARCHICAL:
            return tree_distance(rules, row, records, hist, h)
    low = np.int64(rules[row + LOW])
    high = np.int64(rules[row + HIGH])
    at = np.int64(rules[row + AT]) - low
    found = 0.0
    carried = 0.0
    for v in range(low, high):
        share = hist[h, v] / records
        if is_close:
            whole = rules[at + v] / rules[row + WHOLE]
            carried += share - whole
            if how == ORDERED:
                found += abs(carried)
            elif how == EQUAL:
                found += abs(share - whole)
            elif share + whole > 0:  # chi-square
                found += (share - whole) * (share - whole) / (share + whole)
        elif share > 0:
            if kind == DISTINCT:
                found -= 1.0
            elif kind == ENTROPY:
                found += share * np.log(share)
            elif rules[at + v] > 0 and share > found:  # (α,k) limits this value
                found = share
    if not is_close:
        return found
    if how != ORDERED:
        return found / 2
    return found / (high - low - 1) if high - low > 1 else 0.0


@inner
def top_share(rules, row, hist, h):
    """Return r1 / (r_l + … + r_m), counts sorted from large to small; infinite below l values.

    The l - 1 largest counts are kept in order as they come: l is small, and a
    general sort takes the compiler a second and a half.
    """
    room = np.int64(rules[ROOM])
    most = np.int64(rules[row + LIMIT]) - 1
    kept = 0
    found = 0
    tail = 0.0
    top = 0.0
    for v in range(np.int64(rules[row + LOW]), np.int64(rules[row + HIGH])):
        count = float(hist[h, v])
        if count <= 0.0:
            continue
        found += 1
        if count > top:
            top = count
        tail += count
        i = kept
        while i > 0 and rules[room + i - 1] < count:
            if i < most:
                rules[room + i] = rules[room + i - 1]
            i -= 1
        if i < most:
            rules[room + i] = count
            if kept < most:
                kept += 1
    if found < rules[row + LIMIT]:
        return np.inf
    for i in range(kept):
        tail -= rules[room + i]
    return top / tail  # as the verifier divides, so that both round alike


@inner
def plain_answer(rules, row, records, hist, h):
    """Return 1 if the promise itself refuses the class, else 0."""
    low = np.int64(rules[row + LOW])
    size = np.int64(rules[row + HIGH]) - low
    room = np.int64(rules[ROOM])
    for v in range(size):
        rules[room + v] = hist[h, low + v]
    return ask(np.int64(rules[row + LIMIT]), rules, room, size, np.float64(records))


@inner
def tree_distance(rules, row, records, hist, h):
    """Return the earth mover's distance with height(lowest common ancestor)/H as ground.

    Nodes stand in post-order, so a node's children are done before it is reached.
    A value that is an inner node counts as a leaf of its own below that node.
    """
    low = np.int64(rules[row + LOW])
    size = np.int64(rules[row + HIGH]) - low
    at = np.int64(rules[row + AT])
    nodes = np.int64(rules[row + NODES])
    room = np.int64(rules[ROOM])
    for i in range(2 * nodes):  # the surplus of each node, then the lack of each node
        rules[room + i] = 0.0
    for v in range(size):
        extra = hist[h, low + v] / records - rules[at + v] / rules[row + WHOLE]
        place = room + np.int64(rules[at + size + v])
        if extra > 0:
            rules[place] += extra
        else:
            rules[place + nodes] -= extra
    tree = at + 2 * size
    total = 0.0
    for i in range(nodes):
        surplus = rules[room + i]
        lack = rules[room + nodes + i]
        total += (lack if lack < surplus else surplus) * rules[tree + nodes + i]
        above = np.int64(rules[tree + i])
        if above >= 0:
            if surplus > lack:
                rules[room + above] += surplus - lack
            else:
                rules[room + nodes + above] += lack - surplus
    return total
