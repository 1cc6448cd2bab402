"""A promise and a limit, cut into what a search may and may not rely on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.core.privacy import AlphaKAnonymity, KAnonymity, PrivacyModel
from shoal.kernels.axes import DISTINCT, Promise


@dataclass(frozen=True, slots=True)
class Pledge:
    """What every published class keeps, and how many records may be suppressed for it.

    Attributes:
        budget: records that may be suppressed.
        records: records of the table.
        fails_for_good: whether a class that fails has, in every finer node, a part that
            fails too. Then a node with a failing class more than the budget allows rules
            out everything below it. Where it is false, only classes that are too small or
            have too few distinct values are relied on in that way.
    """

    models: tuple[PrivacyModel, ...]
    budget: int
    records: int
    fails_for_good: bool

    @property
    def k(self) -> int:
        """Return the smallest class that the promise allows."""
        sizes = [m.k for m in self.models if isinstance(m, (KAnonymity, AlphaKAnonymity))]
        return max(sizes, default=1)

    @property
    def most(self) -> int:
        """Return how many classes there may be before too many must fail.

        p classes of at least k records and f smaller ones, with at most `budget` records
        in the smaller ones: p + f <= (N - budget) / k + budget.
        """
        return (self.records - self.budget) // self.k + self.budget

    def need(self, promise: Promise) -> NDArray[np.int64]:
        """Return first place, end and number of values that distinct l-diversity asks for."""
        rows = [
            (promise.start[column], promise.start[column + 1], math.ceil(least))
            for kind, column, least in zip(
                promise.kind, promise.column, promise.first_number, strict=True
            )
            if kind == DISTINCT
        ]
        return np.array(rows, dtype=np.int64).reshape(-1, 3)


def pledge_of(models: Sequence[PrivacyModel], *, records: int, limit: float) -> Pledge:
    """Return the promise for a table of this size.

    Without suppression, every model may be relied on for which merging safe classes
    gives a safe class. With it, a failing class may spoil a safe one that it is merged
    into, and only what no merging can spoil remains: size and distinct values. A release
    of nothing is no release, so the budget never covers all records.

    Raises:
        MethodError: the limit is not a share.

    Example:
        >>> pledge_of([KAnonymity(5)], records=100, limit=0.29).budget
        29
    """
    if not 0 <= limit <= 1:
        raise MethodError(problem="the suppression limit must lie between 0 and 1")
    # 0.29 * 100 is just below 29 in floats; whoever writes 0.29 means 29.
    budget = max(min(math.floor(limit * records + 1e-9), records - 1), 0)
    if budget:
        for_good = all(model.monotone_with_suppression for model in models)
    else:
        for_good = all(model.monotone for model in models)
    return Pledge(tuple(models), budget, records, for_good)

