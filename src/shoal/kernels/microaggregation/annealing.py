"""Annealing on the sum of squared errors: records move, swap and pull, groups come and go.

A step takes a random record and a random row near it, and weighs one of these changes:

    move      the record goes to the group of the near one, if enough records stay behind
    swap      it changes places with a random member of that group
    pull      it moves, and a third group with records to spare fills its place
    dissolve  all members of its group go where each adds least
    new       it and the records nearest to it that can be spared become a group

A change that adds less than a random limit is made; the limits shrink with the heat. No
change ever leaves a group with fewer than k records. Sums of points are exact (see
`methods.microaggregation.points`), so that a change and its opposite leave no trace.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.helpers import lean, lean_outer

TINY = 1e-12
"""What a change must gain at least when nothing may be lost: more than rounding errors."""


class Crowd(NamedTuple):
    """The records that may move, and the rows they belong to.

    Attributes:
        at: float64[records, columns], the points; records of a row lie behind each other.
        row: int64[records].
        first: int64[rows + 1], the first record of each row.
        core: int64[rows], the group that the immovable records of a row are in; -1: none.
        held: int64[groups], immovable records of groups 0 … g-1, at the places `base`.
        base: float64[groups, columns].
        near: int32[rows, …], each row itself, then the rows near it.
        scale: float64[records], how much a change of a record may lose at heat 1.
    """

    at: NDArray[np.float64]
    row: NDArray[np.int64]
    first: NDArray[np.int64]
    core: NDArray[np.int64]
    held: NDArray[np.int64]
    base: NDArray[np.float64]
    near: NDArray[np.int32]
    scale: NDArray[np.float64]


def anneal(
    crowd: Crowd,
    label: NDArray[np.int64],
    *,
    k: int,
    steps: int,
    heat: tuple[float, float],
    chance: np.random.Generator,
) -> tuple[NDArray[np.int64], float]:
    """Return the records' groups after some steps, and the sum of squared errors.

    Args:
        crowd: the records.
        label: group of each record to begin with.
        k: least records of a group.
        steps: how many changes are weighed; the last eighth of them must gain.
        heat: at the beginning and at the end, in units of `crowd.scale`.
        chance: where the random numbers come from.

    Guarantee:
        If every group had at least k records, it still has, or has none. A group has at most
        2k - 1 records that may move.
    """
    records, columns = crowd.at.shape
    if label.shape != (records,) or crowd.row.shape != (records,) or k < 2:
        raise KernelInputError(problem="records, labels and k do not fit each other")
    cores = len(crowd.held)
    groups = max(int(label.max(initial=-1)) + 1, cores, records // k + cores) + 1
    movable = np.bincount(label, minlength=groups)
    if movable.max() > 2 * k - 1:
        raise KernelInputError(problem="a group must not have 2k or more records that may move")
    held = np.zeros(groups, dtype=np.int64)
    held[:cores] = crowd.held
    total = np.zeros((groups, columns))
    total[:cores] = crowd.base * crowd.held[:, None]
    for c in range(columns):
        total[:, c] += np.bincount(label, weights=crowd.at[:, c], minlength=groups)
    numbers = np.stack((movable + held, movable), axis=1)
    mean = total / np.maximum(numbers[:, :1], 1)
    members = np.zeros((groups, 2 * k), dtype=np.int64)  # one more for the midst of a swap
    order = np.argsort(label, kind="stable")
    slot = np.empty(records, dtype=np.int64)
    slot[order] = np.arange(records) - (np.cumsum(movable) - movable)[label[order]]
    members[label, slot] = np.arange(records)
    empty = np.flatnonzero(numbers[:, 0] == 0)
    free = np.zeros(groups + 1, dtype=np.int64)
    free[0], free[1 : 1 + len(empty)] = len(empty), empty
    place = np.stack((crowd.row, slot, label))
    rows = np.stack((crowd.first, np.append(crowd.core, -1)))
    error = _error(crowd, label, mean)
    own = ((crowd.at - mean[label]) ** 2).sum(axis=1)
    state = chance.integers(1, 2**63, 1).astype(np.uint64)
    fall = 0.0
    if records and groups > 1:
        fall = simulated_annealing(
            crowd.at, place, rows, crowd.near, np.concatenate((numbers, members), axis=1),
            total, mean, own, crowd.scale, free, np.empty(2 * k, dtype=np.int64), state,
            np.array([k, steps]),
            np.array([heat[0], (heat[1] / heat[0]) ** (1024 / max(steps - steps // 8, 1))]),
        )  # fmt: skip
    return place[2], error - float(fall)


def _error(crowd: Crowd, label: NDArray[np.int64], mean: NDArray[np.float64]) -> float:
    """Return the sum of squared errors."""
    moving = float(((crowd.at - mean[label]) ** 2).sum())
    still = ((crowd.base - mean[: len(crowd.held)]) ** 2).sum(axis=1)
    return moving + float((still * crowd.held).sum())


def cut(at: NDArray[np.float64], *, k: int) -> NDArray[np.int64]:
    """Return the groups of points along a path that have the least error.

    Guarantee:
        Groups are runs of k to 2k - 1 points, numbered along the path, and no other such
        runs have a smaller sum of squared errors.

    Raises:
        KernelInputError: there are fewer than k points.
    """
    size, columns = at.shape
    if size < k or k < 1:
        raise KernelInputError(problem="a path must have at least k points")
    # error[end, j]: of the 2k - 1 - j points before `end`. Growing all runs by one point at
    # a time needs no compiled loop, which would cost a first run a third of a second.
    most = 2 * k - 1
    error = np.full((size + 1, k), np.inf)
    total = np.zeros((size, columns))
    grown: NDArray[np.float64] = np.zeros(size)
    for length in range(1, min(most, size) + 1):
        starts = size - length + 1
        added = at[length - 1 :]
        if length > 1:
            gaps = added - total[:starts] / (length - 1)
            grown = grown[:starts] + (gaps**2).sum(axis=1) * ((length - 1) / length)
        total = total[:starts] + added
        if length >= k:
            error[length:, most - length] = grown
    best = np.full(size + 1, np.inf)
    best[0] = 0.0
    before = np.zeros(size + 1, dtype=np.int64)
    for end in range(k, size + 1):
        low = max(end - most, 0)
        sums = best[low : end - k + 1] + error[end, low - end + most :]
        before[end] = low + sums.argmin()
        best[end] = sums[before[end] - low]
    marks = np.zeros(size, dtype=np.int64)
    end = size
    while end > 0:
        end = int(before[end])
        marks[end] = 1
    return np.cumsum(marks) - 1


@lean
def gap(at, i, mean, g):
    """Return the squared distance of two points."""
    total = 0.0
    for c in range(at.shape[1]):
        here = at[i, c] - mean[g, c]
        total += here * here
    return total


@lean
def growth(at, i, total, size, g, change):
    """Return how the error of group g grows with record i (change 1) or falls without (-1)."""
    if size + change == 0:
        return 0.0
    error = 0.0
    for c in range(at.shape[1]):
        here = at[i, c] - total[g, c] / size
        error += here * here
    return error * size / (size + change)


@lean
def shift(at, place, groups, total, i, g):
    """Put record i into group g."""
    a = place[2, i]
    last = groups[a, 1] - 1
    other = groups[a, 2 + last]
    groups[a, 2 + place[1, i]] = other
    place[1, other] = place[1, i]
    groups[a, 0] -= 1
    groups[a, 1] = last
    place[2, i] = g
    place[1, i] = groups[g, 1]
    groups[g, 2 + groups[g, 1]] = i
    groups[g, 0] += 1
    groups[g, 1] += 1
    for c in range(at.shape[1]):
        total[a, c] -= at[i, c]
        total[g, c] += at[i, c]


@lean
def renew(at, groups, total, mean, own, g):
    """Renew the mean of a group and its members' distances from it."""
    if groups[g, 0] == 0:
        return
    for c in range(at.shape[1]):
        mean[g, c] = total[g, c] / groups[g, 0]
    for m in range(groups[g, 1]):
        i = groups[g, 2 + m]
        own[i] = gap(at, i, mean, g)


