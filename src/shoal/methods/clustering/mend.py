"""Mending: clusters that break the promise are merged with another one, or suppressed.

Round by round: every cluster that breaks the promise looks for the one whose merger with it
makes the loss grow least; the cheapest mergers are made, each cluster in one of them at
most; what became of them is judged, and so on. All of a round is worked out together by
array operations, so that nothing has to be compiled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.axes import PromiseArrays
from shoal.kernels.clustering_space import FULL, Space
from shoal.methods.clustering.clusters import MOST, costs
from shoal.methods.verdicts import breaking

ALL = 1024
"""Where no more clusters are left than this, a cluster looks at all of them."""

NEAR = 256
"""Otherwise it looks at this many, its neighbours in several orders."""

ORDERS = 8
"""How many orders there are, at most: one for each of the columns with most values."""


@dataclass(slots=True)
class Board:
    """The clusters as they are: boxes, records, sensitive values, and whose part each became.

    Attributes:
        low, high: int32[columns, clusters], codes; a column is one piece of memory.
        sizes: records; 0 for a cluster that is no more.
        histograms: int64[clusters, values], of all sensitive columns behind each other.
        home: the cluster that each one became part of; -1: suppressed.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    sizes: NDArray[np.int64]
    histograms: NDArray[np.int64]
    space: Space
    home: NDArray[np.int64]

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
        self.home[b] = a

    def suppress(self, a: int) -> None:
        """Leave a cluster out of the release."""
        self.sizes[a] = 0
        self.home[a] = -1


def board_of(
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    sizes: NDArray[np.int64],
    histograms: NDArray[np.int64],
    *,
    space: Space,
) -> Board:
    """Return clusters, given by their boxes (int32[clusters, columns]), before any merger."""
    return Board(
        np.array(low.T, order="C"), np.array(high.T, order="C"), sizes.copy(), histograms, space,
        home=np.arange(len(sizes)),
    )  # fmt: skip


def mend(
    board: Board, *, promise: PromiseArrays, budget: int, near: int = NEAR
) -> NDArray[np.int64]:
    """Return, for each cluster, the cluster it becomes part of; -1: suppressed.

    near: how many clusters each one looks at where there are many.

    Suppression is chosen where it loses less than a merger and `budget` records are not
    used up, and where nothing is left to merge with.

    Guarantee:
        What is left keeps the promise. Each cluster named is its own home.
    """
    full = int(board.space.column[:, FULL].sum())
    wrong = breaking(promise, board.sizes, board.histograms)
    while wrong.any():
        wanting = np.flatnonzero(wrong)
        other, growth = _partners(board, wanting, near)
        lost = board.sizes[wanting] * (full - board.losses(wanting))
        touched = np.zeros(len(wrong), dtype=np.bool_)
        for i in np.lexsort((wanting, np.where(other < 0, lost, growth))).tolist():
            a, b = int(wanting[i]), int(other[i])
            if touched[a]:
                continue
            if b < 0 or (lost[i] < growth[i] and board.sizes[a] <= budget):
                budget -= int(board.sizes[a])
                board.suppress(a)
                touched[a] = True
            elif not touched[b]:
                board.merge(a, b)
                touched[a] = touched[b] = True
        wrong &= ~touched
        anew = np.flatnonzero(touched & (board.sizes > 0))
        wrong[anew] = breaking(promise, board.sizes[anew], board.histograms[anew])
    home = board.home
    while (moved := (home >= 0) & (home[home] != home)).any():
        home[moved] = home[home[moved]]
    return home


def _partners(
    board: Board, wanting: NDArray[np.int64], near: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each cluster the one that it is best merged with (-1: none), and the growth."""
    left = np.flatnonzero(board.sizes)
    best = np.full(len(wanting), -1, dtype=np.int64)
    least = np.zeros(len(wanting), dtype=np.int64)
    if len(left) < 2:
        return best, least
    own = np.zeros(len(board.sizes), dtype=np.int64)
    own[left] = board.sizes[left] * board.losses(left)
    if len(left) > ALL:
        lines = _lines(board, left)
    step = max(MOST // min(len(left), max(near, ALL)), 1)
    for begin in range(0, len(wanting), step):
        some = slice(begin, begin + step)
        mine = wanting[some]
        if len(left) > ALL:
            others = left[_beside(lines, np.searchsorted(left, mine), near)]
        else:
            others = np.broadcast_to(left, (len(mine), len(left)))
        together = board.sizes[mine][:, None] + board.sizes[others]
        pairs = together * board.losses(mine[:, None], others) - own[mine][:, None] - own[others]
        pairs[others == mine[:, None]] = np.iinfo(np.int64).max  # not with itself
        place = pairs.argmin(axis=1)
        best[some] = np.take_along_axis(others, place[:, None], axis=1)[:, 0]
        least[some] = np.take_along_axis(pairs, place[:, None], axis=1)[:, 0]
    return best, least


def _lines(
    board: Board, left: NDArray[np.int64]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Line up the clusters that are left in several ways; return each order, and who is where.

    The middles of the boxes are sorted column by column, each time by another column first.
    """
    middle = [
        (low[left] + high[left]) // 2 for low, high in zip(board.low, board.high, strict=True)
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
    lines: list[tuple[NDArray[np.int64], NDArray[np.int64]]], some: NDArray[np.int64], near: int
) -> NDArray[np.int64]:
    """Return, for some places in `left`, those that stand beside them in the lines."""
    side = max(near // (2 * len(lines)), 1)
    steps = np.concatenate((np.arange(-side, 0), np.arange(1, side + 1)))
    return np.concatenate(
        [
            order[np.clip(place[some, None] + steps, 0, len(order) - 1)]
            for order, place in lines
        ],
        axis=1,
    )  # fmt: skip
