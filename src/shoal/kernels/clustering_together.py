"""All clusters grown at once (seed 000, Algorithm 2), and the seeds that they grow from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering_space import FULL, KIND, LINE, MISSING, SIZE, START, TABLE, Space
from shoal.kernels.helpers import lean, lean_outer

WISHES = 16


def far_apart(
    codes: NDArray[np.int32], group: NDArray[np.int64], *, space: Space, number: int, first: int
) -> NDArray[np.int64]:
    """Return `number` records with large distances between each other.

    After the first one, each next record has the largest sum of distances to those before
    it, among one candidate a group: the group's first record that is left.

    Args:
        codes: int32[records, columns].
        group: the group of each record, 0 … g-1; records of a group stand together.
        space: the losses.
        number: how many.
        first: the first record.
    """
    if not 0 <= first < len(codes) or number > len(codes) or len(group) != len(codes):
        raise KernelInputError(problem="the first record or the number is outside its range")
    starts = np.searchsorted(group, np.arange(int(group.max()) + 2)).astype(np.int64)
    chosen = np.empty(number, dtype=np.int64)
    chosen[0] = first
    spread(
        np.ascontiguousarray(codes), starts, space.column, space.flat, space.log, chosen,
        np.zeros(len(codes), dtype=np.bool_), starts[:-1].copy(),
        np.full(len(starts) - 1, -1, dtype=np.int64),
    )  # fmt: skip
    return chosen


def grow_together(
    codes: NDArray[np.int32],
    seeds: NDArray[np.int64],
    *,
    space: Space,
    k: int,
    target: NDArray[np.int64] | None = None,
    penalty: int = 0,
) -> NDArray[np.int64]:
    """Return the cluster of each record, -1 for those that are left over.

    In each round every cluster below k names the record that makes its loss grow least. A
    record that several clusters want goes to the one that grows least by it, of equals to
    the one with the lowest number; the others wait for the next round.
    """
    label = np.full(len(codes), -1, dtype=np.int64)
    label[seeds] = np.arange(len(seeds))
    columns = codes.shape[1]
    none = np.zeros(0, dtype=np.int64)
    classes = 0 if target is None else int(target.max()) + 1
    together(
        np.ascontiguousarray(codes), seeds.astype(np.int64), space.column, space.flat, space.log,
        k, none if target is None else target.astype(np.int64), penalty, label,
        codes[seeds].astype(np.int64).reshape(-1, columns),
        codes[seeds].astype(np.int64).reshape(-1, columns),
        np.ones(len(seeds), dtype=np.int64),
        np.zeros((len(seeds), classes), dtype=np.int64),
        np.full((len(seeds), WISHES), -1, dtype=np.int64),
        np.zeros((len(seeds), WISHES), dtype=np.int64), np.empty(len(seeds), dtype=np.int64),
        np.flatnonzero(label < 0),
    )  # fmt: skip
    return label


@lean
def cost(column, flat, log, j, low, high):
    """Return the loss of codes low … high of column j."""
    kind = column[j, KIND]
    start = column[j, START]
    if kind == TABLE:
        return np.int64(flat[start + low * column[j, SIZE] + high])
    if kind == LINE:
        if low == 0 and high > 0 and column[j, MISSING] == 1:
            return column[j, FULL]
        return np.int64(flat[start + high]) - flat[start + low]
    if low == high:
        return np.int64(flat[start + low])
    level = log[high - low]
    base = start + (level + 1) * column[j, SIZE]
    return np.int64(max(flat[base + low], flat[base + high - (1 << level)]))


@lean_outer
def spread(codes, starts, column, flat, log, chosen, taken, candidate, total):
    """Choose records far from each other; `total` holds the candidates' sums, -1: unknown."""
    columns = codes.shape[1]
    taken[chosen[0]] = True
    for n in range(1, chosen.size):
        best = np.int64(-1)
        for g in range(starts.size - 1):
            at = candidate[g]
            while at < starts[g + 1] and taken[at]:
                at += 1
                total[g] = -1
            candidate[g] = at
            if at == starts[g + 1]:
                continue
            begin = n - 1
            if total[g] < 0:
                total[g] = 0
                begin = 0
            for other in range(begin, n):
                for c in range(columns):
                    a = np.int64(codes[at, c])
                    b = np.int64(codes[chosen[other], c])
                    total[g] += cost(column, flat, log, c, min(a, b), max(a, b))
            if best < 0 or total[g] > total[best]:
                best = np.int64(g)
        chosen[n] = candidate[best]
        taken[candidate[best]] = True


