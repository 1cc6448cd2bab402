"""The loop of MDAV for values with a meaning ([veltmann2022], Algorithm 1) and its variants."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.helpers import lean, lean_outer
from shoal.kernels.microaggregation.semantic import (
    CODES,
    COUNT,
    PLACE,
    Semantics,
    apart,
    centre,
    scratch_of,
)

ROW, LABEL, RECORDS = range(3)
SHIFT = 10  # distances lose their last digits before they are squared, so that nothing overflows


def grow(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    *,
    k: int,
    semantics: Semantics,
    whole: bool,
    moving: bool,
    generic: bool = False,
    absorb: bool = False,
) -> NDArray[np.int64]:
    """Return the clusters as int64[pieces, 3]: tuple, cluster, records.

    Args:
        codes: int32[tuples, columns], all different.
        counts: records of each tuple.
        k: records of a cluster, at least.
        semantics: the distances.
        whole: a tuple is never divided, and its distances are multiplied by its records.
        moving: the centroid of a cluster is found anew whenever it grows.
        generic: at least 3k records for two clusters at once, at least 2k for another one,
            and the rest becomes a cluster. Otherwise clusters are made while k records are
            left, and what is left then goes to the nearest cluster.
        absorb: clusters without any tuple of k records are dissolved into clusters that have
            one, where that makes the squared distances smaller.
    """
    tuples, columns = codes.shape
    records = int(counts.sum())
    if counts.shape != (tuples,) or columns != len(semantics.column):
        raise KernelInputError(problem="codes, counts and columns do not fit each other")
    if records * max(columns, 1) >= 2**32:
        raise KernelInputError(problem="more records than the sums of distances can hold")
    pieces = np.empty((tuples if whole else records, 3), dtype=np.int64)
    most = max(min(records // max(k, 1), len(pieces)), 1) + 1
    longest = max(int(semantics.column[:, CODES].max(initial=0)), min(k, records)) + 1
    found = semantic_mdav(
        codes, counts.copy(), k, whole, moving, generic, absorb, *semantics, pieces,
        np.empty((most, columns), dtype=np.int64), np.empty((most, 2), dtype=np.int64),
        np.arange(tuples), np.zeros(int(semantics.column[:, CODES].sum()), dtype=np.int64),
        np.empty((2, longest), dtype=np.int64), *scratch_of(semantics),
    )  # fmt: skip
    return pieces[:found]


@lean
def distance_to(codes, t, goal, column, flat):
    """Return the distance of tuple t from a tuple of places."""
    total = np.int64(0)
    for j in range(goal.size):
        total += apart(column, flat, j, goal[j], flat[column[j, PLACE] + codes[t, j]])
    return total


@lean
def furthest(codes, left, line, n, goal, sign, whole, column, flat):
    """Return the tuple with the largest distance (sign 1), or the smallest one (sign -1)."""
    best = np.int64(-1)
    most = np.int64(0)
    for i in range(n):
        t = line[i]
        if left[t] == 0:
            continue
        value = sign * distance_to(codes, t, goal, column, flat)
        if whole:
            value *= left[t]
        if best < 0 or value > most:
            best = t
            most = value
    return best


@lean
def middle_of_rest(hist, goal, column, flat, lists, sums, listed):
    """Fill `goal` with the centroid of everything that `hist` counts."""
    for j in range(goal.size):
        n = np.int64(0)
        start = column[j, COUNT]
        for code in range(column[j, CODES]):
            if hist[start + code] > 0:
                lists[0, n] = flat[column[j, PLACE] + code]
                lists[1, n] = hist[start + code]
                n += 1
        goal[j], _ = centre(column, flat, j, lists[0], lists[1], n, sums, listed)


@lean
def form(
    seed, codes, left, line, n, k, whole, moving, column, flat,
    pieces, found, label, goal, hist, lists, sums, listed,
):  # fmt: skip
    """Make a cluster around a tuple; return the number of pieces then, and the cluster's size."""
    begin = found
    size = np.int64(0)
    t = seed
    for j in range(goal.size):
        goal[j] = flat[column[j, PLACE] + codes[seed, j]]
    while True:
        moved = left[t] if whole else np.int64(1)
        if not whole and found - begin <= 1 and t == seed:
            moved = min(left[t], k - size)  # copies of the only member change no centroid
        left[t] -= moved
        size += moved
        for j in range(goal.size):
            hist[column[j, COUNT] + codes[t, j]] -= moved
        # A tuple's records stand in one piece of a cluster.
        at = begin
        while at < found and pieces[at, ROW] != t:
            at += 1
        if at == found:
            pieces[at, ROW] = t
            pieces[at, LABEL] = label
            pieces[at, RECORDS] = 0
            found += 1
        pieces[at, RECORDS] += moved
        is_same = True
        if moving and found - begin > 1:
            for j in range(goal.size):
                for i in range(begin, found):
                    lists[0, i - begin] = flat[column[j, PLACE] + codes[pieces[i, ROW], j]]
                    lists[1, i - begin] = pieces[i, RECORDS]
                new, _ = centre(column, flat, j, lists[0], lists[1], found - begin, sums, listed)
                if new != goal[j]:
                    is_same = False
                    goal[j] = new
        if size >= k:
            return found, size
        if left[t] == 0 or not is_same:  # else a copy of the last member is nearest again
            t = furthest(codes, left, line, n, goal, np.int64(-1), whole, column, flat)


