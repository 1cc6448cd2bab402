"""Counting the classes of many column sets: the loops behind quasi-identifier search and SUDA.

A set is evaluated by refining a partition of the rows column by column. Sets come
sorted, so neighbours share most of their columns and most of the work. A row that is
already alone is dropped from the partition: no further column can change its share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.cache import kept

WAITING, FOUND, COVERED, LOW = range(4)
"""States of a set: to be evaluated, found, superset of a found one, proven not to be one."""

_TABLE = 1 << 14


class Rows(NamedTuple):
    """Distinct rows for the kernels: codes column by column, and how often each row occurs."""

    codes: NDArray[np.int32]  # int32[columns, rows]
    counts: NDArray[np.int64]  # int64[rows]
    sizes: NDArray[np.int64]  # int64[columns], codes of column j are below sizes[j]
    logs: NDArray[np.float64]  # n * log2(n) for small n


def rows_of(codes: NDArray[np.int32], counts: NDArray[np.int64]) -> Rows:
    """Check coded rows (int32[rows, columns]) and lay them out for the kernels."""
    if codes.dtype != np.int32 or counts.dtype != np.int64:
        raise KernelInputError(problem="codes must be int32 and counts int64")
    if codes.ndim != 2 or counts.shape != (len(codes),) or (counts < 1).any():
        raise KernelInputError(problem="codes and counts do not fit each other")
    if codes.size and codes.min() < 0:  # compiled code does not check bounds
        raise KernelInputError(problem="a code is below 0")
    sizes = codes.max(axis=0).astype(np.int64) + 1 if len(codes) else np.zeros(codes.shape[1])
    small = np.arange(_TABLE, dtype=np.float64)
    small[1:] *= np.log2(small[1:])
    return Rows(np.ascontiguousarray(codes.T), counts, sizes.astype(np.int64), small)


def count_sets(rows: Rows, sets: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return, for each set of columns, Σ n log2 n, the number of classes, and Σ n².

    Args:
        rows: the table.
        sets: int32[sets, size], each ascending; sorted sets share their work.
    """
    if sets.dtype != np.int32 or sets.ndim != 2 or not sets.shape[1]:
        raise KernelInputError(problem="sets must be int32[sets, columns]")
    if sets.size and (sets.min() < 0 or sets.max() >= len(rows.codes)):
        raise KernelInputError(problem="a set names a column that is not there")
    out = np.zeros((len(sets), 3))
    if len(sets) and len(rows.counts):
        evaluate(rows, sets, out)
    return out


