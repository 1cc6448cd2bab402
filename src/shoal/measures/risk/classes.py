"""Risks that need nothing but class sizes: prosecutor, journalist, marketer, k-map.

Prosecutor: the attacker knows that the person is in the table. Journalist: knows only that
the person is in the population. Marketer: wants as many people as possible, not one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError

LIMITS = (2, 3, 5)
Band = TypedDict("Band", {"from": int, "to": int | None, "classes": int, "records": int})
BANDS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRisk:
    """What the class sizes alone say.

    Attributes:
        maximum: risk of the record that is easiest to find.
        average: expected share of records found when everybody is looked for.
    """

    maximum: float
    average: float

    def to_document(self) -> dict[str, float]:
        """Return the risk as plain data."""
        return asdict(self)


def prosecutor(sizes: NDArray[np.int64]) -> ClassRisk:
    """Return the risk when the person is known to be in the table: 1 / class size.

    Example:
        >>> prosecutor(np.array([1, 4]))
        ClassRisk(maximum=1.0, average=0.4)
    """
    _check(sizes)
    if not len(sizes):
        return ClassRisk(maximum=0.0, average=0.0)
    return ClassRisk(maximum=1 / int(sizes.min()), average=len(sizes) / int(sizes.sum()))


def journalist(sizes: NDArray[np.int64], population: NDArray[np.float64]) -> ClassRisk:
    """Return the risk when the person is known to be in the population: 1 / Fk.

    The average is the larger of the two that are in use: classes / people in them, and the
    mean of 1 / Fk over the records.
    """
    _check(sizes)
    if not len(sizes):
        return ClassRisk(maximum=0.0, average=0.0)
    big = np.maximum(population, sizes)
    by_people = len(sizes) / float(big.sum())
    return ClassRisk(maximum=1 / float(big.min()), average=max(by_people, marketer(sizes, big)))


def marketer(sizes: NDArray[np.int64], population: NDArray[np.float64] | None = None) -> float:
    """Return the expected share of records that a match with the population gets right."""
    _check(sizes)
    records = int(sizes.sum()) if len(sizes) else 0
    if not records:
        return 0.0
    big = sizes if population is None else np.maximum(population, sizes)
    return float((sizes / big).sum()) / records


def below(sizes: NDArray[np.int64], limits: tuple[int, ...] = LIMITS) -> dict[str, int]:
    """Return how many records stand in classes smaller than each limit.

    Example:
        >>> below(np.array([1, 2, 2, 9]))
        {'2': 1, '3': 5, '5': 5}
    """
    _check(sizes)
    return {str(limit): int(sizes[sizes < limit].sum()) for limit in limits}


def bands(sizes: NDArray[np.int64], records: NDArray[np.int64] | None = None) -> list[Band]:
    """Return the classes and records by class size; records: of each class, where not its size."""
    _check(sizes)
    held = sizes if records is None else records
    found: list[Band] = []
    for low, high in BANDS:
        inside = held[(sizes >= low) & (sizes <= (high or np.iinfo(np.int64).max))]
        found.append(
            {"from": low, "to": high, "classes": len(inside), "records": int(inside.sum())}
        )
    return found


def _check(sizes: NDArray[np.int64]) -> None:
    if len(sizes) and sizes.min() < 1:
        raise KernelInputError(problem="a class has no record")
