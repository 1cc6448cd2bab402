"""Grouping of classes: pools of neighbours are grouped anew, each in the best way there is.

Classes that must stay whole are the atoms. Clusters of them stand in a line; as many neighbours
as have at most `ATOMS` atoms together are a pool, and of all ways to group the atoms of a pool into
clusters that keep the promise, the one that loses least is taken: a programme over the subsets of
the pool finds it. The line is another one each round, so that other neighbours meet. All pools of
a round are worked out together by array operations, so that nothing has to be compiled.

Adult, classes of `bestcut` for k = 5 grouped for k = 10, against an independent release: 1.023
times its loss when they are only merged, 0.968 with pools of 6, 0.963 with pools of 8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.axes import PromiseArrays
from shoal.kernels.clustering.space import Space
from shoal.methods.clustering.clusters import box_losses
from shoal.methods.clustering.lines import line_up, places_on_lines
from shoal.methods.verdicts import breaking
from shoal.table.recoding import join_boxes

ATOMS = 8
"""Atoms of a pool: its subsets are 256, and the ways to take one out of another 6,561."""

ROUNDS = 40
"""Rounds at most (Adult, pools of 8: 0.972 after 10, 0.963 after 40)."""

TURNS = 240_000
"""Atoms of all rounds together, so that large tables take seconds, too."""

PLAIN = 16
"""A promise without a compiled form is judged subset by subset: so many times fewer turns."""

CELLS = 1 << 21
"""Numbers that are looked at together: of subsets, columns and sensitive values."""

_NEVER = np.int64(1) << 60  # no loss reaches it

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Atoms:
    """What is grouped, and what every group keeps.

    Attributes:
        low, high: int32[atoms, columns], their boxes.
        sizes: int64[atoms], records.
        histograms: int64[atoms, values], of all sensitive columns behind each other.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    sizes: Numbers
    histograms: Numbers
    space: Space
    promise: PromiseArrays

    def some(self, at: Numbers) -> Atoms:
        """Return some of the atoms."""
        return replace(
            self, low=self.low[at], high=self.high[at], sizes=self.sizes[at],
            histograms=self.histograms[at],
        )  # fmt: skip


