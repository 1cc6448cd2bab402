"""Records are not people: classes whose records belong to fewer than k of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.privacy import Promise
from shoal.reports.release import Verification

FEW_PEOPLE = 5
"""People of a class that are few, where no promise says k."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """What an identifying column that repeats says about classes of k records.

    Attributes:
        values, records: different values of the column, and records that have one.
        classes, class_records: classes with fewer than k of its values, and their records.
            A missing value adds nobody.
        single: classes with one value, or none.
    """

    column: str
    values: int
    records: int
    k: int
    classes: int
    class_records: int
    single: int

    @classmethod
    def of(
        cls,
        column: str,
        counted: tuple[int, int],
        k: int,
        sizes: NDArray[np.int64],
        people: NDArray[np.int64],
    ) -> Repeats:
        """Count from the records and the values (up to k suffice) of each class."""
        few = people < k
        found = int(few.sum()), int(sizes[few].sum()), int((people <= 1).sum())
        return cls.counted(column, counted, k, found)

    @classmethod
    def counted(
        cls, column: str, counted: tuple[int, int], k: int, few: tuple[int, int, int]
    ) -> Repeats:
        """Put counts together: values and records; classes with few, their records, single."""
        return cls(
            column=column, values=counted[0], records=counted[1], k=k,
            classes=few[0], class_records=few[1], single=few[2],
        )  # fmt: skip

    @property
    def text(self) -> str:
        """Return the finding as a sentence."""
        return (
            f"k counts records, not people: {self.column!r} repeats ({self.values:,} values on "
            f"{self.records:,} records), and {self.classes:,} classes ({self.class_records:,} "
            f"records) belong to fewer than {self.k} of its values, {self.single:,} to a single one"
        )

    def to_document(self) -> dict[str, str | int]:
        """Return the finding as plain data."""
        return asdict(self)


def with_warnings(
    verified: Verification, repeats: Repeats | None, warnings: Sequence[str]
) -> Verification:
    """Return a verdict with what is to be known beside it, before its own warnings."""
    first = () if repeats is None else (repeats.text,)
    document = None if repeats is None else repeats.to_document()
    return replace(verified, repeats=document, warnings=(*first, *warnings, *verified.warnings))


def asked_k(models: Sequence[Promise], default: int = 2) -> int:
    """Return the largest k that a promise speaks of."""
    return max((int(getattr(model, "k", 0)) for model in models), default=0) or default
