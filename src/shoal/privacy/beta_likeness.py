"""β-likeness, basic and enhanced [cao2012]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from shoal.privacy.promise import TOLERANCE, Better, EquivalenceClass, Needs, Option, Promise


@dataclass(frozen=True, slots=True)
class BetaLikeness(Promise):
    """No sensitive value is more than 1 + beta times as frequent in a class as in the table.

    With `enhanced`, a value of share p in the table may gain at most min(beta, -ln p), so that
    frequent values are bounded too: its share in a class never reaches 1.

    Measure: the largest relative gain of a value, (q - p) / p; 0 when none gains.

    Where persons are counted, a share is that of the persons who have the value, in the class
    and in the table.

    Law:
        Monotone: a share of two merged classes lies between their shares. Not so where persons
        are counted.

    Example:
        >>> from shoal.privacy.distances import Reference
        >>> seen = EquivalenceClass(4, [3, 1], reference=Reference([5, 5]))
        >>> BetaLikeness(0.5).judge(seen), BetaLikeness(1, enhanced=True).judge(seen)
        ((0.5, True), (0.5, True))
    """

    name: ClassVar[str] = "beta-likeness"
    needs: ClassVar[Needs] = Needs.HISTOGRAM | Needs.REFERENCE
    better: ClassVar[Better] = Better.LOW
    options: ClassVar[tuple[Option, ...]] = (
        Option("beta", ("--beta",), float, "beta-likeness: gain of a value's share."),
    )
    # True is more than False: the enhanced kind bounds all that the basic one does.
    stricter: ClassVar[Mapping[str, Better]] = {"beta": Better.LOW, "enhanced": Better.HIGH}

    beta: float
    _: KW_ONLY
    enhanced: bool = False
    column: str | None = None

    def __post_init__(self) -> None:
        self._set_real("beta", "above 0", low=math.ulp(0.0), high=math.inf)
        self._check_column()
        if not isinstance(self.enhanced, bool):
            raise self._refuse("enhanced must be true or false")

    def measure(self, seen: EquivalenceClass) -> float:
        """Return the largest relative gain."""
        return max(0.0, *(share / whole - 1 for share, whole in seen.shares()))

    def accepts(self, value: float) -> bool:
        """Return whether that is at most beta."""
        return value <= self.beta * (1 + TOLERANCE)

    def judge(self, seen: EquivalenceClass) -> tuple[float, bool]:
        """Return the largest gain; the enhanced kind bounds each value by its own share."""
        value = self.measure(seen)
        within = not self.enhanced or all(
            share / whole - 1 <= -math.log(whole) * (1 + TOLERANCE) + TOLERANCE
            for share, whole in seen.shares()
        )
        return value, within and self.accepts(value)
