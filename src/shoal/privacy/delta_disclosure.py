"""δ-disclosure privacy [brickell2008]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from shoal.privacy.promise import TOLERANCE, Better, EquivalenceClass, Needs, Option, Promise


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(Promise):
    """Every sensitive value is nearly as frequent in a class as in the table: |ln(q / p)| < delta.

    The measure of a class that lacks a value of the table is infinite, so every class holds every
    value: the strictest of the promises about shares.

    Measure: the largest |ln(q / p)|.

    Where persons are counted, a share is that of the persons who have the value, in the class
    and in the table.

    Law:
        Monotone: a share of two merged classes lies between their shares. Not so where persons
        are counted.

    Example:
        >>> from shoal.privacy.distances import Reference
        >>> seen = EquivalenceClass(4, [3, 1], reference=Reference([5, 5]))
        >>> round(DeltaDisclosure(0.7).measure(seen), 4), DeltaDisclosure(0.7).holds(seen)
        (0.6931, True)
    """

    name: ClassVar[str] = "delta-disclosure"
    needs: ClassVar[Needs] = Needs.HISTOGRAM | Needs.REFERENCE
    better: ClassVar[Better] = Better.LOW
    options: ClassVar[tuple[Option, ...]] = (
        Option("delta", ("--delta",), float, "delta-disclosure privacy."),
    )
    stricter: ClassVar[Mapping[str, Better]] = {"delta": Better.LOW}

    delta: float
    _: KW_ONLY
    column: str | None = None

    def __post_init__(self) -> None:
        self._set_real("delta", "above 0", low=math.ulp(0.0), high=math.inf)
        self._check_column()

    def measure(self, seen: EquivalenceClass) -> float:
        """Return the largest |ln(q / p)|; infinite where the class lacks a value."""
        return max(
            abs(math.log(share / whole)) if share else math.inf for share, whole in seen.shares()
        )

    def accepts(self, value: float) -> bool:
        """Return whether that is below delta."""
        return value < self.delta * (1 - TOLERANCE)
