"""t-closeness [li2007] and what its variants share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from shoal.privacy.compiled import Compiled, Distance, Measure
from shoal.privacy.distances import DISTANCES, DistanceName
from shoal.privacy.promise import (
    TOLERANCE,
    Better,
    EquivalenceClass,
    Needs,
    Option,
    Promise,
    Values,
)

_T = Option("t", ("--t",), float, "t-closeness of the sensitive columns.")
_DISTANCE = Option(
    "distance", ("--t-distance",), str, "How spreads are compared.", "equal", DISTANCES
)
MEASURED = (_T, _DISTANCE)
"""The words that every closeness has."""


class Closeness(Promise):
    """A distance between the sensitive values of a class and of more records is at most t."""

    __slots__ = ()

    needs: ClassVar[Needs] = Needs.HISTOGRAM | Needs.REFERENCE
    better: ClassVar[Better] = Better.LOW
    stricter: ClassVar[Mapping[str, Better]] = {"t": Better.LOW}
    t: float
    distance: DistanceName

    def _check_closeness(self) -> None:
        self._set_real("t", "between 0 and 1")
        self._check_choice("distance", DISTANCES)
        self._check_column()

    @property
    def is_void(self) -> bool:
        """No distance exceeds 1."""
        return self.t >= 1

    @property
    def reads_order(self) -> bool:
        """The ordered distance does."""
        return self.distance == "ordered"

    @property
    def reads_hierarchy(self) -> bool:
        """The hierarchical distance does."""
        return self.distance == "hierarchical"

    def accepts(self, value: float) -> bool:
        """Return whether that is at most t."""
        return value <= self.t * (1 + TOLERANCE)

    def compiled(self) -> Compiled:
        """Return t."""
        return Compiled(Measure.CLOSENESS, self.t, distance=Distance[self.distance.upper()])

    def _faults(
        self, columns: Sequence[str], trees: Collection[str], *, values: Values
    ) -> list[str]:
        if self.distance != "hierarchical":
            return []
        return [
            f"t-distance hierarchical needs a hierarchy on column {column!r}"
            for column in columns
            if column not in trees
        ]


@dataclass(frozen=True, slots=True)
class TCloseness(Closeness):
    """The sensitive values are spread as in the whole table, up to a distance t.

    Measure: the distance (see `shoal.privacy.distances`), 0 for the same shares.

    Law:
        Monotone for every distance: each is convex in the class's shares (the three earth
        mover's distances: [li2007]; chi-square: it is an f-divergence), and the
        shares of merged classes are an average of theirs. Where persons are counted, both
        spreads are those of different (person, value) pairs, and it is not monotone.

    Example:
        >>> from shoal.privacy.distances import Reference
        >>> table = Reference([5, 5])
        >>> TCloseness(0.2).holds(EquivalenceClass(4, [4, 0], reference=table))
        False
    """

    name: ClassVar[str] = "t-closeness"
    options: ClassVar[tuple[Option, ...]] = MEASURED

    t: float
    distance: DistanceName = "equal"
    _: KW_ONLY
    column: str | None = None

    def __post_init__(self) -> None:
        self._check_closeness()

    @classmethod
    def is_asked(cls, given: Mapping[str, object]) -> bool:
        """With --n, --t asks for (n,t)-closeness instead."""
        return "t" in given and "n" not in given

    def measure(self, seen: EquivalenceClass) -> float:
        """Return the distance between the class and the whole table."""
        histogram = self._histogram(seen)
        return self._reference(seen).distance(self.distance, histogram)
