"""Repair of clusters: those that break the promise are merged with another one, or suppressed.

Round by round: every cluster that breaks the promise looks for the best one to merge with; the
best mergers are made, each cluster in one of them at most; what became of them is judged, and
so on. Where k alone is promised, the best merger makes the loss grow least (a compiled loop looks
for it). Otherwise it makes it grow least for what it mends: two clusters that lack the same value
stay close to each other and as far from the promise as before. This is worked out for many
clusters together by array operations.

Adult, k = 10, t = 0.1: NCP 0.407 when the clusters of `kmember` are merged so, 0.96 when only the
growth of the loss counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.axes import PromiseArrays
from shoal.kernels.clustering.losses import packed
from shoal.kernels.clustering.partners import Line, nearest
from shoal.kernels.clustering.space import FULL, Space
from shoal.methods.clustering.clusters import MOST, Clusters, costs, histograms_of
from shoal.methods.verdicts import breaking, shortage
from shoal.table.frequency import FrequencyTable

ALL = 1024
"""Where no more clusters are left than this, a cluster looks at all of them."""

NEAR = 256
"""Otherwise it looks at this many, its neighbours in several orders."""

ORDERS = 8
"""How many orders there are, at most: one for each of the columns with most values."""

CELLS = 1 << 14
"""How many counts of sensitive values one cluster looks at together: where there are many values,
it asks only the clusters with the least growth what they would mend."""

FEW = 32
"""It asks so many in any case."""

TINY = 1e-9
"""What is mended by less than this part of a record is not: sums of shares are not exact."""


@dataclass(slots=True)
class MergeState:
    """The clusters as they are: boxes, records, sensitive values, and what each was merged into.

    Attributes:
        low, high: int32[columns, clusters], codes; a column is contiguous in memory.
        sizes: records; 0 for a cluster that is no more.
        histograms: int64[clusters, values], of all sensitive columns behind each other.
        parent: the cluster that each one was merged into, or itself; -1: suppressed.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    sizes: NDArray[np.int64]
    histograms: NDArray[np.int64]
    space: Space
    promise: PromiseArrays
    parent: NDArray[np.int64]

    def losses(self, a: NDArray[np.int64], b: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return the loss of a cluster's box, or of the box around two."""
        total = np.zeros((a if b is None else b).shape, dtype=np.int64)
        for j, (lows, highs) in enumerate(zip(self.low, self.high, strict=True)):
            low, high = lows.take(a), highs.take(a)
            if b is not None:
                low, high = np.minimum(low, lows.take(b)), np.maximum(high, highs.take(b))
            total += costs(self.space, j, low, high)
        return total

    def merge(self, a: int, b: int) -> None:
        """Let a take b in."""
        self.low[:, a] = np.minimum(self.low[:, a], self.low[:, b])
        self.high[:, a] = np.maximum(self.high[:, a], self.high[:, b])
        self.histograms[a] += self.histograms[b]
        self.sizes[a] += self.sizes[b]
        self.sizes[b] = 0
        self.parent[b] = a

    def suppress(self, a: int) -> None:
        """Leave a cluster out of the release."""
        self.sizes[a] = 0
        self.parent[a] = -1


def merge_failing(
    table: FrequencyTable,
    clusters: Clusters,
    *,
    boxes: tuple[NDArray[np.int32], NDArray[np.int32]],
    space: Space,
    promise: PromiseArrays,
    budget: int,
    near: int = NEAR,
) -> NDArray[np.int64]:
    """Return, for each cluster 0 … c-1, the cluster it is merged into; -1: suppressed.

    Suppression is chosen where it loses less than a merger and `budget` records are not
    used up, and where nothing is left to merge with.

    Args:
        table: the records.
        clusters: which of them are in which cluster.
        boxes: of the clusters, int32[clusters, columns].
        space: the losses.
        promise: what every cluster is to keep.
        budget: records that may be suppressed.
        near: how many clusters each one looks at where there are many.

    Guarantee:
        What is left keeps the promise. Each cluster named is its own parent.
    """
    low, high = boxes
    sizes = np.bincount(clusters.label, weights=clusters.records, minlength=len(low))
    histograms = np.zeros((len(low), 0), dtype=np.int64)
    if promise.kind.size:
        histograms = histograms_of(table, clusters, len(low))
    state = MergeState(
        np.array(low.T, order="C"), np.array(high.T, order="C"), sizes.astype(np.int64),
        histograms, space, promise, parent=np.arange(len(low)),
    )  # fmt: skip
    full = int(space.column[:, FULL].sum())
    failing = breaking(promise, state.sizes, histograms)
    while failing.any():
        wanting = np.flatnonzero(failing)
        other, growth, price = partners(state, wanting, near)
        lost = state.sizes[wanting] * (full - state.losses(wanting))
        touched = np.zeros(len(failing), dtype=np.bool_)
        for i in np.lexsort((wanting, np.where(other < 0, lost, growth), price)).tolist():
            a, b = int(wanting[i]), int(other[i])
            if touched[a]:
                continue
            if b < 0 or (lost[i] < growth[i] and state.sizes[a] <= budget):
                budget -= int(state.sizes[a])
                state.suppress(a)
                touched[a] = True
            elif not touched[b]:
                state.merge(a, b)
                touched[a] = touched[b] = True
        failing &= ~touched
        anew = np.flatnonzero(touched & (state.sizes > 0))
        failing[anew] = breaking(promise, state.sizes[anew], histograms[anew])
    return roots(state.parent)


def roots(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Follow mergers to their end, as in a union-find structure."""
    while (moved := (parent >= 0) & (parent[parent] != parent)).any():
        parent[moved] = parent[parent[moved]]
    return parent


def partners(
    state: MergeState, wanting: NDArray[np.int64], near: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return each cluster's best partner (-1: none), the growth of the loss, and the price.

    The price is what a merger loses for what it mends; 0 where k alone is promised.
    """
    left = np.flatnonzero(state.sizes)
    best = np.full(len(wanting), -1, dtype=np.int64)
    least = np.zeros(len(wanting), dtype=np.int64)
    price = np.zeros(len(wanting))
    if len(left) < 2:
        return best, least, price
    every = np.arange(len(left))
    lines = _lines(state, left) if len(left) > ALL else [(every, every)]
    side = max(near // (2 * len(lines)), 1) if len(left) > ALL else len(left)
    if not state.promise.kind.size:
        return *_nearest(state, left, wanting, lines, side), price
    own = np.zeros(len(state.sizes), dtype=np.int64)
    own[left] = state.sizes[left] * state.losses(left)
    short = np.zeros(len(state.sizes))
    short[left] = shortage(state.promise, state.sizes[left], state.histograms[left])
    step = max(MOST // min(len(left), max(near, ALL)), 1)
    for begin in range(0, len(wanting), step):
        some = slice(begin, begin + step)
        mine = wanting[some]
        if len(left) > ALL:
            others = left[_beside(lines, np.searchsorted(left, mine), side)]
        else:
            others = np.broadcast_to(left, (len(mine), len(left)))
        together = state.sizes[mine][:, None] + state.sizes[others]
        pairs = together * state.losses(mine[:, None], others) - own[mine][:, None] - own[others]
        pairs[others == mine[:, None]] = np.iinfo(np.int64).max  # not with itself
        place, price[some] = _cheapest(state, mine, others, pairs, short)
        best[some] = np.take_along_axis(others, place[:, None], axis=1)[:, 0]
        least[some] = np.take_along_axis(pairs, place[:, None], axis=1)[:, 0]
    return best, least, price


def _nearest(
    state: MergeState,
    left: NDArray[np.int64],
    wanting: NDArray[np.int64],
    lines: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    side: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each cluster's partner with the least growth of the loss, and the growth."""
    numbers = np.zeros((len(left), 2), dtype=np.int64)
    numbers[:, 0], numbers[:, 1] = state.sizes[left], state.losses(left)
    boxes = np.concatenate((state.low[:, left], state.high[:, left])).T
    looking = np.searchsorted(left, wanting)
    places = [Line(order, place[looking]) for order, place in lines]
    found = nearest(
        packed(state.space), np.ascontiguousarray(boxes), numbers, places, looking, side
    )
    return left[found[:, 0]], found[:, 1].copy()


def _cheapest(
    state: MergeState,
    mine: NDArray[np.int64],
    others: NDArray[np.int64],
    growth: NDArray[np.int64],
    short: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return which of the others each cluster pays least for, and the price.

    Where nothing mends anything, it is the one with the least growth, at an infinite price.
    """
    values = state.histograms.shape[1]
    asked = np.broadcast_to(np.arange(others.shape[1]), others.shape)
    most = max(CELLS // values, FEW)
    if others.shape[1] > most:
        asked = np.sort(np.argpartition(growth, most - 1, axis=1)[:, :most], axis=1)
        others = np.take_along_axis(others, asked, axis=1)
        growth = np.take_along_axis(growth, asked, axis=1)
    left = np.empty(others.shape)
    step = max(MOST // (others.shape[1] * max(values // 8, 1)), 1)
    for begin in range(0, len(mine), step):
        some = slice(begin, begin + step)
        sizes = state.sizes[mine[some], None] + state.sizes[others[some]]
        counts = state.histograms[mine[some], None] + state.histograms[others[some]]
        found = shortage(state.promise, sizes.ravel(), counts.reshape(-1, values))
        left[some] = found.reshape(sizes.shape)
    mended = short[mine][:, None] + short[others] - left
    is_mended = (mended > TINY) & (growth < np.iinfo(np.int64).max)
    # One unit more, so that of mergers that lose nothing the one that mends most is made.
    price = np.where(is_mended, (growth + 1.0) / np.where(is_mended, mended, 1.0), np.inf)
    place = np.where(is_mended.any(axis=1), price.argmin(axis=1), growth.argmin(axis=1))
    chosen = np.take_along_axis(price, place[:, None], axis=1)[:, 0]
    return np.take_along_axis(asked, place[:, None], axis=1)[:, 0], chosen


def _lines(
    state: MergeState, left: NDArray[np.int64]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Line up the clusters that are left in several ways; return each order, and who is where.

    The middles of the boxes are sorted column by column, each time by another column first.
    """
    middle = [
        (low[left] + high[left]) // 2 for low, high in zip(state.low, state.high, strict=True)
    ]
    many = np.argsort([-len(np.unique(codes)) for codes in middle], kind="stable")
    found = []
    for turn in range(min(len(middle), ORDERS)):
        order = np.lexsort([middle[j] for j in np.roll(many, -turn)[::-1]])
        place = np.empty(len(left), dtype=np.int64)
        place[order] = np.arange(len(left))
        found.append((order, place))
    return found


def _beside(
    lines: list[tuple[NDArray[np.int64], NDArray[np.int64]]], some: NDArray[np.int64], side: int
) -> NDArray[np.int64]:
    """Return, for some places in `left`, those that stand beside them in the lines."""
    steps = np.concatenate((np.arange(-side, 0), np.arange(1, side + 1)))
    return np.concatenate(
        [
            order[np.clip(place[some, None] + steps, 0, len(order) - 1)]
            for order, place in lines
        ],
        axis=1,
    )  # fmt: skip
