"""Privacy requirements: items that must not single anybody out [gkoulalas2012]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

from shoal.core.documents import Document, as_json, read_text
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.promise import Better, EquivalenceClass, Needs, Option, Promise


@dataclass(frozen=True, slots=True)
class Requirements(Promise):
    """Each requirement, a few items, fits at least k records of the class, or none.

    Only what a data owner names is protected, so hardly anything else need be changed. A record
    fits where its labels may stand for all these items.

    Measure: the fewest records that a requirement fits, of those that fit any; k where none does.
    """

    name: ClassVar[str] = "privacy-requirements"
    needs: ClassVar[Needs] = Needs.ITEMSETS
    better: ClassVar[Better] = Better.HIGH
    monotone: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "items", ("--requirements",), str,
            "With a column of sets: a file with a privacy requirement a line, its items between |.",
        ),
        *KAnonymity.options,
    )  # fmt: skip
    stricter: ClassVar[Mapping[str, Better]] = {"k": Better.HIGH}

    k: int
    items: tuple[tuple[str, ...], ...] = field(repr=False)
    column: str | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._set_whole("k")
        listed = self.items
        if isinstance(listed, str) or not isinstance(listed, Sequence) or not listed:
            raise self._refuse("items must be a list of requirements, each a list of items")
        found = []
        for each in listed:
            if isinstance(each, str) or not isinstance(each, Sequence) or not each:
                raise self._refuse("a requirement must be a list of items, at least one")
            if not all(isinstance(item, str) and item for item in each):
                raise self._refuse("the items of a requirement must be texts")
            found.append(tuple(dict.fromkeys(each)))
        object.__setattr__(self, "items", tuple(dict.fromkeys(found)))

    @classmethod
    def from_flags(cls, given: Mapping[str, object]) -> Self:
        """Return the requirements of a file; k is that of -k."""
        place = str(given["requirements"])
        lines = [line for line in read_text(place).splitlines() if line.strip()]
        return cls.made({"k": given["k"], "items": [line.split("|") for line in lines]})

    @property
    def least_records(self) -> int:
        """A requirement may fit nobody."""
        return 1

    @property
    def is_void(self) -> bool:
        """With k = 1, whoever is fitted is enough."""
        return self.k == 1

    def parameters(self) -> Document:
        """Return k, and the items, which are values of the data."""
        return {"k": self.k, "items": as_json([list(each) for each in self.items])}

    def shown(self) -> Document:
        """Return k, and how many requirements there are."""
        return {"k": self.k, "requirements": len(self.items)}

    def measure(self, seen: EquivalenceClass) -> int:
        """Return the fewest records that a requirement fits."""
        if seen.itemsets is None:
            raise self._refuse("a class came without the sets of its records")
        fits = [seen.itemsets.covering(each) for each in self.items]
        return min((number for number in fits if number), default=self.k)

    def accepts(self, value: float) -> bool:
        """Return whether there are k of them."""
        return value >= self.k

    def violating(self, seen: EquivalenceClass) -> int:
        """Return the records that a requirement fits which fits too few: at most their sum."""
        if seen.itemsets is None:
            return seen.records
        fits = [seen.itemsets.covering(each) for each in self.items]
        return min(sum(number for number in fits if number < self.k), seen.records)
