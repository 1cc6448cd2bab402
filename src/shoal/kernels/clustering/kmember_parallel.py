"""All clusters grown at once ([netshiunda2020], Algorithm 2 and Figure 3.1), on tuples with counts.

What one cluster wishes for depends on nothing but itself and what is left when a round begins:
so clusters are looked at in blocks, in as many threads as there are, with the same result.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.losses import FACTS, cost, packed
from shoal.kernels.clustering.space import FULL, Space
from shoal.kernels.helpers import lean, lean_outer

WISHES = 16
"""Wishes that a cluster lists at a time: it seldom gets its first one."""
BLOCK = 1 << 18
"""Pairs of a cluster and a tuple that are worth a thread."""


class Growing(NamedTuple):
    """Clusters below k: their boxes, sizes, the classes of their members, and their wishes.

    `turn` is the wish whose turn it is (-1: there is no list), `growth` what it makes them lose.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    sizes: NDArray[np.int64]
    histogram: NDArray[np.int64]
    wish: NDArray[np.int64]
    turn: NDArray[np.int64]
    growth: NDArray[np.int64]


def far_apart(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    group: NDArray[np.int64],
    *,
    space: Space,
    number: int,
    k: int,
    first: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return `number` seeds with large distances between each other, and the records of each.

    After the first one, each next seed has the largest sum of distances to those before it,
    among one candidate a group: the group's first tuple that is left. As long as there are
    tuples of k records, these alone are candidates, and a seed takes k: a whole cluster.

    Args:
        codes: int32[tuples, columns].
        counts: records of each tuple.
        group: the group of each tuple, 0 … g-1.
        space: the losses.
        number: how many seeds; at most one for every k records.
        k: records of a cluster.
        first: the tuple of the first seed.
    """
    if not 0 <= first < len(codes) or number * k > counts.sum() or len(group) != len(codes):
        raise KernelInputError(problem="the first seed or the number is outside its range")
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(int(group.max()) + 2)).astype(np.int64)
    chosen = np.empty(number, dtype=np.int64)
    taken = np.empty(number, dtype=np.int64)
    chosen[0] = first
    spread(
        np.ascontiguousarray(codes), counts.copy(), k, order, starts, packed(space), chosen,
        taken, starts[:-1].copy(),
        np.full(len(starts) - 1, -1, dtype=np.int64),
    )  # fmt: skip
    return chosen, taken


def grow_together(
    codes: NDArray[np.int32],
    left: NDArray[np.int64],
    growing: Growing,
    *,
    space: Space,
    k: int,
    target: NDArray[np.int64] | None = None,
    penalty: int = 0,
    pool: Executor | None = None,
    threads: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Let clusters grow to k records; return the tuples that were given out, and to whom.

    In each round every cluster below k names the tuple that makes its loss least. A tuple
    that several name goes to as many of them as it has records, those first that grow least
    by it (of equals the first); the others wait for the next round.

    Args:
        codes: int32[tuples, columns].
        left: records of each tuple that are left; changed here.
        growing: the clusters; changed here.
        space: the losses.
        k: records of a cluster.
        target: class of each tuple, for the penalty.
        penalty: see `kmember`.
        pool: where blocks of clusters are looked at.
        threads: into how many blocks they are cut.
    """
    codes, losses = np.ascontiguousarray(codes), packed(space)
    kinds = np.zeros(0, dtype=np.int64) if target is None else target.astype(np.int64)
    missing = int((k - growing.sizes).sum())
    given = np.empty((2, missing), dtype=np.int64)
    done = 0
    hungry = np.flatnonzero(growing.sizes < k)
    while len(hungry) and done < missing:
        live = np.flatnonzero(left)
        if not len(live):
            break
        state = (live, left, *growing)
        rest: tuple[object, ...] = (codes, losses, kinds, penalty, *state)
        pairs = len(hungry) * len(live)
        if pool is None or threads < 2 or pairs < BLOCK:
            list_wishes(hungry, *rest)
        else:
            parts = np.array_split(hungry, min(4 * threads, pairs // BLOCK + 1))
            for part in [pool.submit(list_wishes, some, *rest) for some in parts]:
                part.result()
        # Of those that wish for the same tuple, the one that grows least by it comes first.
        turns = hungry[np.argsort(growing.growth[hungry], kind="stable")]
        done = give(turns, codes, kinds, left, *growing, given, done)
        hungry = hungry[growing.sizes[hungry] < k]
    return given[0, :done], given[1, :done]


@lean_outer
def spread(codes, left, k, order, starts, losses, chosen, taken, candidate, total):
    """Choose tuples far from each other; `total` holds the candidates' sums, -1: unknown."""
    columns = codes.shape[1]
    need = np.int64(k)
    n = np.int64(0)
    while n < chosen.size:
        best = np.int64(-1)
        for g in range(starts.size - 1 if n > 0 else 0):
            at = candidate[g]
            while at < starts[g + 1] and left[order[at]] < need:
                at += 1
                total[g] = -1
            candidate[g] = at
            if at == starts[g + 1]:
                continue
            # A candidate that was one before needs the distance to the last seed only.
            begin = n - 1
            if total[g] < 0:
                total[g] = 0
                begin = 0
            for other in range(begin, n):
                for c in range(columns):
                    a = np.int64(codes[order[at], c])
                    b = np.int64(codes[chosen[other], c])
                    total[g] += cost(losses, c, min(a, b), max(a, b))
            if best < 0 or total[g] > total[best]:
                best = np.int64(g)
        if n > 0 and best < 0:  # from here on clusters need records of several tuples
            need = np.int64(1)
            for g in range(starts.size - 1):
                candidate[g] = starts[g]
                total[g] = -1
            continue
        if n > 0:
            chosen[n] = order[candidate[best]]
        u = chosen[n]
        taken[n] = k if left[u] >= k else 1
        left[u] -= taken[n]
        n += 1


@lean
def listed(codes, losses, target, penalty, live, low, high, sizes, wish, b, major,
           everything):  # fmt: skip
    """List the tuples by which a cluster loses least, best first; -1 ends a short list."""
    last = wish.shape[1] // 2 - 1
    found = 0
    for r in range(live.size):
        i = live[r]
        # What cannot enter the list need not be added up to the end.
        worst = wish[b, 2 * last + 1] if found > last else np.iinfo(np.int64).max
        limit = worst // (sizes[b] + 1)
        loss = np.int64(0)
        for c in range(codes.shape[1]):
            code = np.int64(codes[i, c])
            loss += cost(losses, c, min(low[b, c], code), max(high[b, c], code))
            if loss > limit:
                break
        is_odd = target.size > 0 and (target[i] != major or loss == everything)
        loss *= sizes[b] + 1
        if is_odd:
            loss += penalty
        if loss >= worst:
            continue
        at = min(found, last)
        found = min(found + 1, last + 1)
        while at > 0 and wish[b, last + at] > loss:
            wish[b, last + 1 + at] = wish[b, last + at]
            wish[b, at] = wish[b, at - 1]
            at -= 1
        wish[b, last + 1 + at] = loss
        wish[b, at] = i
    if found <= last:
        wish[b, found] = -1


@lean_outer
def list_wishes(hungry, codes, losses, target, penalty, live, left, low, high, sizes,
         histogram, wish, turn, growth):  # fmt: skip
    """Turn to the first wish that is left, and list the wishes of clusters that have none.

    A cluster that went away empty-handed has not changed, so its list still holds.
    """
    columns = codes.shape[1]
    last = wish.shape[1] // 2 - 1  # tuples in the first half, their losses in the second
    everything = np.int64(0)
    for c in range(columns):
        everything += losses[FACTS * c + FULL]
    for h in range(hungry.size):
        b = hungry[h]
        while 0 <= turn[b] <= last and wish[b, turn[b]] >= 0 and left[wish[b, turn[b]]] == 0:
            turn[b] += 1
        if not 0 <= turn[b] <= last or wish[b, turn[b]] < 0:
            major = 0
            for v in range(1, histogram.shape[1]):
                if histogram[b, v] > histogram[b, major]:
                    major = v
            listed(
                codes, losses, target, penalty, live, low, high, sizes, wish, b, major,
                everything,
            )  # fmt: skip
            turn[b] = 0
        before = np.int64(0)
        for c in range(columns):
            before += cost(losses, c, low[b, c], high[b, c])
        growth[b] = wish[b, last + 1 + turn[b]] - sizes[b] * before


@lean_outer
def give(
    hungry, codes, target, left, low, high, sizes, histogram, wish, turn, growth, given, done,
):  # fmt: skip
    """Give each cluster its wish, in order, as long as there is some of it; return how many."""
    for h in range(hungry.size):
        b = hungry[h]
        i = wish[b, turn[b]]
        if left[i] == 0 or done == given.shape[1]:
            continue
        left[i] -= 1
        sizes[b] += 1
        turn[b] = -1
        given[0, done] = i
        given[1, done] = b
        done += 1
        if target.size > 0:
            histogram[b, target[i]] += 1
        for c in range(codes.shape[1]):
            code = np.int64(codes[i, c])
            low[b, c] = min(low[b, c], code)
            high[b, c] = max(high[b, c], code)
    return done
