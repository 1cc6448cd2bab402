"""Split: a balanced bucket is cut into balanced classes where the loss falls most [xiao2007].

The records of each value are sorted by one column; a cut takes as many of the first ones of every
value, so that both parts are balanced. Every column and every cut is weighed by the loss of the two
boxes that it leaves, in all columns at once, as `bestcut` does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering.space import FULL, KIND, LINE, MISSING, SIZE, START, TABLE, Space

Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]


class Layers(NamedTuple):
    """A balanced set of records.

    Attributes:
        places: int64[values, layers], which record holds which value in which layer.
        codes: int32[records, columns]; of a counterfeit, those of a record that it stands beside.
        is_real: bool[records].
    """

    places: Numbers
    codes: Codes
    is_real: NDArray[np.bool_]


def cut(bucket: Layers, space: Space, *, k: int) -> list[Numbers]:
    """Cut a bucket into classes of at least k real records; return the records of each.

    Guarantee:
        In every class each value is held by equally many records, and no cut that makes the
        loss smaller is left.
    """
    found: list[Numbers] = []
    waiting = [bucket.places]
    while waiting:
        places = waiting.pop()
        halves = _halves(places, bucket, space, k=k)
        if halves is None:
            found.append(places.ravel())
        else:
            waiting += reversed(halves)
    return found


def _halves(
    places: Numbers, bucket: Layers, space: Space, *, k: int
) -> tuple[Numbers, Numbers] | None:
    """Return the two parts of the best cut; None where no cut is allowed, or makes anything less.

    The loss that is compared leaves out the number of values: it is the same in all cuts.
    """
    layers = places.shape[1]
    if int(bucket.is_real[places].sum()) < 2 * k or layers < 2:
        return None
    first = np.arange(1, layers)
    codes = bucket.codes[places].reshape(-1, bucket.codes.shape[1])
    best = int(losses(space, codes.min(axis=0)[None], codes.max(axis=0)[None])[0]) * layers
    found = None
    for column in range(bucket.codes.shape[1]):
        own = bucket.codes[places, column]
        if own.min() == own.max():
            continue
        ordered = np.take_along_axis(places, np.argsort(own, axis=1, kind="stable"), axis=1)
        real = np.cumsum(bucket.is_real[ordered].sum(axis=0))
        allowed = (real[:-1] >= k) & (real[-1] - real[:-1] >= k)
        if not allowed.any():
            continue
        lost = _lost(bucket.codes[ordered], space, first)
        lost[~allowed] = best
        at = int(lost.argmin())
        if lost[at] < best:
            best = int(lost[at])
            found = (ordered[:, : at + 1], ordered[:, at + 1 :])
    return found


def _lost(codes: Codes, space: Space, first: Numbers) -> Numbers:
    """Return, for each cut, the loss of both boxes, each times its layers.

    codes: int32[values, layers, columns], sorted by the column that is cut.
    """
    low, high = codes.min(axis=0), codes.max(axis=0)
    left = losses(space, np.minimum.accumulate(low)[:-1], np.maximum.accumulate(high)[:-1])
    right = losses(
        space,
        np.minimum.accumulate(low[::-1])[::-1][1:],
        np.maximum.accumulate(high[::-1])[::-1][1:],
    )
    return left * first + right * (len(first) + 1 - first)


def losses(space: Space, low: Codes, high: Codes) -> Numbers:
    """Return the loss of boxes, summed over their columns.

    low, high: int32[boxes, columns].

    Law:
        As `kernels.clustering.losses.cost` has it, for many boxes at a time.
    """
    total = np.zeros(len(low), dtype=np.int64)
    for j, facts in enumerate(space.column):
        total += _cost(space, facts, low[:, j].astype(np.int64), high[:, j].astype(np.int64))
    return total


def _cost(space: Space, facts: Numbers, low: Numbers, high: Numbers) -> Numbers:
    start, size = int(facts[START]), int(facts[SIZE])
    if facts[KIND] == TABLE:
        return np.asarray(space.flat[start + low * size + high], dtype=np.int64)
    if facts[KIND] == LINE:
        lost = (space.flat[start + high] - space.flat[start + low]).astype(np.int64)
        if facts[MISSING]:
            lost[(low == 0) & (high > 0)] = facts[FULL]
        return lost
    level = np.maximum(space.log[high - low], 0)
    base = start + (level + 1) * size
    left = space.flat[base + low]
    right = space.flat[base + np.maximum(high - (1 << level), 0)]
    return np.where(low == high, space.flat[start + low], np.maximum(left, right)).astype(np.int64)
