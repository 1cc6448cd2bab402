"""A promise and a limit as a search over a lattice sees them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.kernels.axes import CLOSENESS, EQUAL, NT_CLOSENESS, ORDERED, PromiseArrays
from shoal.privacy import Promise, expand
from shoal.table.frequency import FrequencyTable


@dataclass(frozen=True, slots=True)
class Constraint:
    """What every published class keeps, and how many records may be suppressed for it.

    Attributes:
        budget: records that may be suppressed.
        records: records of the table.
    """

    models: tuple[Promise, ...]
    budget: int
    records: int

    @property
    def k(self) -> int:
        """Return the smallest class that the promise allows."""
        return max((m.least_records for m in self.models), default=1)

    @property
    def most_classes(self) -> int:
        """Return how many classes there may be before too many must fail.

        p classes of at least k records and f smaller ones, with at most `budget` records
        in the smaller ones: p + f <= (N - budget) / k + budget.
        """
        return (self.records - self.budget) // self.k + self.budget


def constraint_of(models: Sequence[Promise], table: FrequencyTable, *, limit: float) -> Constraint:
    """Return the promise for a table, bound to its sensitive columns, and the budget.

    A release of nothing is no release, so the budget never covers all records.

    Raises:
        MethodError: the limit is not a share.
    """
    if not 0 <= limit <= 1:
        raise MethodError(problem="the suppression limit must lie between 0 and 1")
    # 0.29 * 100 is just below 29 in floats; whoever writes 0.29 means 29.
    budget = max(min(math.floor(limit * table.records + 1e-9), table.records - 1), 0)
    names = [domain.name for domain in table.sensitive_domains]
    return Constraint(tuple(expand(models, names)), budget, table.records)


def largest_distances(promise: PromiseArrays) -> NDArray[np.float64]:
    """Return, per model, a bound of the distance between any records and the whole table.

    A distance is convex, so it is largest for records that all have one value: 1 minus
    that value's share (equal), or what the ends of the order are away (ordered). The others
    are at most 1.
    """
    found = np.ones(promise.kind.size)
    for m, (kind, column, how) in enumerate(
        zip(promise.kind, promise.column, promise.distance, strict=True)
    ):
        counts = promise.reference[promise.start[column] : promise.start[column + 1]]
        shares = counts / max(counts.sum(), 1)
        if kind not in (CLOSENESS, NT_CLOSENESS):
            continue
        if how == EQUAL:
            found[m] = 1 - shares.min()
        elif how == ORDERED and len(shares) > 1:
            middle = float((np.arange(len(shares)) * shares).sum()) / (len(shares) - 1)
            found[m] = max(middle, 1 - middle)
    return found