@lean
def dice(state, sides):
    """Return a random whole number below `sides` (xorshift64*)."""
    s = state[0]
    s ^= s >> np.uint64(12)
    s ^= s << np.uint64(25)
    s ^= s >> np.uint64(27)
    state[0] = s
    return np.int64((s * np.uint64(2685821657736338717)) >> np.uint64(33)) * sides >> 31


@lean
def dissolve(at, place, rows, near, groups, total, own, a, limit):
    """Send the members of group a where each adds least; return the growth of the error.

    Undone, with an infinite growth, if it adds more than the limit. Those who left stay
    listed behind the members that are left.
    """
    one = np.int64(1)
    size = groups[a, 1]
    delta = 0.0
    for m in range(size):
        delta -= own[groups[a, 2 + m]]
    while groups[a, 1] > 0:
        i = groups[a, 2]
        least = np.inf
        best = a
        for q in range(near.shape[1]):
            r = near[place[0, i], q]
            for side in range(2):
                g = rows[1, r]
                if side == 0 and rows[0, r] < rows[0, r + 1]:
                    g = place[2, rows[0, r]]
                if g >= 0 and g != a and groups[g, 1] < groups.shape[1] - 3:
                    more = growth(at, i, total, groups[g, 0], g, one)
                    if more < least:
                        least = more
                        best = g
        # Members leave one by one, and each sees where those before it went.
        delta += least
        if not delta < limit:
            for m in range(groups[a, 1], size):
                shift(at, place, groups, total, groups[a, 2 + m], a)
            return np.inf
        shift(at, place, groups, total, i, best)
        groups[a, 2 + groups[a, 1]] = i
    return delta


