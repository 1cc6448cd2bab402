"""Cuts that weigh what a class says of a target: InfoGain Mondrian, with the loss beside it.

A cut is worth the information that it gains about the target, in bits of all records of the part,
less what chance gives to the best of many cuts, plus so many bits for what the boxes of its two
sides lose less than the box of the part. A part is cut where that is most, as long as it is
anything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.helpers import inner, outer

CHANCE = 2.0
"""Bits that the best of many cuts gains by chance; less is nothing. (Adult, k = 10: AUC of what is
drawn .886 with 2, .882 with 0.)"""


def cut_by_information(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    target: NDArray[np.int64],
    place: NDArray[np.float64],
    *,
    missing: NDArray[np.bool_],
    k: int,
    weight: float,
) -> NDArray[np.int64]:
    """Return the class of each row, 0 … classes - 1.

    Args:
        codes: of the quasi-identifiers.
        counts: records per row.
        target: the group of the target of each row, 0, 1 …
        place: float64[columns, codes], where each code stands, from 0 to 1, rising.
        missing: of each column, whether its code 0 is the missing value, which no interval has.
        k: the fewest records of a class.
        weight: bits that a record's whole column is worth.

    Guarantee:
        Every class has k records if there are so many. Equal rows may be cut apart by nothing.
    """
    rows, columns = codes.shape
    if codes.dtype != np.int32 or len(counts) != rows or len(target) != rows:
        raise KernelInputError(problem="codes must be int32, and each row has a count and a target")
    if len(place) != columns or len(missing) != columns or (rows and target.min() < 0):
        raise KernelInputError(problem="places and columns do not fit each other")
    label = np.zeros(rows, dtype=np.int64)
    if rows and columns:
        groups = int(target.max()) + 1
        work = np.zeros((place.shape[1], groups))
        cut_parts(
            codes, counts.astype(np.float64), target, place, missing, float(k), weight, label,
            work, np.zeros((2, groups)), np.arange(rows), np.zeros(rows + 1, dtype=np.int64),
            np.zeros(4),
        )  # fmt: skip
    return label


@inner
def disorder(held):
    """Return the bits that are not known of the records of a part: n times the entropy."""
    total = 0.0
    known = 0.0
    for each in held:
        if each > 0.0:
            total += each
            known += each * np.log2(each)
    return total * np.log2(total) - known if total > 0.0 else 0.0


@inner
def width(place, missing, low, high):
    """Return what a record loses in a column whose box runs from low to high."""
    if low == high:
        return 0.0
    if missing and low == 0:
        return 1.0
    return place[high] - place[low]


@inner
def tally(codes, counts, target, ids, begin, end, j, work):
    """Count the records of each code and target; return the first and the last code."""
    low = np.int64(codes[ids[begin], j])
    high = low
    for i in range(begin, end):
        at = ids[i]
        code = np.int64(codes[at, j])
        low = min(low, code)
        high = max(high, code)
        work[code, target[at]] += counts[at]
    return low, high


@inner
def best_of_column(place, missing, k, weight, low, high, j, work, sides, best):
    """Weigh every cut of a column; note the best one: its worth, the column, its last code."""
    left, right = sides[0], sides[1]
    left[:] = 0.0
    right[:] = 0.0
    for code in range(low, high + 1):
        right += work[code]
    whole = right.sum()
    unknown = disorder(right)
    lost = width(place, missing, low, high) * whole
    last = low
    for code in range(low, high):
        if work[code].sum() > 0.0:
            last = code
            left += work[code]
            right -= work[code]
        if left.sum() < k or work[code + 1].sum() == 0.0:
            continue
        if right.sum() < k:
            break
        gain = max(unknown - disorder(left) - disorder(right) - CHANCE, 0.0)
        less = lost - width(place, missing, low, last) * left.sum()
        less -= width(place, missing, code + 1, high) * right.sum()
        worth = gain + weight * less
        if worth > best[0] + 1e-9:
            best[0], best[1], best[2] = worth, j, last


@inner
def divide(codes, ids, begin, end, j, last):
    """Put the rows up to a code in front of the others; return where these begin."""
    i = begin
    back = end - 1
    while i <= back:
        if codes[ids[i], j] <= last:
            i += 1
        else:
            ids[i], ids[back] = ids[back], ids[i]
            back -= 1
    return i


@outer
def cut_parts(
    codes, counts, target, place, missing, k, weight, label, work, sides, ids, ends, best
):  # fmt: skip
    """Cut the rows until no cut is worth anything; `ends` is where the parts that wait end."""
    depth, begin, number = 1, 0, 0
    ends[0] = len(ids)
    while depth > 0:
        end = ends[depth - 1]
        best[0], best[1] = 0.0, -1.0
        for j in range(codes.shape[1]):
            low, high = tally(codes, counts, target, ids, begin, end, j, work)
            best_of_column(place[j], missing[j], k, weight, low, high, j, work, sides, best)
            work[low : high + 1] = 0.0
        if best[1] < 0.0:
            for i in range(begin, end):
                label[ids[i]] = number
            number += 1
            begin = end
            depth -= 1
            continue
        ends[depth] = divide(codes, ids, begin, end, int(best[1]), int(best[2]))
        depth += 1
    return number
