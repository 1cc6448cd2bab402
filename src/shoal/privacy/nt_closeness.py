"""(n,t)-closeness [li2010]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from shoal.privacy.compiled import Compiled, Distance, Measure
from shoal.privacy.distances import DistanceName
from shoal.privacy.promise import Better, EquivalenceClass, Needs, Option
from shoal.privacy.t_closeness import MEASURED, Closeness


@dataclass(frozen=True, slots=True)
class NTCloseness(Closeness):
    """The class is spread, up to t, as some set of at least n records that contains it.

    A class of n records contains itself and so always holds. Otherwise the caller's
    `supersets` and the whole table are tried. A table of fewer than n records cannot hold.

    Measure: the smallest distance to a set of n records, 1 when there is none.

    Where persons are counted: sets of at least n persons, and spreads of different
    (person, value) pairs.

    It is not called monotone: two classes may each be close to a set that does not
    contain the other, and their union close to none.

    Example:
        >>> from shoal.privacy.distances import Reference
        >>> table = Reference([6, 6])
        >>> small = EquivalenceClass(2, [2, 0], reference=table, supersets=[(5, [4, 1])])
        >>> NTCloseness(5, 0.2).measure(small)
        0.2
    """

    name: ClassVar[str] = "(n,t)-closeness"
    needs: ClassVar[Needs] = Closeness.needs | Needs.SUPERSETS
    monotone: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (
        Option("n", ("--n",), int, "With --t: (n,t)-closeness."),
        *MEASURED,
    )
    # A set of n records around a class is also a set of any smaller number.
    stricter: ClassVar[Mapping[str, Better]] = {"n": Better.HIGH, "t": Better.LOW}

    n: int
    t: float
    _: KW_ONLY
    distance: DistanceName = "equal"
    column: str | None = None

    def __post_init__(self) -> None:
        self._set_whole("n")
        self._check_closeness()

    @property
    def least_superset(self) -> int:
        """Return n."""
        return self.n

    def measure(self, seen: EquivalenceClass) -> float:
        """Return the smallest distance to a set of n records around the class."""
        histogram = self._histogram(seen)
        if seen.records >= self.n:
            return 0.0
        reference = self._reference(seen)
        return min(
            (
                reference.distance(self.distance, histogram, other=wider)
                for records, wider in ((reference.total, reference.counts), *seen.supersets)
                if records >= self.n
            ),
            default=1.0,
        )

    def judge(self, seen: EquivalenceClass) -> tuple[float, bool]:
        """Return the distance; without n records anywhere a class never holds, not even t = 1."""
        sizes = [seen.records, *(records for records, _ in seen.supersets)]
        if seen.reference is not None:
            sizes.append(seen.reference.total)
        value = self.measure(seen)
        return value, max(sizes) >= self.n and self.accepts(value)

    def compiled(self) -> Compiled:
        """Return t and n; compiled code tries the class itself and the whole table."""
        distance = Distance[self.distance.upper()]
        return Compiled(Measure.NT_CLOSENESS, self.t, float(self.n), distance)
