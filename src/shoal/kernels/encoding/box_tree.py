"""Which class covers a tuple, for very many classes: a tree of boxes instead of a set a value.

Sets of classes (`class_sets`) take a bit for each pair of a value and a class. Here a class
takes its box, and the tree about as much again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.helpers import inner, outer

LEAF = 8  # classes of a leaf
GROUP = 32  # tuples that are looked for together


class BoxTree(NamedTuple):
    """Classes as boxes of codes, near ones together, and a tree over them.

    A node stands before all nodes below it, so that a walk needs no memory.

    Attributes:
        number: int64[classes], the number of each class.
        low, high: int32[classes, columns], what it covers.
        runs: int64[classes, columns], where the list of its runs of codes begins in
            `run_low` and `run_high`; -1 where the box says it all.
        run_low, run_high: int32, runs of codes; a list ends where `run_low` is -1.
        begin, end: int64[nodes], the classes of a leaf; nothing for other nodes.
        after: int64[nodes], the next node that is not below this one.
        least: int64[nodes], the lowest number in a node.
        node_low, node_high: int32[nodes, columns], the box around all that is in it.
    """

    number: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    runs: NDArray[np.int64]
    run_low: NDArray[np.int32]
    run_high: NDArray[np.int32]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    after: NDArray[np.int64]
    least: NDArray[np.int64]
    node_low: NDArray[np.int32]
    node_high: NDArray[np.int32]


def box_tree(
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    runs: NDArray[np.int64],
    run_ends: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> BoxTree:
    """Return the tree of classes; one with an empty box (low above high) is left out.

    The arguments are those of `BoxTree`; run_ends: `run_low` and `run_high`.
    """
    order = np.flatnonzero((low <= high).all(axis=1))
    middle = low.astype(np.int64) + high
    width = np.maximum(high.max(axis=0, initial=0).astype(np.float64), 1.0)
    begin, end, after = [], [], []
    waiting = [(0, len(order), -1)] if len(order) else []
    spans: list[tuple[int, int]] = []
    parents: list[int] = []
    while waiting:
        first, last, parent = waiting.pop()
        node = len(spans)
        spans.append((first, last))
        parents.append(parent)
        is_leaf = last - first <= LEAF
        begin.append(first)
        end.append(last if is_leaf else first)
        after.append(node + 1)
        if is_leaf:
            continue
        # Halved where the boxes' middles spread most, as a k-d tree is.
        mine = middle[order[first:last]]
        column = int(((mine.max(axis=0) - mine.min(axis=0)) / width).argmax())
        half = (last - first) // 2
        order[first:last] = order[first:last][np.argpartition(mine[:, column], half)]
        waiting += [(first + half, last, node), (first, first + half, node)]
    for node in range(len(spans) - 1, 0, -1):  # nodes below come behind
        parent = parents[node]
        after[parent] = max(after[parent], after[node])
    number = order.astype(np.int64)
    low, high = low[order], high[order]
    columns = low.shape[1]
    least = np.empty(len(spans), dtype=np.int64)
    node_low, node_high = (np.empty((len(spans), columns), dtype=np.int32) for _ in range(2))
    for node, (first, last) in enumerate(spans):
        least[node] = number[first:last].min()
        node_low[node] = low[first:last].min(axis=0)
        node_high[node] = high[first:last].max(axis=0)
    return BoxTree(
        number, low, high, runs[order], *run_ends,
        begin=np.array(begin, dtype=np.int64), end=np.array(end, dtype=np.int64),
        after=np.array(after, dtype=np.int64), least=least,
        node_low=node_low, node_high=node_high,
    )  # fmt: skip


def first_box(
    codes: NDArray[np.int32],
    tree: BoxTree,
    allowed: NDArray[np.bool_],
    likely: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return, for each tuple, the lowest class that covers it; -1 if none does.

    Args:
        codes: int32[tuples, columns].
        tree: of the classes.
        allowed: bool[classes], those that may be taken.
        likely: a class that probably covers the tuple, or did; None, or -1: nobody knows one.
            Tuples of one class are near each other, so that they are looked for together.
    """
    if likely is None:
        likely = np.full(len(codes), -1, dtype=np.int64)
    place = np.full(len(allowed) + 1, -1, dtype=np.int64)  # of a class among those of the tree
    place[tree.number] = np.arange(len(tree.number))
    own = place[likely]
    order = np.argsort(own, kind="stable")
    ordered = own[order]
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (ordered[1:] != ordered[:-1]) | (ordered[1:] < 0)
    first = np.flatnonzero(fresh)
    within = np.arange(len(order)) - first[np.cumsum(fresh) - 1]
    starts = np.append(np.flatnonzero(within % GROUP == 0), len(order))
    found = np.empty(len(codes), dtype=np.int64)
    edges = np.empty((2, codes.shape[1]), dtype=np.int32)
    codes = np.ascontiguousarray(codes[order])
    _first_box(codes, tree, allowed, ordered, starts, edges, found)
    answer = np.empty_like(found)
    answer[order] = found
    return answer


