"""Mondrian for values with a meaning: cut at the centroid's value, or at the widest gap.

Distinct tuples lie in a list in which the tuples of one part are neighbours; parts wait on a
stack. A column of a part is the list of its different values in the column's order, each with
its records.
"""

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

CODE, ORDER, WHERE, WEIGHT = range(4)


def split(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    *,
    k: int,
    semantics: Semantics,
    rank: NDArray[np.int64],
    gaps: bool,
    persist: bool,
) -> NDArray[np.int64]:
    """Return the class of each tuple.

    Args:
        codes: int32[tuples, columns], all different.
        counts: records of each tuple.
        k: records of a class, at least.
        semantics: the distances.
        rank: where each code stands in the order of its column, columns behind each other.
        gaps: cut between neighbours, not at the centroid; see `find_cut`.
        persist: try every cut; see `find_cut`.
    """
    tuples, columns = codes.shape
    if counts.shape != (tuples,) or columns != len(semantics.column):
        raise KernelInputError(problem="codes, counts and columns do not fit each other")
    if rank.shape != (int(semantics.column[:, CODES].sum()),):
        raise KernelInputError(problem="the order does not fit the columns")
    if int(counts.sum()) * max(columns, 1) >= 2**32:
        raise KernelInputError(problem="more records than the sums of distances can hold")
    longest = int(semantics.column[:, CODES].max(initial=0))
    label = np.full(tuples, -1, dtype=np.int64)
    cut_semantically(
        codes, counts, k, gaps, persist, *semantics, rank, label, np.arange(tuples),
        np.empty((2, tuples + 1), dtype=np.int64), np.empty((4, longest + 1), dtype=np.int64),
        np.zeros(len(rank), dtype=np.int64), np.empty(columns, dtype=np.int64),
        *scratch_of(semantics),
    )  # fmt: skip
    return label


@lean
def sift(keys, root, n):
    """Let a key sink in a heap until no child is larger."""
    key = keys[root]
    child = 2 * root + 1
    while child < n:
        if child + 1 < n and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        keys[root] = keys[child]
        root = child
        child = 2 * root + 1
    keys[root] = key


@lean
def list_values(codes, counts, line, begin, end, j, column, flat, rank, hist, values):
    """Fill `values` with the part's different values of column j, in order; return their number."""
    start = column[j, COUNT]
    n = np.int64(0)
    order = values[ORDER]
    for i in range(begin, end):
        code = start + codes[line[i], j]
        if hist[code] == 0:
            order[n] = rank[code] << 32 | codes[line[i], j]
            n += 1
        hist[code] += counts[line[i]]
    # A heap sort: NumPy's own takes the compiler two seconds.
    for root in range(n // 2 - 1, -1, -1):
        sift(order, root, n)
    for last in range(n - 1, 0, -1):
        order[0], order[last] = order[last], order[0]
        sift(order, last - last, last)
    for i in range(n):
        code = order[i] & 0xFFFFFFFF
        values[CODE, i] = code
        values[WHERE, i] = flat[column[j, PLACE] + code]
        values[WEIGHT, i] = hist[start + code]
        hist[start + code] = 0
    return n


@lean
def find_cut(column, flat, j, values, n, k, weight, goal, gaps, persist):
    """Return how many values lie before the cut; 0: none is allowed.

    gaps: between the two neighbours that are furthest apart. Otherwise: before the value that
    is nearest to the centroid or, if a side has fewer than k records then, after it.
    persist: the best of all cuts that leave k records on both sides; otherwise only the best
    of all is looked at, whether it is allowed or not. Of equals the most even one, then the
    first: without that a column of many equal gaps would be cut value by value.
    """
    found = False
    cut = np.int64(0)
    most = np.int64(0)
    even = np.int64(0)
    upto = np.int64(0)
    for i in range(n):
        left = upto
        here = np.int64(i)
        upto += values[WEIGHT, i]
        if gaps:
            if i == 0:
                continue
            value = apart(column, flat, j, values[WHERE, i - 1], values[WHERE, i])
        else:
            value = -apart(column, flat, j, goal, values[WHERE, i])
            if left < k or weight - left < k:
                left = upto
                here += 1
        is_allowed = left >= k and weight - left >= k
        if persist and not is_allowed:
            continue
        uneven = abs(2 * left - weight)
        if not found or value > most or (value == most and uneven < even):
            found = True
            most = value
            even = uneven
            cut = here if is_allowed else np.int64(0)
    return cut


@lean_outer
def cut_semantically(
    codes, counts, k, gaps, persist, column, flat, rank, label, line, stack, values, hist, costs,
    sums, listed,
):  # fmt: skip
    """Cut until nothing more may be cut; fill `label`.

    stack: int64[2, …]: where each waiting part begins; a list to divide a part in.
    costs: int64[columns], the sum of distances from the centroid, -1 when tried.
    """
    columns = codes.shape[1]
    begins = stack[0]
    other = stack[1]
    begins[0] = 0
    depth = np.int64(1)
    end = np.int64(line.size)
    classes = np.int64(0)
    while depth > 0 and end > 0:
        begin = begins[depth - 1]
        weight = np.int64(0)
        for i in range(begin, end):
            weight += counts[line[i]]
        cut = np.int64(0)
        # The column whose values are furthest from their centroid is cut first.
        if weight >= 2 * k:
            for attempt in range(2 * columns):  # first every column's cost, then the cuts
                j = np.int64(attempt)
                if attempt >= columns:
                    j = np.int64(0)
                    for c in range(1, columns):  # the first of equals
                        if costs[c] > costs[j]:
                            j = np.int64(c)
                    if costs[j] <= 0:
                        break
                n = list_values(
                    codes, counts, line, begin, end, j, column, flat, rank, hist, values
                )
                goal, cost = centre(column, flat, j, values[WHERE], values[WEIGHT], n, sums, listed)
                if attempt < columns:
                    costs[j] = cost
                    continue
                costs[j] = -1
                cut = find_cut(column, flat, j, values, n, k, weight, goal, gaps, persist)
                if cut > 0:
                    limit = values[ORDER, cut] >> 32
                    start = column[j, COUNT]
                    kept = begin
                    moved = np.int64(0)
                    for i in range(begin, end):
                        t = line[i]
                        if rank[start + codes[t, j]] < limit:
                            line[kept] = t
                            kept += 1
                        else:
                            other[moved] = t
                            moved += 1
                    for i in range(moved):
                        line[kept + i] = other[i]
                    begins[depth] = kept
                    depth += 1
                    break
        if cut == 0:
            for i in range(begin, end):
                label[line[i]] = classes
            classes += 1
            end = begin
            depth -= 1
