"""rho-uncertainty of sensitive items [cao2010]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from shoal.core.documents import Document, as_json
from shoal.privacy.promise import TOLERANCE, Better, EquivalenceClass, Needs, Promise


@dataclass(frozen=True, slots=True)
class RhoUncertainty(Promise):
    """Whoever knows up to m items of a person holds no sensitive item of them likelier than rho.

    The paper bounds what any number of items tells (m None), and lets the items that are known be
    sensitive, too. A label that may stand for a sensitive item counts as that item.

    Measure: the largest share of the records with some labels that hold a sensitive item beside
    them.
    """

    name: ClassVar[str] = "rho-uncertainty"
    needs: ClassVar[Needs] = Needs.ITEMSETS
    better: ClassVar[Better] = Better.LOW
    monotone: ClassVar[bool] = False
    stricter: ClassVar[Mapping[str, Better]] = {"rho": Better.LOW}

    rho: float
    items: tuple[str, ...] = field(repr=False)
    m: int | None = None
    column: str | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._set_real("rho", "a share between 0 and 1")
        if self.m is not None:
            self._set_whole("m")
        listed = self.items
        if isinstance(listed, str) or not isinstance(listed, Sequence) or not listed:
            raise self._refuse("items must be a list of sensitive items")
        if not all(isinstance(item, str) and item for item in listed):
            raise self._refuse("sensitive items must be texts")
        object.__setattr__(self, "items", tuple(dict.fromkeys(listed)))

    @property
    def is_void(self) -> bool:
        """With rho = 1, certainty is allowed."""
        return self.rho == 1

    def parameters(self) -> Document:
        """Return rho, m and the items, which are values of the data."""
        known: Document = {} if self.m is None else {"m": self.m}
        return {"rho": self.rho, "items": as_json(list(self.items)), **known}

    def shown(self) -> Document:
        """Return rho, m, and how many sensitive items there are."""
        known: Document = {} if self.m is None else {"m": self.m}
        return {"rho": self.rho, "sensitive items": len(self.items), **known}

    def measure(self, seen: EquivalenceClass) -> float:
        """Return the largest share."""
        if seen.itemsets is None:
            raise self._refuse("a class came without the sets of its records")
        return max(seen.itemsets.confidence(item, self.m) for item in self.items)

    def accepts(self, value: float) -> bool:
        """Return whether it is at most rho."""
        return value <= self.rho * (1 + TOLERANCE)

    def violating(self, seen: EquivalenceClass) -> int:
        """Return the records that hold a sensitive item that can be told too well."""
        if seen.itemsets is None:
            return seen.records
        told = [i for i in self.items if not self.accepts(seen.itemsets.confidence(i, self.m))]
        return min(sum(seen.itemsets.covering((item,)) for item in told), seen.records)