@lean
def gather(at, place, rows, near, groups, total, log, i, e, k, limit):
    """Fill the empty group e with record i and the k - 1 near it that can be spared.

    Returns the growth of the error; undone, with an infinite one, if that exceeds the limit.
    log: the groups they came from.
    """
    delta = 0.0
    for c in range(at.shape[1]):
        total[e, c] = 0.0
    for q in range(near.shape[1]):
        r = near[place[0, i], q]
        for t in range(rows[0, r] - (1 if q == 0 else 0), rows[0, r + 1]):
            z = i if t < rows[0, r] else t
            g = place[2, z]
            taken = groups[e, 0]
            if taken == k or groups[g, 0] <= k:
                continue
            for side in range(2):
                here = g if side == 0 else e
                change = np.int64(2 * side - 1)
                sign = np.float64(change)
                if groups[here, 0] > 0:
                    delta += sign * growth(at, z, total, groups[here, 0], here, change)
            log[taken] = g
            shift(at, place, groups, total, z, e)
    if groups[e, 0] == k and delta < limit:
        return delta
    while groups[e, 0] > 0:
        last = groups[e, 0] - 1
        shift(at, place, groups, total, groups[e, 2 + last], log[last])
    return np.inf


@lean_outer
def simulated_annealing(
    at, place, rows, near, groups, total, mean, own, scale, free, log, state, plan, heats
):  # fmt: skip
    """Anneal; return by how much the error fell.

    place: int64[3, records], each record's row, its slot in its group, and its group.
    rows: int64[2, rows + 1], each row's first record, and the group of its core (-1: none).
    groups: int64[groups, …], number of records, of those that may move, and these themselves.
    free: how many groups are empty, then their numbers. log: room for 2k numbers.
    plan: k, steps. heats: the first, and what 1024 steps leave of it.
    """
    k, steps = plan[0], plan[1]
    records = np.int64(at.shape[0])
    choices = np.int64(near.shape[1])
    lot = np.int64(1) << 30
    most = groups.shape[1] - 3
    come_and_go = choices > k or choices == rows.shape[1] - 1  # otherwise groups would only go
    heat = heats[0]
    fall = 0.0
    for step in range(steps):
        # The heat falls in steps: a power every time would cost more than the change it steers.
        if step & 1023 == 1023:
            heat *= heats[1]
        if step == steps - steps // 8:
            heat = 0.0
        i = dice(state, records)
        a = place[2, i]
        kind = dice(state, np.int64(256))
        # Metropolis: a random limit instead of a random choice for each change.
        limit = -heat * scale[i] * np.log((dice(state, lot) + 1.0) / lot) - TINY * scale[i]
        delta = np.inf
        changed = 0
        if kind < 6:
            # Groups come and go as often as each other, some 1 of 40 steps.
            if kind < 3 and come_and_go and groups[a, 0] == groups[a, 1]:
                size = groups[a, 1]
                delta = dissolve(
                    at, place, rows, near, groups, total, own, a, limit
                )  # fmt: skip
                if delta < limit:
                    for m in range(size):
                        log[m] = place[2, groups[a, 2 + m]]
                    changed = size
                    free[0] += 1
                    free[free[0]] = a
            elif kind >= 3 and come_and_go and free[0] > 0:
                e = free[free[0]]
                delta = gather(
                    at, place, rows, near, groups, total, log, i, e, k, limit
                )  # fmt: skip
                if delta < limit:
                    free[0] -= 1
                    log[k] = e
                    changed = k + 1
        else:
            r = near[place[0, i], dice(state, choices)]
            b = rows[1, r]
            here = rows[0, r + 1] - rows[0, r]
            if here > 0:
                t = rows[0, r] + dice(state, here + (1 if b >= 0 else 0))
                if t < rows[0, r + 1]:
                    b = place[2, t]
            if b == a:
                continue
            size_a = groups[a, 0]
            size_b = groups[b, 0]
            # From distances to the means alone: nothing is moved before it pays.
            far = gap(at, i, mean, b)
            z = np.int64(-1)
            log[2] = a
            weight = 1 / size_a
            if kind >= 100 and groups[b, 1] > 0 and (size_a <= k or kind & 1 == 0):
                z = groups[b, 2 + dice(state, groups[b, 1])]
                delta = far - own[i] - own[z]
                weight += 1 / size_b
            elif groups[b, 1] < most and size_a > k:
                delta = far * (size_b / (size_b + 1.0)) - own[i] * (size_a / (size_a - 1.0))
            elif groups[b, 1] < most:
                r = near[place[0, groups[a, 2 + dice(state, groups[a, 1])]], dice(state, choices)]
                if rows[0, r] == rows[0, r + 1]:
                    continue
                z = rows[0, r] + dice(state, rows[0, r + 1] - rows[0, r])
                g = place[2, z]
                size_g = groups[g, 0]
                if g == a or g == b or size_g <= k:
                    continue
                delta = far * (size_b / (size_b + 1.0)) - own[i]
                delta -= own[z] * (size_g / (size_g - 1.0))
                log[2] = g
            if z >= 0 and delta < limit:
                delta += gap(at, z, mean, a) - gap(at, i, at, z) * weight
            if delta < limit:
                log[0] = a
                log[1] = b
                changed = 3
                for m in range(2 if z >= 0 else 1):
                    shift(at, place, groups, total, i if m == 0 else z, b if m == 0 else a)
        if delta < limit:
            fall -= delta
            for m in range(changed):
                renew(at, groups, total, mean, own, log[m])
    return fall
