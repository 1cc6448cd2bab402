"""Cuts of strict Mondrian: what is counted of a block, where it may be cut, the tree of cuts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.table.domain import Domain


class Cut(NamedTuple):
    """A block's cut: codes of a column below `cut` go left."""

    column: int
    cut: int


@dataclass(frozen=True)
class Block:
    """What is counted of a block: by column, the records and the rows that have each code."""

    counts: tuple[NDArray[np.int64], ...]
    rows: tuple[NDArray[np.int64], ...]

    @property
    def records(self) -> int:
        """Return the number of records."""
        return int(self.counts[0].sum())

    def columns(self, domains: Sequence[Domain]) -> list[int]:
        """Return the columns that can be cut, the widest first; of equals the first."""
        widths: list[float] = []
        for domain, counts in zip(domains, self.counts, strict=True):
            there = np.flatnonzero(counts)
            widths.append(domain.cost(int(there[0]), int(there[-1])) * domain.weight)
        wide = [j for j, width in enumerate(widths) if width > 0]
        return sorted(wide, key=lambda j: (-widths[j], j))

    def cuts(self, domains: Sequence[Domain], k: int) -> Iterator[Cut]:
        """Yield the cuts that leave k records on both sides, in the order they are tried."""
        if self.records < 2 * k:
            return
        for j in self.columns(domains):
            there = np.flatnonzero(self.counts[j])
            for place in median_cuts(there, self.counts[j][there], k):
                yield Cut(j, place)

    def sides(self, cut: Cut) -> tuple[int, int]:
        """Return how many rows are on each side of a cut."""
        rows = self.rows[cut.column]
        return int(rows[: cut.cut].sum()), int(rows[cut.cut :].sum())


def median_cuts(codes: NDArray[np.int64], counts: NDArray[np.int64], k: int) -> list[int]:
    """Return the cuts around the median that leave k records on both sides, the evener first.

    codes: those that occur, sorted; counts: the records of each.
    """
    summed = np.cumsum(counts)
    records = int(summed[-1])
    at = int(np.searchsorted(2 * summed, records))
    code, upto = int(codes[at]), int(summed[at])
    before = upto - int(counts[at])
    sides = [(code + 1, upto), (code, before)]
    if abs(2 * upto - records) > abs(2 * before - records):
        sides.reverse()
    return [cut for cut, left in sides if left >= k and records - left >= k]


class Tree:
    """The cuts made so far. Node 0 is the whole table; a node without a cut is a block."""

    def __init__(self) -> None:
        self.column = np.full(1, -1, dtype=np.int64)
        self.cut = np.zeros(1, dtype=np.int64)
        self.left = np.zeros(1, dtype=np.int64)  # the right side is the next one

    def grow(self, chosen: dict[int, Cut]) -> list[int]:
        """Cut blocks in two; return the new ones."""
        fresh = []
        for block, cut in sorted(chosen.items()):
            number = len(self.column)
            self.column[block], self.cut[block], self.left[block] = cut.column, cut.cut, number
            self.column = np.append(self.column, [-1, -1])
            self.cut = np.append(self.cut, [0, 0])
            self.left = np.append(self.left, [0, 0])
            fresh += [number, number + 1]
        return fresh

    def block_of(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the block of each coded row."""
        node = np.zeros(len(codes), dtype=np.int64)
        moving = np.arange(len(codes))
        while len(moving):
            here = node[moving]
            column = self.column[here]
            inside = column >= 0
            moving, here, column = moving[inside], here[inside], column[inside]
            is_right = codes[moving, column] >= self.cut[here]
            node[moving] = self.left[here] + is_right
        return node
