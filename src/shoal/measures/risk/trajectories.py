"""Trajectories: how easily a person is found by all of their records together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document

LIMITS = (2, 3, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryRisk:
    """Persons grouped by their trajectory, the multiset of quasi-identifier tuples of a person.

    Attributes:
        persons, different: how many there are, and how many different trajectories.
        unique: persons who share theirs with nobody.
        smallest: persons of the trajectory that fewest share.
        below: persons in groups of fewer than 2, 3, 5 and 10.
    """

    persons: int
    different: int
    unique: int
    smallest: int
    below: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, sizes: NDArray[np.int64]) -> TrajectoryRisk:
        """Count from the persons of each different trajectory.

        Example:
            >>> TrajectoryRisk.of(np.array([1, 1, 4])).unique
            2
        """
        return cls(
            persons=int(sizes.sum()),
            different=len(sizes),
            unique=int((sizes == 1).sum()),
            smallest=int(sizes.min()) if len(sizes) else 0,
            below={str(limit): int(sizes[sizes < limit].sum()) for limit in LIMITS},
        )

    @property
    def maximum(self) -> float:
        """Return the risk of the person easiest to find."""
        return 1 / self.smallest if self.smallest else 0.0

    @property
    def average(self) -> float:
        """Return the expected share of persons found by somebody who knows all their records."""
        return self.different / self.persons if self.persons else 0.0

    @property
    def text(self) -> str:
        """Return the finding as a sentence."""
        return (
            f"records of a person are linked: {self.unique:,} of {self.persons:,} persons have "
            "records that nobody else has, all taken together"
        )

    def to_document(self) -> Document:
        """Return the finding as plain data."""
        return {
            "persons": self.persons,
            "different": self.different,
            "unique": self.unique,
            "smallest": self.smallest,
            "below": dict(self.below),
            "maximum": self.maximum,
            "average": self.average,
        }