def sets_at(
    places: NDArray[np.int64], size: int, *, binomial: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the sets that stand at these places of the colexicographic order.

    Example:
        >>> pascal = np.array([[1, 0, 0], [1, 1, 0], [1, 2, 1], [1, 3, 3]])
        >>> sets_at(np.arange(3), 2, binomial=pascal).tolist()
        [[0, 1], [0, 2], [1, 2]]
    """
    left = places.astype(np.int64)
    out = np.empty((len(places), size), dtype=np.int32)
    for i in range(size, 0, -1):
        top = np.searchsorted(binomial[:, i], left, side="right") - 1
        out[:, i - 1] = top
        left = left - binomial[top, i]
    return out


def mark_unique(rows: Rows, sets: NDArray[np.int32], alone: NDArray[np.uint8]) -> None:
    """Set alone[i, r] = 1 where row r is the only record of its class in set i."""
    if alone.shape != (len(sets), len(rows.counts)) or alone.dtype != np.uint8:
        raise KernelInputError(problem="alone must be uint8[sets, rows]")
    if sets.dtype != np.int32 or (sets.size and sets.max() >= len(rows.codes)):
        raise KernelInputError(problem="a set names a column that is not there")
    if len(sets) and len(rows.counts):
        unique_rows(rows, sets, alone)


@kept(nogil=True)
def weight_log(n, logs):
    """Return n log2 n."""
    if n < logs.size:
        return logs[n]
    return n * np.log2(float(n))


@kept(nogil=True)
def refine(rows, j, order, starts, groups, tally, place, touched, new_order, new_starts, sums):
    """Split every group by column j; rows that end up alone leave, and are added to sums.

    Groups are runs of `order`. Returns the number of groups that are left.
    """
    codes, counts, logs = rows.codes[j], rows.counts, rows.logs
    made = 0
    end_of_all = 0
    for g in range(groups):
        begin, end = starts[g], starts[g + 1]
        seen = 0
        for i in range(begin, end):
            c = codes[order[i]]
            if tally[c] == 0:
                touched[seen] = c
                seen += 1
            tally[c] += 1
        # A counting sort within the group; a code that stands alone gets no place.
        for t in range(seen):
            c = touched[t]
            if tally[c] == 1:
                place[c] = -1
            else:
                place[c] = end_of_all
                new_starts[made] = end_of_all
                made += 1
                end_of_all += tally[c]
            tally[c] = 0
        for i in range(begin, end):
            r = order[i]
            c = codes[r]
            if place[c] >= 0:
                new_order[place[c]] = r
                place[c] += 1
            else:
                sums[0] += weight_log(counts[r], logs)
                sums[1] += 1
                sums[2] += float(counts[r]) * counts[r]
    new_starts[made] = end_of_all
    return made


@kept(nogil=True)
def count_last(rows, j, order, starts, groups, weight, touched, sums):
    """Add to sums what the groups come to when split by column j; nothing is moved."""
    codes, counts, logs = rows.codes[j], rows.counts, rows.logs
    for g in range(groups):
        seen = 0
        for i in range(starts[g], starts[g + 1]):
            r = order[i]
            c = codes[r]
            if weight[c] == 0:
                touched[seen] = c
                seen += 1
            weight[c] += counts[r]
        for t in range(seen):
            n = weight[touched[t]]
            weight[touched[t]] = 0
            sums[0] += weight_log(n, logs)
            sums[2] += float(n) * n
        sums[1] += seen


@kept(nogil=True)
def evaluate(rows, sets, out):
    """Fill out[i] with Σ n log2 n, classes and Σ n² of set i."""
    n = rows.counts.size
    size = sets.shape[1]
    widest = 1
    for j in range(rows.sizes.size):
        widest = max(widest, rows.sizes[j])
    orders = np.empty((size, n), dtype=np.int32)
    starts = np.empty((size, n + 1), dtype=np.int64)
    groups = np.zeros(size, dtype=np.int64)
    sums = np.zeros((size, 3))
    tally = np.zeros(widest, dtype=np.int32)
    place = np.zeros(widest, dtype=np.int64)
    weight = np.zeros(widest, dtype=np.int64)
    touched = np.empty(widest, dtype=np.int32)
    for r in range(n):
        orders[0, r] = r
    starts[0, 0] = 0
    starts[0, 1] = n
    groups[0] = 1
    for i in range(len(sets)):
        # Sets come sorted: the partition by the columns shared with the last one still stands.
        shared = 0
        if i > 0:
            while shared < size - 1 and sets[i, shared] == sets[i - 1, shared]:
                shared += 1
        for depth in range(shared, size - 1):
            for part in range(3):  # element by element: array assignment doubles compile time
                sums[depth + 1, part] = sums[depth, part]
            groups[depth + 1] = refine(
                rows, sets[i, depth], orders[depth], starts[depth], groups[depth],
                tally, place, touched, orders[depth + 1], starts[depth + 1], sums[depth + 1],
            )  # fmt: skip
        last = size - 1
        for part in range(3):
            out[i, part] = sums[last, part]
        count_last(
            rows, sets[i, last], orders[last], starts[last], groups[last], weight, touched, out[i]
        )


@kept(nogil=True)
def unique_rows(rows, sets, alone):
    """Mark in alone[i] the rows that are the only record of their class in set i."""
    n = rows.counts.size
    widest = 1
    for j in range(rows.sizes.size):
        widest = max(widest, rows.sizes[j])
    order = np.empty(n, dtype=np.int32)
    starts = np.empty(n + 1, dtype=np.int64)
    other_order = np.empty(n, dtype=np.int32)
    other_starts = np.empty(n + 1, dtype=np.int64)
    sums = np.zeros(3)
    tally = np.zeros(widest, dtype=np.int32)
    place = np.zeros(widest, dtype=np.int64)
    touched = np.empty(widest, dtype=np.int32)
    for i in range(len(sets)):
        for r in range(n):
            order[r] = r
            alone[i, r] = rows.counts[r] == 1
        starts[0] = 0
        starts[1] = n
        groups = 1 if n > 1 else 0
        for depth in range(sets.shape[1]):
            if sets[i, depth] < 0:  # shorter sets are filled up with -1
                break
            groups = refine(
                rows, sets[i, depth], order, starts, groups,
                tally, place, touched, other_order, other_starts, sums,
            )  # fmt: skip
            order, other_order = other_order, order
            starts, other_starts = other_starts, starts
        # Who still shares a group is not alone.
        for g in range(groups):
            for t in range(starts[g], starts[g + 1]):
                alone[i, order[t]] = 0


@kept(nogil=True)
def rank_without(columns, size, skip, other, binomial):
    """Return the place of a set without two of its members in the order of all such sets."""
    place = 0
    at = 0
    for i in range(size):
        if i != skip and i != other:
            at += 1
            place += binomial[columns[i], at]
    return place


@kept(nogil=True)
def next_level(
    size: int,
    binomial: NDArray[np.int64],
    pairs: NDArray[np.float64],
    goal: float,
    before: NDArray[np.float64],
    before_exact: NDArray[np.bool_],
    before_state: NDArray[np.int8],
    two: NDArray[np.float64],
    two_exact: NDArray[np.bool_],
    bound: NDArray[np.float64],
    state: NDArray[np.int8],
) -> None:
    """Judge every set of `size` columns by what is known of its subsets.

    Sets stand in colexicographic order. A set with a found or covered subset is COVERED.
    Entropy is submodular: H(S) <= H(S - i) + H(i | S - i - j) for every i and j, so an
    upper bound needs only smaller sets; a set whose bound stays under the goal is LOW and
    need not be looked at. Everything else is WAITING.

    pairs[i, a] is H(i | a); before, before_exact and before_state tell the entropy (or its
    bound) of the sets of size - 1, two and two_exact that of the sets of size - 2; bound
    and state are filled for each set of `size`.
    """
    chosen = np.arange(size)
    total = bound.size
    for at in range(total):
        covered = False
        for i in range(size):
            known = before_state[rank_without(chosen, size, i, i, binomial)]
            if known == FOUND or known == COVERED:
                covered = True
                break
        if covered:
            state[at] = COVERED
            bound[at] = 0.0
        else:
            # Submodularity, for every order in which the set could have grown.
            best = np.inf
            for i in range(size):
                rest = before[rank_without(chosen, size, i, i, binomial)]
                add = np.inf
                for j in range(size):
                    if j == i:
                        continue
                    add = min(add, pairs[chosen[i], chosen[j]])
                    with_i = rank_without(chosen, size, j, j, binomial)
                    without = rank_without(chosen, size, i, j, binomial)
                    if size > 2 and before_exact[with_i] and two_exact[without]:
                        add = min(add, before[with_i] - two[without])
                best = min(best, rest + add)
            bound[at] = best
            state[at] = LOW if best < goal else WAITING
        # the next set in colexicographic order
        i = 0
        while i < size - 1 and chosen[i] + 1 == chosen[i + 1]:
            chosen[i] = i
            i += 1
        chosen[i] += 1
