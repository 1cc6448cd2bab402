"""Groups of k to 2k - 1 records that cost less than their members may pay: a branch and bound.

Every row (a distinct tuple) has a price for each of its records. A group is too cheap if it costs
less than the prices of its members. Groups are listed by their first row in a fixed order, members
are added one by one, and what could still be added is known from below: where even that is not too
cheap, nothing is looked at.

What a group costs: of boxes, its records times the loss of the box around them; of squared
distances, the error around their mean, which is the sum over pairs divided by the records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.losses import cost
from shoal.kernels.helpers import lean, lean_outer

COUNT, SIZE, CUT = range(3)


class Found(NamedTuple):
    """Groups that are too cheap, and how much cheaper any group can be.

    Attributes:
        members: int64[groups, 2k - 1], rows; a row stands as often as the group has records of it.
        sizes: int64[groups].
        short: float64[rows], from below: what a group whose first row it is costs, less the prices.
        is_cut: whether a search was ended before it had looked at everything.
    """

    members: NDArray[np.int64]
    sizes: NDArray[np.int64]
    short: NDArray[np.float64]
    is_cut: bool


class Rows(NamedTuple):
    """Rows with their records, and what pairs of them cost.

    Attributes:
        codes, losses: of boxes, see `kernels.clustering.losses`; empty for squared distances.
        apart: float64[rows, rows], squared distances; empty for boxes.
        near: int64[rows, rows], all rows after a row in the order of firsts, itself first if it has
            several records, then the nearest; -1: no more.
        halves: float64[rows, 2k - 1], half the sum of so many least squared distances of a record.
    """

    codes: NDArray[np.int32]
    losses: NDArray[np.int32]
    apart: NDArray[np.float64]
    near: NDArray[np.int32]
    halves: NDArray[np.float64]
    counts: NDArray[np.int64]


def cheap_groups(
    rows: Rows, prices: NDArray[np.float64], *, k: int, most_nodes: int, most_groups: int = 3
) -> Found:
    """Return some groups that are too cheap, if there are any, and bounds from below.

    most_nodes: that the search for one first row looks at. most_groups: returned of each.
    """
    n, longest = len(rows.counts), 2 * k - 1
    if prices.shape != (n,) or rows.near.shape[0] != n or k < 1:
        raise KernelInputError(problem="rows, prices and k do not fit each other")
    width = rows.near.shape[1] + 1
    depth = longest + 1
    columns = max(rows.codes.shape[1], 1)
    members = np.full((n * most_groups, longest), -1, dtype=np.int64)
    sizes = np.zeros(n * most_groups, dtype=np.int64)
    short = np.zeros(n)
    state = np.zeros(3, dtype=np.int64)
    search_all(
        rows.codes, rows.losses, rows.apart, rows.near, rows.halves, rows.counts, prices,
        k, most_nodes, most_groups, 1e-9 * max(float(prices.max(initial=0.0)), 1e-300),
        np.empty((depth, width), dtype=np.int64), np.empty((depth, width)),
        np.empty((depth, width)), np.empty((depth, columns, 2), dtype=np.int64),
        np.empty((depth, 2)), np.empty((depth, 3), dtype=np.int64),
        np.empty((3, max(longest, width) + 1)), np.empty(most_groups), members, sizes, short, state,
    )  # fmt: skip
    kept = sizes > 0
    return Found(members[kept], sizes[kept], short, bool(state[CUT]))


@lean
def with_one_more(is_box, q, at, codes, losses, boxes, values, c, apart, last):
    """Return what a row adds to a group: of boxes the loss with it, else its squared distances."""
    if not is_box:
        return values[at, c] + apart[last, q]
    total = np.int64(0)
    for j in range(codes.shape[1]):
        low = min(boxes[at + 1, j, 0], np.int64(codes[q, j]))
        high = max(boxes[at + 1, j, 1], np.int64(codes[q, j]))
        total += cost(losses, j, low, high)
    return float(total)


@lean
def keep_least(best, size, most, value):
    """Put a value among the `most` least ones, ascending; return how many there are."""
    if size == most:
        if most == 0 or value >= best[most - 1]:
            return size
        at = most - 1
    else:
        at = size
        size += 1
    while at > 0 and best[at - 1] > value:
        best[at] = best[at - 1]
        at -= 1
    best[at] = value
    return size


@lean
def bound_squared(n, p, k, longest, at, cand, values, bounds, left, sums, halves, prices, work):
    """Fill `bounds`: what any group with these members and a candidate costs less its prices."""
    for s in range(max(k, p + 1), longest + 1):
        m = s - p
        size = np.int64(0)
        for c in range(n):
            q = cand[at, c]
            value = values[at, c] + halves[q, m - 1] - s * prices[q]
            for _ in range(min(np.int64(left[c]), m)):
                size = keep_least(work[0], size, m, value)
        if size < m:
            return
        total = 0.0
        for t in range(m - 1):
            total += work[0, t]
        for c in range(n):
            q = cand[at, c]
            value = values[at, c] + halves[q, m - 1] - s * prices[q]
            least = total + max(value, work[0, m - 1])
            bounds[at, c] = min(bounds[at, c], (sums[at, 0] + least) / s - sums[at, 1])


@lean
def bound_boxes(n, p, k, longest, at, cand, values, bounds, left, sums, prices, work):
    """Do the same for boxes; candidates stand in the order of their losses."""
    for s in range(max(k, p + 1), longest + 1):
        m = s - p
        size = np.int64(0)
        records = 0.0
        total = 0.0
        for c in range(n):
            q = cand[at, c]
            records += left[c]
            for _ in range(min(np.int64(left[c]), m - 1)):
                last = work[0, m - 2] if size == m - 1 else 0.0
                if size == m - 1 and -prices[q] >= last:
                    break
                total += -prices[q] - last
                size = keep_least(work[0], size, m - 1, -prices[q])
            enough = records >= m
            work[1, c] = s * values[at, c] + total if enough else np.inf
        least = np.inf
        for c in range(n - 1, -1, -1):
            least = min(least, work[1, c])
            bounds[at, c] = min(bounds[at, c], least - prices[cand[at, c]] - sums[at, 1])


@lean
def sort_candidates(n, at, cand, values):
    """Sort candidates by their values, nearly sorted ones fast."""
    for c in range(1, n):
        q, value = cand[at, c], values[at, c]
        b = c
        while b > 0 and values[at, b - 1] > value:
            values[at, b] = values[at, b - 1]
            cand[at, b] = cand[at, b - 1]
            b -= 1
        values[at, b] = value
        cand[at, b] = q


@lean
def open_node(
    is_box, p, k, longest, at, cand, values, bounds, sums, facts, counts, halves, prices, gap, work,
):  # fmt: skip
    """Bound every candidate of a node and drop those that no cheap group has."""
    n = facts[at, COUNT]
    if p >= longest:
        facts[at, COUNT] = 0
        return
    if is_box:
        sort_candidates(n, at, cand, values)
    left = work[2]
    for c in range(n):
        bounds[at, c] = np.inf
        used = 0
        for t in range(p):
            used += facts[t, SIZE] == cand[at, c]
        left[c] = counts[cand[at, c]] - used
    if is_box:
        bound_boxes(n, p, k, longest, at, cand, values, bounds, left, sums, prices, work)
    else:
        bound_squared(n, p, k, longest, at, cand, values, bounds, left, sums, halves, prices, work)
    kept = np.int64(0)
    for c in range(n):
        if bounds[at, c] < -gap:
            cand[at, kept] = cand[at, c]
            values[at, kept] = values[at, c]
            bounds[at, kept] = bounds[at, c]
            kept += 1
    facts[at, COUNT] = kept


@lean
def keep_group(p, facts, short, best, first, found, most_groups, members, sizes):
    """Keep the cheapest groups of one first row; return how many there are."""
    place = found
    if found == most_groups:
        place = np.int64(0)
        for t in range(1, most_groups):
            if best[t] > best[place]:
                place = np.int64(t)
        if best[place] <= short:
            return found
    else:
        found += 1
    best[place] = short
    sizes[first + place] = p
    for t in range(p):
        members[first + place, t] = facts[t, SIZE]
    return found


@lean
def begin(i, is_box, codes, losses, apart, near, prices, cand, values, boxes, sums, facts):
    """Set the root of a search: a group of one record of row i."""
    for j in range(codes.shape[1]):
        boxes[0, j, 0] = codes[i, j]
        boxes[0, j, 1] = codes[i, j]
    sums[0, 0] = loss_of_two(i, i, codes, losses) if is_box else 0.0
    sums[0, 1] = prices[i]
    n = np.int64(0)
    while n < near.shape[1] and near[i, n] >= 0:
        q = np.int64(near[i, n])
        cand[0, n] = q
        values[0, n] = loss_of_two(i, q, codes, losses) if is_box else apart[i, q]
        n += 1
    # facts: candidates, the member that was added, and which candidate is next.
    facts[0, COUNT] = n
    facts[0, SIZE] = i
    facts[0, CUT] = -1


@lean
def loss_of_two(i, q, codes, losses):
    """Return the loss of the box around two rows."""
    total = np.int64(0)
    for j in range(codes.shape[1]):
        low, high = min(codes[i, j], codes[q, j]), max(codes[i, j], codes[q, j])
        total += cost(losses, j, np.int64(low), np.int64(high))
    return float(total)


@lean
def descend(
    at, c, is_box, codes, losses, apart, counts, prices, cand, values, boxes, sums, facts
):  # fmt: skip
    """Make the node below: the group with candidate c, and the candidates that it has left."""
    q = cand[at, c]
    facts[at + 1, SIZE] = q
    facts[at + 1, CUT] = -1
    sums[at + 1, 0] = values[at, c] if is_box else sums[at, 0] + values[at, c]
    sums[at + 1, 1] = sums[at, 1] + prices[q]
    for j in range(codes.shape[1]):
        boxes[at + 1, j, 0] = min(boxes[at, j, 0], np.int64(codes[q, j]))
        boxes[at + 1, j, 1] = max(boxes[at, j, 1], np.int64(codes[q, j]))
    used = 1
    for t in range(at + 1):
        used += facts[t, SIZE] == q
    n = np.int64(0)
    for other in range(c if used < counts[q] else c + 1, facts[at, COUNT]):
        r = cand[at, other]
        cand[at + 1, n] = r
        values[at + 1, n] = with_one_more(
            is_box, r, at, codes, losses, boxes, values, other, apart, q
        )
        n += 1
    facts[at + 1, COUNT] = n


@lean
def search_from(
    i, codes, losses, apart, near, halves, counts, prices, k, most_nodes, most_groups, gap,
    cand, values, bounds, boxes, sums, facts, work, best, members, sizes, state,
):  # fmt: skip
    """List the groups whose first row is i; return a bound of what is the cheapest."""
    is_box = apart.size == 0
    longest = 2 * k - 1
    begin(i, is_box, codes, losses, apart, near, prices, cand, values, boxes, sums, facts)
    at = np.int64(0)
    nodes = np.int64(0)
    least = 0.0
    found = np.int64(0)
    while at >= 0:
        p = at + 1
        if facts[at, CUT] < 0:
            nodes += 1
            if p >= k:
                price = p * sums[at, 0] if is_box else sums[at, 0] / p
                short = price - sums[at, 1]
                least = min(least, short)
                if short < -gap:
                    found = keep_group(
                        p, facts, short, best, i * most_groups, found, most_groups, members, sizes
                    )
            open_node(
                is_box, p, k, longest, at, cand, values, bounds, sums, facts, counts, halves,
                prices, gap, work,
            )  # fmt: skip
        facts[at, CUT] += 1
        c = facts[at, CUT]
        if c >= facts[at, COUNT]:
            at -= 1
        elif nodes >= most_nodes:  # what was not looked at is known from below
            for rest in range(c, facts[at, COUNT]):
                least = min(least, bounds[at, rest])
            state[CUT] = 1
            at -= 1
        else:
            descend(
                at, c, is_box, codes, losses, apart, counts, prices, cand, values, boxes, sums,
                facts,
            )  # fmt: skip
            at += 1
    return least


@lean_outer
def search_all(
    codes, losses, apart, near, halves, counts, prices, k, most_nodes, most_groups, gap,
    cand, values, bounds, boxes, sums, facts, work, best, members, sizes, short, state,
):  # fmt: skip
    """Search from every row."""
    for i in range(counts.size):
        short[i] = search_from(
            i, codes, losses, apart, near, halves, counts, prices, k, most_nodes, most_groups, gap,
            cand, values, bounds, boxes, sums, facts, work, best, members, sizes, state,
        )  # fmt: skip
