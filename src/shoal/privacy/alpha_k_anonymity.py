"""(α,k)-anonymity [wong2006]."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

from shoal.privacy.compiled import Compiled, Measure
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.promise import Better, EquivalenceClass, Option, Promise, Values


@dataclass(frozen=True, slots=True)
class AlphaKAnonymity(Promise):
    """At least k records, and no sensitive value has more than a share alpha of them.

    With `values`, only those are bounded. Monotone: a class only grows, and shares of merged
    classes are averages. Where persons are counted, at least k persons, and a share is that of
    the persons who have the value; then it is not monotone.

    Measure: the largest share. A class below k fails whatever its shares are.

    Example:
        >>> AlphaKAnonymity(0.5, 4).measure(EquivalenceClass(4, [3, 1]))
        0.75
    """

    name: ClassVar[str] = "(alpha,k)-anonymity"
    better: ClassVar[Better] = Better.LOW
    options: ClassVar[tuple[Option, ...]] = (
        Option("alpha", ("--alpha",), float, "With -k: (alpha,k)-anonymity."),
        *KAnonymity.options,
    )
    stricter: ClassVar[Mapping[str, Better]] = {"alpha": Better.LOW, "k": Better.HIGH}

    alpha: float
    k: int
    _: KW_ONLY
    column: str | None = None
    values: Sequence[str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._set_real("alpha", "above 0 and at most 1", low=math.ulp(0.0))
        self._set_whole("k")
        self._check_column()
        if self.values is None:
            return
        # A bare string is a sequence too: "flu" would protect "f", "l" and "u".
        if isinstance(self.values, str) or not isinstance(self.values, Sequence):
            raise self._refuse("values must be a list of values")
        if not self.values or not all(isinstance(value, str) for value in self.values):
            raise self._refuse("values must name at least one value, each written as text")
        object.__setattr__(self, "values", tuple(dict.fromkeys(self.values)))

    @property
    def least_records(self) -> int:
        """Return k."""
        return self.k

    @property
    def is_void(self) -> bool:
        """No share exceeds 1."""
        return self.k <= 1 and self.alpha >= 1

    def implies(self, other: Promise) -> bool:
        """Bounding more values is stricter; all of them is strictest."""
        if not isinstance(other, AlphaKAnonymity):
            return False
        wide, narrow = self.values, other.values
        covers = wide is None or (narrow is not None and set(wide) >= set(narrow))
        return covers and self.alpha <= other.alpha and self.k >= other.k

    def measure(self, seen: EquivalenceClass) -> float:
        """Return the largest share that a bounded value has in the class."""
        histogram = self._histogram(seen)
        if self.values is None:
            return max(histogram) / seen.records
        known = self._reference(seen).values
        if known is None:
            raise self._refuse("the reference does not say which value is which")
        named = set(self.values)
        bounded = (n for value, n in zip(known, histogram, strict=True) if value in named)
        return max(bounded, default=0) / seen.records

    def accepts(self, value: float) -> bool:
        """Return whether that is at most alpha."""
        return value <= self.alpha

    def judge(self, seen: EquivalenceClass) -> tuple[float, bool]:
        """Return the largest share; a class of fewer than k records does not hold."""
        value = self.measure(seen)
        return value, seen.records >= self.k and self.accepts(value)

    def compiled(self) -> Compiled:
        """Return alpha and the bounded values."""
        named = None if self.values is None else tuple(self.values)
        return Compiled(Measure.LARGEST_SHARE, self.alpha, values=named)

    def _faults(
        self, columns: Sequence[str], trees: Collection[str], *, values: Values
    ) -> list[str]:
        if self.values is None or not all(column in values for column in columns):
            return []
        absent = sum(not any(value in values[c] for c in columns) for value in self.values)
        where = " or ".join(repr(column) for column in columns)
        text = f"{absent} of {len(self.values)} named values do not occur in column {where}"
        return [f"{self.name}: {text}"] if absent else []
