"""Protected marginals: how often the values of a column occur, with no count of fewer than k.

A value that k persons have stands for itself. Rarer ones are pooled with rare neighbours until k
persons are together, and a pool is all that is known of them: how many records it has, and where on
the line it lies. A common value between two rare ones belongs to no pool. What is left over joins
the last pool; where all rare values together are fewer than k persons, nothing is said of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.engines.drawing.units import Units, units_of
from shoal.schema.attribute import Attribute
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

POINTS = 64
"""Values that a pool of a line is drawn from, at most: of all its steps, evenly."""
NO_POOL = -1


@dataclass(frozen=True)
class Marginal:
    """What is known of one column, and all that is drawn from beside the release.

    Attributes:
        texts: the values that may be drawn, in the order of the line or of the hierarchy; None,
            the missing value, first.
        place: float64[values], where each stands: on the line, or at its node of the hierarchy.
        pool: int64[values], the pool of each; a common value has one of its own.
        records: float64[pools], the records of each pool.
    """

    name: str
    texts: tuple[str | None, ...] = field(repr=False)
    place: Floats = field(repr=False)
    pool: Ints = field(repr=False)
    records: Floats = field(repr=False)


@dataclass(frozen=True)
class _Pool:
    """Codes that are told of together."""

    codes: tuple[int, ...]
    is_common: bool


Noise = Callable[[Sequence[int]], list[int]]
"""Gives the counts of one marginal back with noise."""


def protected_marginal(
    table: FrequencyTable, column: int, attribute: Attribute, *, k: int, noise: Noise | None = None
) -> Marginal:
    """Return what may be known of a column: no pool has fewer than k persons.

    noise: of the counts; what is rare, and pooled, is then judged by these.

    Raises:
        MethodError: the table's rows are not on this machine.
    """
    domain = table.domains[column]
    codes = table.codes[:, column].astype(np.int64)
    every = np.arange(table.rows)
    persons = table.persons_of(every, codes, table.counts, len(domain))
    records = np.bincount(codes, weights=table.counts, minlength=len(domain))
    if not records.sum():
        raise MethodError(problem="draw needs the tuples of the table on this machine")
    if noise is not None:
        records = np.array(noise(records.astype(np.int64).tolist()), dtype=np.float64)
        persons = records.astype(np.int64)
    pools = pools_of(persons, k)
    units = units_of(domain, attribute)
    values: list[tuple[float, str | None, int]] = []
    for number, pool in enumerate(pools):
        for place, text in _values(domain, units, pool):
            values.append((place, text, number))
    values.sort(key=lambda each: (each[1] is not None, each[0]))
    mass = np.array([records[list(pool.codes)].sum() for pool in pools], dtype=np.float64)
    return Marginal(
        name=domain.name,
        texts=tuple(text for _, text, _ in values),
        place=np.array([place for place, _, _ in values], dtype=np.float64),
        pool=np.array([number for _, _, number in values], dtype=np.int64),
        records=mass,
    )


def pools_of(persons: Ints, k: int) -> list[_Pool]:
    """Return the pools of codes in order, each of at least k persons; fewer in all: none of them.

    Example:
        >>> [pool.codes for pool in pools_of(np.array([1, 9, 1, 1, 2, 7, 1]), 3)]
        [(1,), (5,), (0, 2, 3), (4, 6)]
    """
    found = [_Pool((int(c),), is_common=True) for c in np.flatnonzero(persons >= k)]
    waiting: list[int] = []
    rare: list[list[int]] = []
    for code in np.flatnonzero((persons > 0) & (persons < k)).tolist():
        waiting.append(code)
        if persons[waiting].sum() >= k:
            rare.append(waiting)
            waiting = []
    if waiting and rare:
        rare[-1] += waiting
    return found + [_Pool(tuple(codes), is_common=False) for codes in rare]


def _values(domain: Domain, units: Units | None, pool: _Pool) -> list[tuple[float, str | None]]:
    """Return place and text of the values that a pool is drawn from."""
    own = [(float(domain.position[code]), domain.labels[code]) for code in pool.codes]
    if pool.is_common or units is None:
        return own
    first = int(domain.has_missing)
    found: list[tuple[float, str | None]] = [each for each in own if each[1] is None]
    spans = _spans([code - first for code in pool.codes if code >= first], units)
    counts = [(high - low) // units.step + 1 for low, high in spans]
    every = max(-(-sum(counts) // POINTS), 1)
    at = every // 2
    for (low, _), count in zip(spans, counts, strict=True):
        for step in range(at, count, every):
            unit = low + step * units.step
            found.append((units.place(unit), units.text(unit)))
        at = (at - count) % every
    return found


def _spans(codes: Sequence[int], units: Units) -> list[tuple[int, int]]:
    """Return the runs of units that a pool's values lie in, each half-way to the value beside it.

    So the ends of a run are nobody's value, but for the ends of the line.
    """
    runs: list[list[int]] = []
    for code in codes:
        if runs and code == runs[-1][-1] + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    return [_span(run, units.known, units.step) for run in runs]


def _span(run: Sequence[int], known: Sequence[int], step: int) -> tuple[int, int]:
    """Return the units from half-way to the value before to half-way to the one behind."""
    low, high = known[run[0]], known[run[-1]]
    if run[0] > 0:
        low -= (low - known[run[0] - 1] - 1) // 2 // step * step
    if run[-1] + 1 < len(known):
        high += (known[run[-1] + 1] - high - 1) // 2 // step * step
    return low, high
