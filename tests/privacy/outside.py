"""A promise of somebody else's, in one file outside the package: basic β-likeness [cao2012]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.privacy import TOLERANCE, Better, EquivalenceClass, Needs, Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideLikeness(Promise):
    """No sensitive value is more than 1 + beta times as frequent in a class as in the table."""

    name: ClassVar[str] = "outside-likeness"
    needs: ClassVar[Needs] = Needs.HISTOGRAM | Needs.REFERENCE
    better: ClassVar[Better] = Better.LOW

    beta: float
    column: str | None = None

    def measure(self, seen: EquivalenceClass) -> float:
        return max(share / whole - 1 for share, whole in seen.shares())

    def accepts(self, value: float) -> bool:
        return value <= self.beta * (1 + TOLERANCE)
