"""l-diversity [machanavajjhala2006]."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import ClassVar, Literal, SupportsFloat, cast

from shoal.privacy.compiled import Compiled, Measure
from shoal.privacy.promise import TOLERANCE, Better, EquivalenceClass, Option, Promise

DiversityKind = Literal["distinct", "entropy", "recursive"]
_MEASURES: dict[DiversityKind, Measure] = {
    "distinct": Measure.DISTINCT,
    "entropy": Measure.ENTROPY,
    "recursive": Measure.RECURSIVE,
}


@dataclass(frozen=True, slots=True)
class LDiversity(Promise):
    """The sensitive values of a class are well spread.

    Kinds, with the counts of the class sorted downwards, r1 >= r2 >= … >= rm:

    * `distinct`: m >= l. Measure: m.
    * `entropy`: entropy >= log(l). Measure: exp(entropy), the number of equally frequent
      values with the same entropy; here l may be a fraction, such as 2.5.
    * `recursive`: r1 < c · (r_l + … + rm), and m >= l. Measure: the largest l for which
      the class holds with this c, 0 when there is none.

    Where persons are counted, the counts are of different (person, value) pairs. Distinct
    values must then belong to different persons: m is the size of a largest matching of
    persons and values. A person alone who has ten values is not diverse.

    Law:
        All kinds are monotone: distinct values only grow, entropy is concave, and merging
        adds up the tails r_l + … + rm at least as much as the tops. Where persons are
        counted, the distinct kind alone is: pairs of two classes may be the same.

    Example:
        >>> LDiversity(3, "entropy").holds(EquivalenceClass(6, [2, 2, 2]))
        True
        >>> LDiversity(2, "recursive", c=2).measure(EquivalenceClass(6, [1, 2, 3]))
        2
    """

    name: ClassVar[str] = "l-diversity"
    better: ClassVar[Better] = Better.HIGH
    options: ClassVar[tuple[Option, ...]] = (
        Option("l", ("--l",), float, "l-diversity of the sensitive columns."),
        Option("kind", ("--l-kind",), str, "What counts as diverse.", "distinct", tuple(_MEASURES)),
        Option("c", ("--c",), float, "c of recursive (c,l)-diversity."),
    )
    stricter: ClassVar[Mapping[str, Better]] = {"l": Better.HIGH, "c": Better.LOW}

    l: float  # noqa: E741 - the parameter's name in every text on the model
    kind: DiversityKind = "distinct"
    _: KW_ONLY
    c: float | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        self._check_choice("kind", tuple(_MEASURES))
        self._check_column()
        if self.kind == "entropy" and not isinstance(self.l, Integral):
            self._set_real("l", "at least 1", low=1.0, high=math.inf)
        else:
            self._set_whole("l")
        if self.kind == "recursive":
            if self.c is None:
                raise self._refuse("kind recursive needs c, the bound on the commonest value")
            self._set_real("c", "above 0", low=math.ulp(0.0), high=math.inf)
        elif self.c is not None:  # accepted and ignored, it would be taken for a promise
            raise self._refuse("c belongs to kind recursive only")

    @property
    def is_void(self) -> bool:
        """One value is in every class."""
        return self.l <= 1 and (self.c is None or self.c > 1)

    @property
    def monotone_with_suppression(self) -> bool:
        """Distinct values only grow; the other kinds can be spoilt by a skewed class."""
        return self.kind == "distinct"

    @property
    def monotone_with_persons(self) -> bool:
        """A matching in a class is one in every class that contains it."""
        return self.kind == "distinct"

    @classmethod
    def from_flags(cls, given: Mapping[str, object]) -> LDiversity:
        """Return the promise; a command line reads l as a float, 2 is meant whole."""
        asked = given["l"]
        if isinstance(asked, (str, SupportsFloat)):
            number = float(asked)
            given = {**given, "l": int(number) if number.is_integer() else number}
        return super(LDiversity, cls).from_flags(given)

    def measure(self, seen: EquivalenceClass) -> float:
        """Return the largest l that the class attains."""
        counts = sorted((count for count in self._histogram(seen) if count), reverse=True)
        if self.kind == "distinct":
            return largest_matching(seen.histogram, seen.several) if seen.several else len(counts)
        if self.kind == "entropy":
            return _effective_values(counts)
        return _recursive_depth(counts, cast(float, self.c))

    def accepts(self, value: float) -> bool:
        """Return whether that is l."""
        slack = TOLERANCE if self.kind == "entropy" else 0.0
        return value >= self.l * (1 - slack)

    def compiled(self) -> Compiled:
        """Return l and c."""
        return Compiled(_MEASURES[self.kind], float(self.l), float(self.c or 0.0))


def largest_matching(histogram: Sequence[int], several: Sequence[Sequence[int]]) -> int:
    """Return how many values can be given to different persons who have them.

    Args:
        histogram: persons per value.
        several: the values of each person who has more than one.

    Example:
        >>> largest_matching([3, 1, 1], [(0, 1, 2)])  # two persons have the first value alone
        2
    """
    alone = list(histogram)
    for values in several:
        for value in values:
            alone[value] -= 1
    # Who has one value is matched with it; the others are left for what nobody has alone.
    wanted: dict[int, list[int]] = {}
    for person, values in enumerate(several):
        for value in values:
            if not alone[value]:
                wanted.setdefault(value, []).append(person)
    found = sum(1 for count in alone if count)
    of_person: dict[int, int] = {}
    of_value: dict[int, int] = {}
    return found + sum(_augment(value, wanted, of_person, of_value) for value in wanted)


def _augment(
    value: int,
    wanted: Mapping[int, Sequence[int]],
    of_person: dict[int, int],
    of_value: dict[int, int],
) -> bool:
    """Match one more value along an alternating path (Kuhn's algorithm); say whether it works."""
    asked: dict[int, int] = {}  # the value that asked for a person
    waiting = [value]
    for asking in waiting:
        for person in wanted[asking]:
            if person in asked:
                continue
            asked[person] = asking
            if person in of_person:
                waiting.append(of_person[person])
                continue
            moved: int | None = person
            while moved is not None:  # each gets the value that asked, back to the first one
                goal = asked[moved]
                before = of_value.get(goal)
                of_person[moved], of_value[goal] = goal, moved
                moved = before
            return True
    return False


def _effective_values(counts: Sequence[int]) -> float:
    if counts[0] == counts[-1]:  # equal shares are exact without a logarithm
        return float(len(counts))
    total = sum(counts)
    return math.exp(math.fsum(count / total * math.log(total / count) for count in counts))


def _recursive_depth(counts: Sequence[int], c: float) -> int:
    tail = sum(counts)
    for depth, count in enumerate(counts):
        # Not r1 < c * tail: 1.1 * 50 is above 55 in floats, while 55 / 50 is the float 1.1.
        if not counts[0] / tail < c:
            return depth
        tail -= count
    return len(counts)
