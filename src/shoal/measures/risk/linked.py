"""Risk in linked tables: how easily a person is found by all rows of theirs, or by one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.measures.risk.trajectories import LIMITS, TrajectoryRisk


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRisk:
    """How easily persons are found by whoever knows the tuple of one row in one table.

    Attributes:
        records: rows of the table.
        persons: those who have a row in it.
        unique: persons with a tuple that nobody else has.
        smallest: persons who share the rarest tuple.
        average: of the chances to be found, each by the rarest tuple that the person has.
        below: persons with a tuple that fewer than 2, 3, 5 and 10 persons have.
    """

    records: int
    persons: int
    unique: int
    smallest: int
    average: float
    below: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, records: int, rarest: NDArray[np.int64]) -> RowRisk:
        """Count from the persons who share the rarest tuple of each person.

        Example:
            >>> RowRisk.of(9, np.array([1, 2, 2])).average
            0.6666666666666666
        """
        return cls(
            records=records,
            persons=len(rarest),
            unique=int((rarest == 1).sum()),
            smallest=int(rarest.min()) if len(rarest) else 0,
            average=float((1 / rarest).mean()) if len(rarest) else 0.0,
            below={str(limit): int((rarest < limit).sum()) for limit in LIMITS},
        )

    def to_document(self) -> Document:
        """Return the finding as plain data."""
        return {
            "records": self.records,
            "persons": self.persons,
            "unique": self.unique,
            "smallest": self.smallest,
            "average": self.average,
            "below": dict(self.below),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedRisk:
    """How easily persons are found in linked tables as they stand.

    Attributes:
        records: rows of all tables.
        whole: by all rows of a person together, as whoever joins the tables sees them.
        tables: by one row of a table.
        columns: for each quasi-identifier, as table.column, how much less the average risk would
            be without it.
    """

    records: int
    whole: TrajectoryRisk
    tables: Mapping[str, RowRisk]
    columns: Mapping[str, float]

    def within(self, most: float, *, measure: str = "maximum") -> bool:
        """Say whether a risk by all rows together is at most so high."""
        return float(getattr(self.whole, measure)) <= most

    def to_document(self) -> Document:
        """Return the findings with the fields that every risk has."""
        whole = self.whole
        return {
            "records": self.records,
            "persons": whole.persons,
            "classes": whole.different,
            "global_risk": whole.average,
            "expected_reidentifications": float(whole.different),
            "below": dict(whole.below),
            "prosecutor": {"maximum": whole.maximum, "average": whole.average},
            "trajectories": whole.to_document(),
            "tables": {name: each.to_document() for name, each in self.tables.items()},
            "columns": {name: {"contribution": share} for name, share in self.columns.items()},
        }

    def lines(self) -> list[str]:
        """Return the findings as lines for people."""
        whole = self.whole
        found = [
            f"{self.records:,} records of {whole.persons:,} persons in {len(self.tables)} tables",
            f"  by all rows   {whole.unique:,} persons have rows that nobody else has, all taken "
            f"together; {whole.average:.1%} are found on average, {whole.maximum:.1%} at worst",
        ]
        found += [
            f"  by one row    of {name}: {each.unique:,} of {each.persons:,} persons have one that "
            f"nobody else has; {each.average:.1%} are found on average"
            for name, each in self.tables.items()
        ]
        order = sorted(self.columns.items(), key=lambda line: (-line[1], line[0]))
        found += [f"  without       {name}: {share:.1%} less" for name, share in order if share > 0]
        return found
