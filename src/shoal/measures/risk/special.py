"""Special uniques (SUDA) [elliot2002]: which columns make a record stand out.

A minimal sample unique is a set of columns on which a record is alone, while it is not
alone on any part of the set. The smaller the set, the more special the record: a set of
size s scores (columns - s)!, as in SUDA2.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.kernels.inference import column_sets as kernel

MOST_WORK = 4_000_000_000
"""Cells that one analysis may look at; larger sets of columns are then left out."""

MOST_MARKS = 400_000_000
_BLOCK = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialUniques:
    """Minimal sample uniques of a table.

    Attributes:
        records: records that have at least one.
        by_size: how many there are of each size.
        score: float64[rows], the SUDA score of each distinct row (0: not unique).
        contribution: share of the total score that comes from sets with each column.
        members: records with a minimal sample unique that uses each column.
        max_size: sets up to this size were looked at.
        complete: that was all there is.
    """

    records: int
    by_size: dict[int, int]
    score: NDArray[np.float64] = field(repr=False)
    contribution: tuple[float, ...]
    members: tuple[int, ...]
    max_size: int
    complete: bool


def special_uniques(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    *,
    max_size: int | None = None,
    threads: int | None = None,
) -> SpecialUniques:
    """Find every minimal sample unique up to a size.

    Args:
        codes: int32[rows, columns], the distinct rows.
        counts: int64[rows], records of each row.
        max_size: by default all columns, or as many as the work allows.
        threads: by default one a processor; it never changes the result.

    Example:
        >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 0]], dtype=np.int32)
        >>> found = special_uniques(codes[:3], np.array([1, 1, 2]))
        >>> found.records, found.by_size
        (2, {1: 1, 2: 1})
    """
    columns = codes.shape[1]
    if max_size is not None and max_size < 1:
        raise MethodError(problem="max-size must be a whole number of at least 1")
    rows = kernel.rows_of(codes, counts)
    unique = np.flatnonzero(counts == 1)
    most = _affordable(columns, len(counts), candidates=len(unique))
    top = min(max_size or columns, columns, most)
    score = np.zeros(len(counts))
    shares = np.zeros(columns)
    part_of = np.zeros((columns, len(unique)), dtype=bool)
    by_size: dict[int, int] = {}
    before: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    for size in range(1, top + 1):
        worth = float(prod(columns - i for i in range(size, columns)))
        alone = _alone(rows, size, columns, unique=unique, threads=threads)
        number = 0
        for names, here in alone.items():
            minimal = here.copy()
            if size > 1:
                for part in combinations(names, size - 1):
                    minimal &= ~before[part]
            hits = int(minimal.sum())
            number += hits
            score[unique[minimal]] += worth
            shares[list(names)] += worth * hits
            part_of[list(names)] |= minimal
        by_size[size] = number
        before = alone
    total = float(score.sum())
    return SpecialUniques(
        records=int((score > 0).sum()),
        by_size={size: number for size, number in by_size.items() if number},
        score=score,
        contribution=tuple(float(s) / total if total else 0.0 for s in shares),
        members=tuple(int(m) for m in part_of.sum(axis=1)),
        max_size=top,
        complete=top >= min(columns, max_size or columns),
    )


def _affordable(columns: int, rows: int, *, candidates: int) -> int:
    """Return the largest size whose sets, with all smaller ones, stay within the work."""
    work = 0
    for size in range(1, columns + 1):
        work += comb(columns, size) * size * max(rows, 1)
        marks = comb(columns, size) * max(candidates, 1)
        if size > 1 and (work > MOST_WORK or marks > MOST_MARKS):
            return size - 1
    return columns


def _alone(
    rows: kernel.Rows,
    size: int,
    columns: int,
    *,
    unique: NDArray[np.int64],
    threads: int | None,
) -> dict[tuple[int, ...], NDArray[np.bool_]]:
    """Return, for every set of a size, which of the unique rows are alone on it."""
    sets = list(combinations(range(columns), size))
    blocks = [sets[at : at + _BLOCK] for at in range(0, len(sets), _BLOCK)]

    def one(block: list[tuple[int, ...]]) -> NDArray[np.bool_]:
        marks = np.zeros((len(block), len(rows.counts)), dtype=np.uint8)
        kernel.mark_unique(rows, np.array(block, dtype=np.int32), marks)
        return marks[:, unique].astype(bool)

    found: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    with ThreadPoolExecutor(max_workers=threads or os.cpu_count() or 1) as pool:
        for block, marks in zip(blocks, pool.map(one, blocks), strict=True):
            found.update(zip(block, marks, strict=True))
    return found
