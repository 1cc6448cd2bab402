"""m-uniqueness [xiao2007]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from shoal.privacy.promise import Better, EquivalenceClass, Option, Promise


@dataclass(frozen=True, slots=True)
class MUniqueness(Promise):
    """At least m sensitive values, each held by equally many records of the class.

    Such a class is a union of groups in which all values are different, and at least m of them: the
    groups of the paper, which asks for one of them. It is what m-invariance needs of every class:
    with equal shares, a person whose values are the same in several releases has each of them with
    the same probability in all of them together. Shares that only stay below 1/m would multiply.

    Measure: the number of values; 0 where their shares differ.

    It is not monotone: two such classes with different values make one whose shares differ.

    Example:
        >>> MUniqueness(2).measure(EquivalenceClass(4, [2, 0, 2]))
        2
        >>> MUniqueness(2).measure(EquivalenceClass(4, [2, 1, 1]))
        0
    """

    name: ClassVar[str] = "m-uniqueness"
    better: ClassVar[Better] = Better.HIGH
    monotone: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "m",
            ("--m",),
            int,
            "With a column of sets: any m items fit k records. With --after: m-invariance.",
        ),
    )
    stricter: ClassVar[Mapping[str, Better]] = {"m": Better.HIGH}

    m: int
    _: KW_ONLY
    column: str | None = None

    def __post_init__(self) -> None:
        self._set_whole("m")
        self._check_column()

    @property
    def least_records(self) -> int:
        """Return m."""
        return self.m

    @property
    def is_void(self) -> bool:
        """Even with m = 1 it asks for equal shares."""
        return False

    def measure(self, seen: EquivalenceClass) -> int:
        """Return the number of values; 0 where their shares differ."""
        there = [records for records in self._histogram(seen) if records]
        return len(there) if len(set(there)) == 1 else 0

    def accepts(self, value: float) -> bool:
        """Return whether there are m of them."""
        return value >= self.m
