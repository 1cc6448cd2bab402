"""k^m-anonymity of sets of items [terrovitis2008], and (k, k^m)-anonymity [poulis2013]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from shoal.privacy.promise import Better, EquivalenceClass, Needs, Promise


@dataclass(frozen=True, slots=True)
class KmAnonymity(Promise):
    """Any m items that a record of the class holds are held by k records of the class.

    The class is what the other quasi-identifiers make: the whole table where there are none, so
    that this is k^m-anonymity; with some, it is (k, k^m)-anonymity. The class itself has k
    records, too: somebody may know none of the items. m None: all items of a record, so that
    nobody is found by any number of them.

    Measure: the least support, or the records of the class where these are fewer.

    Items are counted as they are released: a label that stands for several is one item. Who knows
    m items of a person finds at least the records with the labels of these.
    """

    name: ClassVar[str] = "km-anonymity"
    needs: ClassVar[Needs] = Needs.ITEMSETS
    better: ClassVar[Better] = Better.HIGH
    monotone: ClassVar[bool] = False  # of merged classes: they bring labels that the other lacks
    stricter: ClassVar[Mapping[str, Better]] = {"k": Better.HIGH}

    k: int
    m: int | None = None
    column: str | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._set_whole("k")
        if self.m is not None:
            self._set_whole("m")

    @property
    def least_records(self) -> int:
        """Return k."""
        return self.k

    @property
    def is_void(self) -> bool:
        """Every record holds its own items."""
        return self.k == 1

    def implies(self, other: Promise) -> bool:
        """Return whether as many records hold as many items; None stands for any number."""
        return (
            isinstance(other, KmAnonymity)
            and self.k >= other.k
            and (self.m is None or (other.m is not None and self.m >= other.m))
        )

    def measure(self, seen: EquivalenceClass) -> int:
        """Return the least support; of records without any item, how many there are."""
        if seen.itemsets is None:
            raise self._refuse("a class came without the sets of its records")
        support, size = seen.itemsets.rarest(self.m)
        return min(support, seen.records) if size else seen.records

    def accepts(self, value: float) -> bool:
        """Return whether there are k of them."""
        return value >= self.k

    def violating(self, seen: EquivalenceClass) -> int:
        """Return the records that hold rare items; all of a class that is too small."""
        if seen.itemsets is None or seen.records < self.k:
            return seen.records
        return seen.itemsets.rare_records(self.k, self.m)
