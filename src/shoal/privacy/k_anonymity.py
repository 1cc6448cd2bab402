"""k-anonymity [samarati2001, sweeney2002]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from shoal.privacy.promise import Better, EquivalenceClass, Needs, Option, Promise


@dataclass(frozen=True, slots=True)
class KAnonymity(Promise):
    """A class has at least k records. Measure: its records.

    Where persons are counted: at least k different persons.

    Example:
        >>> KAnonymity(5).holds(EquivalenceClass(4))
        False
    """

    name: ClassVar[str] = "k-anonymity"
    needs: ClassVar[Needs] = Needs.SIZE
    better: ClassVar[Better] = Better.HIGH
    options: ClassVar[tuple[Option, ...]] = (
        Option("k", ("-k", "--k"), int, "k-anonymity: records (with --person: persons) per class."),
    )
    stricter: ClassVar[Mapping[str, Better]] = {"k": Better.HIGH}

    k: int
    column: str | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._set_whole("k")

    @classmethod
    def is_asked(cls, given: Mapping[str, object]) -> bool:
        """Return whether -k is there and is not that of privacy requirements."""
        return "k" in given and "requirements" not in given

    @property
    def least_records(self) -> int:
        """Return k."""
        return self.k

    @property
    def is_void(self) -> bool:
        """Every record is a class of one."""
        return self.k == 1

    @property
    def monotone_with_suppression(self) -> bool:
        """A class only grows."""
        return True

    @property
    def monotone_with_persons(self) -> bool:
        """Different persons of two classes are all in the merged one."""
        return True

    def measure(self, seen: EquivalenceClass) -> int:
        """Return the number of records, or of persons."""
        return seen.records

    def accepts(self, value: float) -> bool:
        """Return whether there are k of them."""
        return value >= self.k