def regroup(atoms: Atoms, label: Numbers, *, seed: int) -> Numbers:
    """Return the cluster of each atom: 0 … c-1.

    label: clusters that keep the promise, 0 … c-1, to begin with.

    Guarantee:
        Every cluster keeps the promise, and all together never lose more than those given.
    """
    along = places_on_lines(atoms.space)
    slow = PLAIN if any(judge is not None for judge in atoms.promise.plain) else 1
    rounds = min(ROUNDS, max(TURNS // (slow * max(len(label), 1)), 1))
    for done in range(rounds):
        number = int(label.max()) + 1
        low, high = join_boxes(atoms.low, atoms.high, label, number)
        middle = ((low.astype(np.int64) + high) // 2).astype(np.int32)
        chance = np.random.default_rng((seed, done))
        rank = line_up(middle, np.arange(number), along, chance)
        label = label.copy()
        for pools in _pools(label, rank):
            step = _pools_at_once(atoms, pools.shape[1])
            for begin in range(0, len(pools), step):
                some = pools[begin : begin + step]
                groups = best_groups(atoms.some(some.ravel()), some.shape[1])
                # No other pool has an atom among these: the first of a group names it.
                label[some.ravel()] = number + some.ravel()[_first_alike(groups, some.shape[1])]
        label = np.unique(label, return_inverse=True)[1].astype(np.int64)
    return label


def _pools(label: Numbers, rank: Numbers) -> list[Numbers]:
    """Return the atoms of neighbours that fill a pool: int64[pools, atoms], by their number."""
    held = np.bincount(label)
    pool = np.full(len(held), -1, dtype=np.int64)
    room = number = 0
    for cluster in np.argsort(rank).tolist():
        size = int(held[cluster])
        if size > ATOMS:
            room = 0  # too large to be grouped anew; and those around it are no neighbours
            continue
        if size > room:
            number, room = number + 1, ATOMS
        pool[cluster] = number
        room -= size
    at = np.flatnonzero(pool[label] >= 0)
    at = at[np.argsort(pool[label[at]], kind="stable")]
    _, starts, sizes = np.unique(pool[label[at]], return_index=True, return_counts=True)
    return [
        at[starts[sizes == size][:, None] + np.arange(size)]
        for size in range(2, ATOMS + 1)
        if (sizes == size).any()
    ]


def _pools_at_once(atoms: Atoms, size: int) -> int:
    width: int = max(2 * atoms.low.shape[1], atoms.histograms.shape[1], 8)
    return max(CELLS // (width << size), 1)


def _first_alike(groups: Numbers, size: int) -> Numbers:
    """Return, for each atom of pools in a row, the place of the first one of its group."""
    place = np.arange(groups.size).reshape(-1, size)
    lowest = np.log2(groups & -groups).astype(np.int64)
    found: Numbers = (place[:, :1] + lowest).ravel()
    return found


def best_groups(atoms: Atoms, size: int) -> Numbers:
    """Return, for each atom, its group as a subset of its pool: bit i stands for atom i of it.

    atoms: those of the first pool, then those of the next; each pool has `size` of them.

    Guarantee:
        Of all ways to group a pool so that every group keeps the promise, none loses less.
    """
    price = _prices(atoms, size)
    subsets, pools = price.shape
    least = np.full((subsets, pools), _NEVER)
    least[0] = 0
    taken: Numbers = np.zeros((subsets, pools), dtype=np.int64)
    for whole in range(1, subsets):
        first = whole & -whole  # some group has it: nothing is looked at twice
        others = rest = whole ^ first
        while True:
            found = price[first | rest] + least[others ^ rest]
            better = found < least[whole]
            least[whole] = np.where(better, found, least[whole])
            taken[whole] = np.where(better, first | rest, taken[whole])
            if not rest:
                break
            rest = (rest - 1) & others
    groups = np.zeros((pools, size), dtype=np.int64)
    left, every = np.full(pools, subsets - 1), np.arange(pools)
    while left.any():
        group = taken[left, every]  # of nothing, nothing
        inside = (group[:, None] >> np.arange(size)) & 1 == 1
        groups = np.where(inside, group[:, None], groups)
        left &= ~group
    return groups


def _prices(atoms: Atoms, size: int) -> Numbers:
    """Return what each subset of each pool loses as one group: int64[subsets, pools]."""
    subsets, pools = 1 << size, len(atoms.sizes) // size
    shape = (subsets, pools, atoms.low.shape[1])
    low = np.full(shape, np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full(shape, -1, dtype=np.int32)
    sizes: Numbers = np.zeros((subsets, pools), dtype=np.int64)
    histograms = np.zeros((subsets, pools, atoms.histograms.shape[1]), dtype=np.int64)
    for subset in range(1, subsets):
        rest, bit = subset & (subset - 1), (subset & -subset).bit_length() - 1
        own = slice(bit, None, size)
        low[subset] = np.minimum(low[rest], atoms.low[own])
        high[subset] = np.maximum(high[rest], atoms.high[own])
        sizes[subset] = sizes[rest] + atoms.sizes[own]
        histograms[subset] = histograms[rest] + atoms.histograms[own]
    flat = (subsets - 1) * pools
    losses = box_losses(atoms.space, low[1:].reshape(flat, -1), high[1:].reshape(flat, -1))
    wrong = breaking(atoms.promise, sizes[1:].ravel(), histograms[1:].reshape(flat, -1))
    prices: Numbers = np.zeros((subsets, pools), dtype=np.int64)
    found = np.where(wrong, _NEVER, sizes[1:].ravel() * losses)
    prices[1:] = found.reshape(subsets - 1, pools)
    return prices
