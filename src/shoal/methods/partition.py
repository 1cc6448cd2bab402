"""Partitions of the records for coarse-grained learning ([lim2018]): by k-means, or at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable

HOWS = ("kmeans", "random")
Codes = NDArray[np.int32]

_SAMPLE = 50_000  # tuples that the centres are found on
_ROUNDS = 25
_BLOCK = 1 << 16
_RECORDS = 1 << 22  # records that are dealt out at a time
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Partition(NamedTuple):
    """Some records of a table: `counts` of each of its `rows`."""

    rows: NDArray[np.int64]
    counts: NDArray[np.int64]


def check_partitioning(partitions: int, how: str) -> None:
    """Refuse a number of partitions, or a way to divide, that does not exist."""
    if partitions < 1:
        raise MethodError(problem="--partitions must be at least 1")
    if how not in HOWS:
        raise MethodError(problem=f"--partition-by must be one of {', '.join(HOWS)}")


def split(
    table: FrequencyTable, partitions: int, *, how: str = "kmeans", seed: int = 0
) -> list[Partition]:
    """Divide the records of a table into at most `partitions` partitions, none of them empty.

    `kmeans` puts like tuples together (k-means, seeded by k-means++; [lim2018]'s CP);
    `random` draws a partition for every record (its control, CP-R).

    Raises:
        MethodError: a number or a way that does not exist.
    """
    check_partitioning(partitions, how)
    if how == "random":
        codes = np.concatenate((table.codes, table.sensitive), axis=1)
        dealt = deal(codes, table.counts, partitions, seed=seed)
        found = [(np.flatnonzero(dealt[:, i]), dealt[:, i]) for i in range(partitions)]
        return [Partition(rows, counts[rows]) for rows, counts in found if len(rows)]
    chance = np.random.default_rng(seed)
    starts = np.flatnonzero(np.diff(table.tuple_ids, prepend=-1))
    points = features(table.domains, table.codes[starts])
    centres = _centres(points, table.tuple_sizes, partitions, chance)
    chosen = nearest(points, centres)[table.tuple_ids]
    rows_of = [np.flatnonzero(chosen == i) for i in range(len(centres))]
    return [Partition(rows, table.counts[rows]) for rows in rows_of if len(rows)]


def deal(
    codes: Codes, counts: NDArray[np.int64], partitions: int, *, seed: int
) -> NDArray[np.int64]:
    """Draw a partition for every record; return int64[rows, partitions], how many each one gets.

    Guarantee:
        A draw depends on the seed, on the codes of the row and on the record's number among
        its equals alone: whoever holds the row draws the same.
    """
    row_hash = _mixed(np.full(len(codes), seed % 2**64, dtype=np.uint64) + _GOLDEN)
    for column in codes.T:
        row_hash = _mixed((row_hash ^ column.astype(np.uint64)) + _GOLDEN)
    dealt = np.zeros(len(codes) * partitions, dtype=np.int64)
    ends = np.cumsum(counts)
    for begin in range(0, int(ends[-1]) if len(ends) else 0, _RECORDS):
        record = np.arange(begin, min(begin + _RECORDS, int(ends[-1])))
        row = np.searchsorted(ends, record, side="right")
        turn = (record - (ends - counts)[row] + 1).astype(np.uint64)
        drawn = _mixed(row_hash[row] + turn * _GOLDEN) >> np.uint64(32)
        partition = (drawn * np.uint64(partitions) >> np.uint64(32)).astype(np.int64)
        first = int(row[0])
        cells = np.bincount((row - first) * partitions + partition)
        dealt[first * partitions : first * partitions + len(cells)] += cells
    return dealt.reshape(len(codes), partitions)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the finalizer of SplitMix64: each bit that goes in changes half of those out."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return values ^ values >> np.uint64(31)


def features(domains: Sequence[Domain], codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return coded tuples as points in the unit cube: alike values lie side by side.

    A line keeps its proportions, a tree is laid out in post-order; a missing value on a
    line lies below the others.
    """
    points = np.empty(codes.shape)
    for j, domain in enumerate(domains):
        points[:, j] = _places(domain)[codes[:, j]]
    return points


def _places(domain: Domain) -> NDArray[np.float64]:
    """Return where each value of a column lies."""
    if domain.tree is not None:
        places = domain.position / max(len(domain.tree) - 1, 1)
    else:
        inner = domain.position[1:] if domain.has_missing else domain.position
        low = float(inner[0]) if len(inner) else 0.0
        places = (domain.position - low) / (domain.span or 1.0)
        if domain.has_missing:
            places[0] = -0.5
    weighted: NDArray[np.float64] = places * domain.weight
    return weighted


def middle_of(
    domains: Sequence[Domain], histograms: Sequence[NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Return the mean of points, given how many of them have each code of each column.

    Whole numbers are exact in any order: engines that count otherwise agree on the mean.
    """
    return np.array(
        [
            float((_places(domain) * counts).sum()) / max(int(counts.sum()), 1)
            for domain, counts in zip(domains, histograms, strict=True)
        ]
    )


def nearest(points: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the nearest centre of each point; of equals the first.

    Guarantee:
        A point is given to the same centre whichever points stand beside it, and whatever the
        number of threads: products of matrices are rounded by their shapes, single sums are not.
    """
    chosen = np.empty(len(points), dtype=np.int64)
    half = (centres**2).sum(axis=1) / 2
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK]
        score = np.zeros((len(block), len(centres)))
        for j in range(points.shape[1]):
            score += block[:, j, None] * centres[:, j]
        chosen[start : start + _BLOCK] = np.argmax(score - half, axis=1)
    return chosen


def _centres(
    points: NDArray[np.float64],
    weights: NDArray[np.int64],
    partitions: int,
    chance: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the centres of k-means, seeded by k-means++."""
    if len(points) > _SAMPLE:
        drawn = np.sort(chance.choice(len(points), _SAMPLE, replace=False))
        points, weights = points[drawn], weights[drawn]
    mass = weights / weights.sum()
    centres = [points[chance.choice(len(points), p=mass)]]
    away = ((points - centres[0]) ** 2).sum(axis=1)
    while len(centres) < partitions and (total := float((away * mass).sum())) > 0:
        centres.append(points[chance.choice(len(points), p=away * mass / total)])
        away = np.minimum(away, ((points - centres[-1]) ** 2).sum(axis=1))
    found = np.array(centres)
    for _ in range(_ROUNDS):
        chosen = nearest(points, found)
        heavy = np.bincount(chosen, weights=weights, minlength=len(found))
        moved = found.copy()
        for j in range(points.shape[1]):
            sums = np.bincount(chosen, weights=weights * points[:, j], minlength=len(found))
            moved[:, j] = np.where(heavy > 0, sums / np.maximum(heavy, 1), found[:, j])
        if np.allclose(moved, found, rtol=0, atol=1e-12):
            break
        found = moved
    return found


def histograms_by_column(
    domains: Sequence[Domain], codes: Codes, counts: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Return, for each column, the records that have each code."""
    return [
        np.bincount(codes[:, j], weights=counts, minlength=len(domain)).astype(np.int64)
        for j, domain in enumerate(domains)
    ]
