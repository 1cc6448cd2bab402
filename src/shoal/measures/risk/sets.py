"""Risk of sets of items: how many records are pinned down by whoever knows a few of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.measures.risk.trajectories import LIMITS
from shoal.table.baskets import Baskets


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """How records stand against somebody who knows some of their items.

    Attributes:
        unique: records with such items that no other record has.
        average: of the chances to be found, each by the rarest of its items.
        maximum: the highest of these.
        below: records with items that fewer than 2, 3, 5 and 10 records have.
    """

    unique: int
    average: float
    maximum: float
    below: Mapping[str, int]

    @classmethod
    def of(cls, lowest: NDArray[np.int64]) -> Self:
        """Count from the least support of each record's items."""
        return cls(
            unique=int((lowest == 1).sum()), average=float((1 / lowest).mean()),
            maximum=float(1 / lowest.min()),
            below={str(limit): int((lowest < limit).sum()) for limit in LIMITS},
        )  # fmt: skip

    def to_document(self) -> Document:
        """Return the finding as plain data."""
        return {
            "unique": self.unique, "average": self.average, "maximum": self.maximum,
            "below": dict(self.below),
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRisk:
    """How easily records are found by their items.

    Attributes:
        classes: of the other quasi-identifiers, which are known, too.
        by: what 1, 2 or 3 items tell, and all of a record ("all").
    """

    records: int
    items: int
    occurrences: int
    classes: int
    by: Mapping[str, Known]

    @classmethod
    def of(
        cls, baskets: Baskets, classes: int, lowest: Mapping[int | None, NDArray[np.int64]]
    ) -> Self:
        """Count from the least support of each record's items, by how many are known."""
        return cls(
            records=baskets.records, items=len(baskets.items), occurrences=baskets.codes.size,
            classes=classes,
            by={"all" if m is None else str(m): Known.of(low) for m, low in lowest.items()},
        )  # fmt: skip

    def within(self, most: float, *, measure: str = "maximum") -> bool:
        """Say whether the risk by all items of a record is at most so high."""
        return float(getattr(self.by["all"], measure)) <= most

    def to_document(self) -> Document:
        """Return the findings with the fields that every risk has."""
        whole = self.by["all"]
        return {
            "records": self.records, "classes": self.classes, "items": self.items,
            "occurrences": self.occurrences, "global_risk": whole.average,
            "expected_reidentifications": whole.average * self.records, "below": dict(whole.below),
            "prosecutor": {"maximum": whole.maximum, "average": whole.average},
            "sets": {name: each.to_document() for name, each in self.by.items()},
        }  # fmt: skip

    def lines(self) -> list[str]:
        """Return the findings as lines for people."""
        found = [
            f"{self.records:,} records hold {self.items:,} items, {self.occurrences:,} times in all"
        ]
        for name, each in self.by.items():
            words = {"1": "1 item known", "all": "all known"}.get(name, f"{name} items known")
            found.append(
                f"  {words:<15}{each.unique:,} records are pinned down; {each.average:.2%} are "
                f"found on average, {each.maximum:.2%} at worst"
            )
        return found
