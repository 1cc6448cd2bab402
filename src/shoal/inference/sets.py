"""Quasi-identifier sets by residual entropy ([lim2018], section III-C).

The paper walks breadth-first over the subsets of the columns. The residual entropy of a
subset is the entropy of "everybody alone" minus the entropy of the classes it makes; a
subset under the threshold is a quasi-identifier set, and its supersets are not looked at.

Two things keep it exact and fast: rows that are already alone leave the count, and a
subset that cannot reach the threshold by the entropies of its own subsets (entropy is
submodular) is never counted at all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from math import comb

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.kernels.inference import column_sets as kernel

MOST_SETS = 20_000_000
"""Subsets of one size that are kept in memory; a larger level ends the search."""

_BLOCK = 256
_MOST_CELLS = 30_000_000  # with more rows times columns, one thread: each holds its own copy
_SLACK = 1e-9  # sums of logarithms are rounded: a bound this close to the goal is no proof


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSet:
    """Columns that together nearly tell every record apart.

    Attributes:
        columns: their numbers, ascending.
        residual_entropy: bits that are missing to "everybody alone"; 2 to this power is
            the (geometric) mean number of records that look like a record.
        distinction: classes / records.
        separation: share of the pairs of records that differ in at least one column.
    """

    columns: tuple[int, ...]
    residual_entropy: float
    distinction: float
    separation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSearch:
    """What a search found, and how far it came.

    Attributes:
        sets: minimal ones only, small sets first, then by residual entropy.
        complete: every subset up to `max_size` was judged.
        size: all subsets up to this size were judged.
        counted: subsets whose classes were counted.
        spared: subsets that were judged without counting.
    """

    sets: tuple[ColumnSet, ...]
    complete: bool
    size: int
    counted: int
    spared: int


@dataclass
class _Level:
    """Entropies (or upper bounds) and states of all subsets of one size."""

    entropy: NDArray[np.float64]
    exact: NDArray[np.bool_]
    state: NDArray[np.int8]


@dataclass
class _Search:
    """One search over the columns in the order of falling entropy."""

    rows: kernel.Rows
    names: NDArray[np.int64]  # the caller's number of each column
    threshold: float
    deadline: float
    threads: int
    found: list[ColumnSet] = field(default_factory=list)
    counted: int = 0
    spared: int = 0

    def __post_init__(self) -> None:
        self.records = int(self.rows.counts.sum())
        self.goal = np.log2(self.records) - self.threshold
        self.columns = len(self.names)

    def judge_levels(self, max_size: int) -> int:
        """Judge level after level; return the last size that was judged in full."""
        one = self._first()
        if one is None:
            return 0
        pairs = np.zeros((self.columns, self.columns))
        below, level = _Level(np.zeros(1), np.ones(1, bool), np.zeros(1, np.int8)), one
        for size in range(2, min(max_size, self.columns) + 1):
            if not ((level.state == kernel.WAITING) | (level.state == kernel.LOW)).any():
                return max_size  # everything larger is a superset of a found set
            if comb(self.columns, size) > MOST_SETS:
                return size - 1
            above = self._next(size, pairs, level=level, below=below)
            if above is None:
                return size - 1
            if size == 2:
                pairs = self._conditional(one, above)
            below, level = level, above
        return max_size

    def _first(self) -> _Level | None:
        count = self.columns
        level = _Level(np.zeros(count), np.ones(count, bool), np.zeros(count, np.int8))
        done = self._count(np.arange(count), 1, level)
        return level if done else None

    def _next(
        self, size: int, pairs: NDArray[np.float64], *, level: _Level, below: _Level
    ) -> _Level | None:
        total = comb(self.columns, size)
        bound, state = np.empty(total), np.empty(total, np.int8)
        # Pairs are all counted (their bound is only H(a) + H(b)): larger sets lean on them.
        goal = -np.inf if size == 2 else self.goal - _SLACK
        kernel.next_level(
            size, _binomial(self.columns, size), pairs, goal,
            level.entropy, level.exact, level.state, below.entropy, below.exact, bound, state,
        )  # fmt: skip
        above = _Level(bound, np.zeros(total, bool), state)
        waiting = np.flatnonzero(state == kernel.WAITING)
        self.spared += total - len(waiting)
        return above if self._count(waiting, size, above) else None

    def _count(self, places: NDArray[np.int64], size: int, level: _Level) -> bool:
        """Count the classes of the subsets at these places; False when time ran out."""
        sets = kernel.sets_at(places, size, binomial=_binomial(self.columns, size))
        order = np.lexsort(sets.T[::-1])
        places, sets = places[order], sets[order]
        blocks = [slice(at, at + _BLOCK) for at in range(0, len(sets), _BLOCK)]
        for block, sums in self._work(sets, blocks):
            entropy = np.log2(self.records) - sums[:, 0] / self.records
            level.entropy[places[block]] = entropy
            level.exact[places[block]] = True
            residual = sums[:, 0] / self.records
            hits = np.flatnonzero((residual < self.threshold) | (residual == 0))
            level.state[places[block][hits]] = kernel.FOUND
            self.found += [self._set(sets[block][hit], sums[hit]) for hit in hits]
            self.counted += len(sums)
            if time.monotonic() > self.deadline and block.stop < len(sets):
                return False
        return True

    def _work(
        self, sets: NDArray[np.int32], blocks: list[slice]
    ) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        def one(block: slice) -> NDArray[np.float64]:
            if time.monotonic() > self.deadline:
                return np.empty((0, 3))
            return kernel.count_sets(self.rows, sets[block])

        with ThreadPoolExecutor(max_workers=self.threads) as pool:
            for block, sums in zip(blocks, pool.map(one, blocks), strict=True):
                if not len(sums):
                    yield slice(block.start, block.start), sums
                    return
                yield block, sums

    def _set(self, members: NDArray[np.int32], sums: NDArray[np.float64]) -> ColumnSet:
        n = self.records
        together = float(sums[2] - n)
        return ColumnSet(
            columns=tuple(sorted(int(self.names[i]) for i in members)),
            residual_entropy=float(sums[0]) / n,
            distinction=float(sums[1]) / n,
            separation=1 - together / (float(n) * (n - 1)) if n > 1 else 1.0,
        )

    def _conditional(self, one: _Level, two: _Level) -> NDArray[np.float64]:
        """Return H(i | a) for every pair; +inf where the pair was not counted."""
        pairs = np.full((self.columns, self.columns), np.inf)
        high, low = np.tril_indices(self.columns, -1)
        place = high * (high - 1) // 2 + low
        both = np.where(two.exact[place], two.entropy[place], np.inf)
        pairs[high, low] = both - one.entropy[low]
        pairs[low, high] = both - one.entropy[high]
        return pairs


def find_sets(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    *,
    max_size: int,
    threshold: float,
    seconds: float | None = None,
    threads: int | None = None,
) -> SetSearch:
    """Find the minimal sets of columns whose residual entropy is under the threshold.

    Args:
        codes: int32[rows, columns], the distinct rows of a table.
        counts: int64[rows], records of each row.
        max_size: largest number of columns in a set.
        threshold: in bits; a set that tells everybody apart counts at any threshold.
        seconds: stop after this time and say so.
        threads: by default one a processor; it never changes the result.

    Guarantee:
        With `complete`, exactly the sets that brute force finds.

    Example:
        >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
        >>> find_sets(codes, np.ones(4, dtype=np.int64), max_size=2, threshold=0.5).sets[0].columns
        (0, 1)
    """
    if max_size < 1:
        raise MethodError(problem="max-size must be a whole number of at least 1")
    if not threshold >= 0:
        raise MethodError(problem="threshold must be a number of at least 0, in bits")
    rows = kernel.rows_of(codes, counts)
    if not len(counts) or not codes.shape[1]:
        return SetSearch(sets=(), complete=True, size=max_size, counted=0, spared=0)
    single = kernel.count_sets(rows, np.arange(codes.shape[1], dtype=np.int32)[:, None])
    # Columns that split best come first: their groups are small, so rows leave early.
    order = np.argsort(single[:, 0], kind="stable")
    search = _Search(
        rows=kernel.rows_of(np.ascontiguousarray(codes[:, order]), counts),
        names=order.astype(np.int64),
        threshold=threshold,
        deadline=np.inf if seconds is None else time.monotonic() + seconds,
        threads=1 if codes.size > _MOST_CELLS else threads or os.cpu_count() or 1,
    )
    size = search.judge_levels(max_size)
    ordered = sorted(search.found, key=_rank)
    return SetSearch(
        sets=tuple(ordered),
        complete=size >= min(max_size, codes.shape[1]),
        size=min(size, max_size, codes.shape[1]),
        counted=search.counted,
        spared=search.spared,
    )


def with_single_columns(
    search: SetSearch, columns: Sequence[int], singles: Sequence[ColumnSet]
) -> SetSearch:
    """Return a search over some columns as one over all, where the others are sets by themselves.

    Args:
        search: its sets name positions in `columns`.
        columns: the columns that were searched.
        singles: the columns that identify alone, and so were not searched.
    """
    found = [replace(each, columns=tuple(columns[i] for i in each.columns)) for each in search.sets]
    return replace(
        search,
        sets=tuple(sorted([*singles, *found], key=_rank)),
        counted=search.counted + len(singles),
    )


def _rank(found: ColumnSet) -> tuple[int, float, tuple[int, ...]]:
    return len(found.columns), found.residual_entropy, found.columns


def _binomial(columns: int, size: int) -> NDArray[np.int64]:
    """Return Pascal's triangle: [n, k] for n up to `columns` and k up to `size`."""
    table = [[min(comb(n, k), 2**62) for k in range(size + 2)] for n in range(columns + 1)]
    return np.array(table, dtype=np.int64)