@lean
def wishes(codes, column, flat, log, target, penalty, major, b, low, high, size, left, remaining,
           wish, growth):  # fmt: skip
    """List the records by which a cluster grows least, best first; -1 ends a short list."""
    columns = codes.shape[1]
    found = 0
    last = wish.shape[1] - 1
    for r in range(remaining):
        i = left[r]
        loss = np.int64(0)
        if target.size > 0 and target[i] != major:
            loss += penalty
        for c in range(columns):
            code = np.int64(codes[i, c])
            first = min(low[b, c], code)
            loss += (size + 1) * cost(column, flat, log, c, first, max(high[b, c], code))
            if found > last and loss >= growth[b, last]:
                break
        if found > last and loss >= growth[b, last]:
            continue
        at = min(found, last)
        found = min(found + 1, last + 1)
        while at > 0 and growth[b, at - 1] > loss:
            growth[b, at] = growth[b, at - 1]
            wish[b, at] = wish[b, at - 1]
            at -= 1
        growth[b, at] = loss
        wish[b, at] = i
    if found <= last:
        wish[b, found] = -1


@lean_outer
def together(
    codes, seeds, column, flat, log, k, target, penalty, label, low, high, sizes, histogram,
    wish, growth, turn, left,
):  # fmt: skip
    """Grow all clusters until each has k records or none is left.

    A cluster that goes away empty-handed has not changed, so its list of wishes holds for
    the next round too.
    """
    columns = codes.shape[1]
    clusters = seeds.size
    classes = histogram.shape[1]
    for b in range(clusters):
        turn[b] = -1  # no list
        if classes > 0:
            histogram[b, target[seeds[b]]] = 1
    remaining = left.size
    while remaining > 0:
        hungry = False
        for b in range(clusters):
            if sizes[b] >= k:
                continue
            hungry = True
            while 0 <= turn[b] < wish.shape[1] and wish[b, turn[b]] >= 0:
                if label[wish[b, turn[b]]] == -1:
                    break
                turn[b] += 1
            if turn[b] < 0 or turn[b] == wish.shape[1] or wish[b, turn[b]] < 0:
                major = 0
                for v in range(1, classes):
                    if histogram[b, v] > histogram[b, major]:
                        major = v
                wishes(
                    codes, column, flat, log, target, penalty, major, b, low, high, sizes[b],
                    left, remaining, wish, growth,
                )  # fmt: skip
                old = np.int64(0)
                for c in range(columns):
                    old += cost(column, flat, log, c, low[b, c], high[b, c])
                for n in range(wish.shape[1]):
                    growth[b, n] -= sizes[b] * old
                turn[b] = 0
        if not hungry:
            break
        for b in range(clusters):  # label -2 - b: promised to cluster b in this round
            if sizes[b] < k:
                i = wish[b, turn[b]]
                rival = -2 - label[i]
                if label[i] == -1 or growth[b, turn[b]] < growth[rival, turn[rival]]:
                    label[i] = -2 - b
        kept = 0
        for r in range(remaining):
            i = left[r]
            if label[i] == -1:
                left[kept] = i
                kept += 1
                continue
            b = -2 - label[i]
            label[i] = b
            sizes[b] += 1
            turn[b] = -1
            if classes > 0:
                histogram[b, target[i]] += 1
            for c in range(columns):
                code = np.int64(codes[i, c])
                low[b, c] = min(low[b, c], code)
                high[b, c] = max(high[b, c], code)
        remaining = kept