@inner
def _covers(tree, c, codes, i):
    """Return whether a class covers a tuple."""
    for j in range(codes.shape[1]):
        code = codes[i, j]
        if code < tree.low[c, j] or tree.high[c, j] < code:
            return False
        at = tree.runs[c, j]
        if at >= 0:
            inside = False
            while tree.run_low[at] >= 0 and not inside:
                inside = tree.run_low[at] <= code and code <= tree.run_high[at]
                at += 1
            if not inside:
                return False
    return True


@inner
def _meets(low, high, at, edges):
    """Return whether a box meets the box around a group of tuples."""
    for j in range(edges.shape[1]):
        if low[at, j] > edges[1, j] or edges[0, j] > high[at, j]:
            return False
    return True


@inner
def _look_at_own(codes, tree, allowed, own, begin, end, edges, found):
    """Put each tuple of a group into its likely class, and the edges around all of them."""
    worst = 0
    for i in range(begin, end):
        at = own[i]
        found[i] = allowed.shape[0]
        if at >= 0 and allowed[tree.number[at]] and _covers(tree, at, codes, i):
            found[i] = tree.number[at]
        worst = max(worst, found[i])
        for j in range(codes.shape[1]):
            code = codes[i, j]
            edges[0, j] = code if i == begin else min(edges[0, j], code)
            edges[1, j] = code if i == begin else max(edges[1, j], code)
    return worst


@outer
def _first_box(codes, tree, allowed, own, starts, edges, found):
    nodes = tree.after.shape[0]
    for group in range(starts.shape[0] - 1):
        begin = starts[group]
        end = starts[group + 1]
        # The highest class of the group: what is not below it is of no use.
        worst = _look_at_own(codes, tree, allowed, own, begin, end, edges, found)
        node = 0
        while node < nodes:
            # Nothing in this node can cover a tuple by a lower number: skip all below it.
            if tree.least[node] >= worst or not _meets(tree.node_low, tree.node_high, node, edges):
                node = tree.after[node]
                continue
            for c in range(tree.begin[node], tree.end[node]):
                number = tree.number[c]
                if number >= worst or not allowed[number]:
                    continue
                if not _meets(tree.low, tree.high, c, edges):
                    continue
                worst = 0
                for i in range(begin, end):
                    if number < found[i] and _covers(tree, c, codes, i):
                        found[i] = number
                    worst = max(worst, found[i])
            node += 1
        for i in range(begin, end):
            if found[i] == allowed.shape[0]:
                found[i] = -1


def covering_boxes(
    codes: NDArray[np.int32], tree: BoxTree, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every class that covers each tuple, of classes that have no runs.

    Those of tuple i are ``found[starts[i]:starts[i + 1]]``: at most `most`, and one more where
    there are more than that.

    Args:
        codes: int32[tuples, columns].
        tree: of the classes.
        most: classes of one tuple that are named.
    """
    codes = np.ascontiguousarray(codes)
    starts = np.zeros(len(codes) + 1, dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64)
    _covering_boxes(codes, tree, starts, nothing, most + 1, True)
    np.cumsum(starts, out=starts)
    found = np.empty(starts[-1], dtype=np.int64)
    _covering_boxes(codes, tree, starts, found, most + 1, False)
    return starts, found


@outer
def _covering_boxes(codes, tree, starts, found, most, is_counting):
    columns = codes.shape[1]
    nodes = tree.after.shape[0]
    for i in range(codes.shape[0]):
        number = 0
        node = 0
        while node < nodes and number < most:
            inside = True
            j = 0
            while inside and j < columns:
                code = codes[i, j]
                inside = tree.node_low[node, j] <= code and code <= tree.node_high[node, j]
                j += 1
            if not inside:
                node = tree.after[node]
                continue
            for c in range(tree.begin[node], tree.end[node]):
                covers = number < most
                j = 0
                while covers and j < columns:
                    code = codes[i, j]
                    covers = tree.low[c, j] <= code and code <= tree.high[c, j]
                    j += 1
                if covers:
                    if not is_counting:
                        found[starts[i] + number] = tree.number[c]
                    number += 1
            node += 1
        if is_counting:
            starts[i + 1] = number
