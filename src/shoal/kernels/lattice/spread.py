"""Do the classes of a node keep a promise about sensitive values, and how many records fail?

Apart from `classes`, so that a promise of k-anonymity alone never compiles the judge.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.axes import ALPHA, DISTINCT, ENTROPY, NT_CLOSENESS, RECURSIVE, PromiseArrays
from shoal.kernels.helpers import inner, outer
from shoal.kernels.judge import (
    BAR,
    FIRST,
    HIGH,
    KIND,
    LEAST,
    LIMIT,
    LOW,
    MODELS,
    ROW,
    SECOND,
    figure,
    packed,
)
from shoal.kernels.lattice.classes import Classes


def judge_spread(
    source: Classes,
    label: NDArray[np.uint32],
    sizes: NDArray[np.int64],
    promise: PromiseArrays,
    farthest: NDArray[np.float64],
    budget: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
    """Merge the sensitive values class by class and judge each class as it is complete.

    farthest: per model, the largest distance that any records can have from the table.

    Returns `due` as `sum_up` takes it, and first, value and amount of the new classes.
    Judging stops when more than `budget` records are due.
    """
    found = sizes.size
    due = np.zeros(found, dtype=np.int64)
    first = np.zeros(found + 1, dtype=np.int64)
    value = np.empty(source.value.size, dtype=np.uint32)
    amount = np.empty(source.value.size, dtype=np.int64)
    entries = merge(
        source.first, source.value, source.amount, label, sizes, *packed(promise), farthest, budget,
        np.zeros(found + 2, dtype=np.int64), np.empty(label.size, dtype=np.uint32),
        np.zeros((1, promise.reference.size), dtype=np.int64),
        due, first, value, amount,
    )  # fmt: skip
    return due, first, value[:entries].copy(), amount[:entries].copy()


@outer
def merge(
    old_first, old_value, old_amount, label, sizes, rules, rare, farthest, budget, begin, order,
    hist, due, first, value, amount,
):  # fmt: skip
    """Fill the arrays of `judge_spread`; return how many entries there are."""
    rows = label.size
    found = sizes.size
    for g in range(rows):
        begin[label[g] + 2] += 1
    for c in range(2, found + 2):
        begin[c] += begin[c - 1]
    for g in range(rows):
        order[begin[label[g] + 1]] = g
        begin[label[g] + 1] += 1
    # Old classes sorted by the new one, so that each histogram is filled and judged at once.
    least = rules[LEAST]
    entries = 0
    total = 0
    for c in range(found):
        base = entries
        for i in range(begin[c], begin[c + 1]):
            g = order[i]
            for e in range(old_first[g], old_first[g + 1]):
                v = old_value[e]
                if hist[0, v] == 0:
                    value[entries] = v
                    entries += 1
                hist[0, v] += old_amount[e]
        if sizes[c] < least:
            due[c] = sizes[c]
        elif total <= budget:
            due[c] = due_of(rules, rare, sizes[c], hist, farthest)
        total += due[c]
        for e in range(base, entries):
            amount[e] = hist[0, value[e]]
            hist[0, value[e]] = 0
        first[c + 1] = entries
    return entries


@inner
def due_of(rules, rare, records, hist, farthest):
    """Return 0 if a class holds, else how many of its records fail at every finer node too.

    At a finer node, the classes that hold and are parts of this one hold together too (all
    models are closed under union), so the question is how many records must go before the
    rest holds. Too few distinct values: all. Distances d are convex: with a share s
    gone, d(class) <= (1 - s) t + s·farthest. Entropy is concave and at least 0. For
    recursive (c,l) no value may keep more than c times the tail, which only shrinks.

    Whether it holds is decided as `judge` does.
    """
    most = 0.0
    for m in range(np.int64(rules[MODELS])):
        row = FIRST + ROW * m
        kind = rules[row + KIND]
        limit = rules[row + LIMIT]
        found = figure(rules, rare, row, records, hist, 0)
        if found <= rules[row + BAR]:
            continue
        # At least one record must go; how many more is known for each measure.
        gone = 1.0
        if kind == DISTINCT or (found == np.inf and kind == NT_CLOSENESS):
            return records
        if kind == ENTROPY:
            gone = records * (1 + found / np.log(limit))
        elif kind == RECURSIVE:
            gone = above_tail(rules, row, hist)
        elif kind == ALPHA:
            gone = records * (found - limit) / (1 - limit)
        elif farthest[m] > limit:
            gone = records * (found - limit) / (farthest[m] - limit)
        most = max(most, gone, 1.0)
    # Less a little: a bound that is rounded up by mistake would hide a solution.
    return min(records, np.int64(np.ceil(most - 1e-6)))


@inner
def above_tail(rules, row, hist):
    """Return the records above c times the tail r_l + … + r_m, summed over the values.

    The tail is at most what the largest value leaves, so for l > 2 the bound is weaker
    than it could be, but needs no sorting.
    """
    low = np.int64(rules[row + LOW])
    high = np.int64(rules[row + HIGH])
    total = 0.0
    top = 0.0
    for v in range(low, high):
        total += hist[0, v]
        top = max(top, float(hist[0, v]))
    tail = total - top if rules[row + LIMIT] >= 2 else total
    gone = 0.0
    for v in range(low, high):
        gone += max(hist[0, v] - rules[row + SECOND] * tail, 0.0)
    return gone