@lean
def nearest(codes, t, clusters, goals, facts, state, column, flat):
    """Return the nearest cluster of such a state at least, and how far it is.

    facts: int64[clusters, 2]: where its pieces begin; 0 dissolved, 1 standing, 2 large.
    """
    best = np.int64(-1)
    least = np.int64(0)
    for c in range(clusters):
        if facts[c, 1] < state:
            continue
        value = distance_to(codes, t, goals[c], column, flat)
        if best < 0 or value < least:
            best = c
            least = value
    return best, least


@lean
def dissolve(codes, k, pieces, found, clusters, goals, facts, column, flat):
    """Give the tuples of small clusters to the large ones, where that loses less."""
    for c in range(clusters):
        end = facts[c + 1, 0] if c + 1 < clusters else found
        facts[c, 1] = 1
        for i in range(facts[c, 0], end):
            if pieces[i, RECORDS] >= k:
                facts[c, 1] = 2
    for c in range(clusters):
        if facts[c, 1] == 2:
            continue
        end = facts[c + 1, 0] if c + 1 < clusters else found
        gain = np.int64(0)
        for i in range(facts[c, 0], end):
            t = pieces[i, ROW]
            own = distance_to(codes, t, goals[c], column, flat) >> SHIFT
            other, far = nearest(codes, t, clusters, goals, facts, np.int64(2), column, flat)
            if other < 0:
                return
            far = far >> SHIFT
            gain += pieces[i, RECORDS] * (own * own - far * far)
            pieces[i, LABEL] = other
        if gain > 0:
            facts[c, 1] = 0
        else:
            for i in range(facts[c, 0], end):
                pieces[i, LABEL] = c


@lean_outer
def semantic_mdav(
    codes, left, k, whole, moving, generic, absorb, column, flat,
    pieces, goals, facts, line, hist, lists, sums, listed,
):  # fmt: skip
    """Make clusters until too few records are left; return the number of pieces.

    goals, facts: the centroid of each cluster; where its pieces begin, and its state.
    line: the tuples that are left, ascending. hist: records left of each code.
    """
    columns = codes.shape[1]
    n = left.size
    rest = np.int64(0)
    for t in range(n):
        rest += left[t]
        for j in range(columns):
            hist[column[j, COUNT] + codes[t, j]] += left[t]
    found = np.int64(0)
    clusters = np.int64(0)
    while rest >= (2 * k if generic else k):
        is_double = not generic or rest >= 3 * k
        middle_of_rest(hist, goals[clusters], column, flat, lists, sums, listed)
        seed = furthest(codes, left, line, n, goals[clusters], np.int64(1), whole, column, flat)
        for turn in range(2):
            if turn == 1:
                if not is_double or rest < k:
                    break
                goal = goals[clusters]
                for j in range(columns):
                    goal[j] = flat[column[j, PLACE] + codes[seed, j]]
                seed = furthest(codes, left, line, n, goal, np.int64(1), whole, column, flat)
            facts[clusters, 0] = found
            facts[clusters, 1] = 1
            found, size = form(
                seed, codes, left, line, n, k, whole, moving, column, flat,
                pieces, found, clusters, goals[clusters], hist, lists, sums, listed,
            )  # fmt: skip
            rest -= size
            clusters += 1
            # Tuples without records leave the list, the others keep their order.
            kept = 0
            for i in range(n):
                if left[line[i]] > 0:
                    line[kept] = line[i]
                    kept += 1
            n = kept
    # Only now is it known which clusters hold a tuple that needs no other.
    if absorb:
        dissolve(codes, k, pieces, found, clusters, goals, facts, column, flat)
    for i in range(n):
        t = line[i]
        label = clusters
        if not generic and clusters > 0:
            label, _ = nearest(codes, t, clusters, goals, facts, np.int64(1), column, flat)
        pieces[found, ROW] = t
        pieces[found, LABEL] = label
        pieces[found, RECORDS] = left[t]
        found += 1
    return found
