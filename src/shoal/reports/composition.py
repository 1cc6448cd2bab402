"""What several releases of one table give away together, as plain facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.core.documents import Document
from shoal.privacy import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """How a promise stands on the meet of releases: the people who share a class in all of them.

    Attributes:
        records: of the table.
        releases: how many releases were laid over each other.
        published: records that at least one release has.
        unknown: records whose class in some release cannot be told from labels and kept columns.
        classes: cells of the meet.
        alone: records that are alone in their cell.
        below: records in cells of fewer than k, for the k that is promised and some others.
        certain: for each sensitive column, the share of published records whose value is
            certain: by the best single release, and by all of them together.
        linked: share of rows that kept columns link between the releases; None where they
            have none in common, or no file was given.
    """

    records: int
    releases: int
    published: int
    unknown: int
    classes: int
    smallest_class: int
    alone: int
    below: Mapping[int, int]
    certain: Mapping[str, tuple[float, float]]
    linked: float | None
    violating_records: int
    privacy: tuple[Verdict, ...]
    warnings: tuple[str, ...] = field(default=())

    @property
    def holds(self) -> bool:
        """Say whether the promise is known to hold on the meet."""
        return not self.unknown and all(result.holds for result in self.privacy)

    def to_document(self) -> Document:
        """Return the composition as plain data."""
        return {
            "holds": self.holds,
            "records": self.records,
            "releases": self.releases,
            "published": self.published,
            "unknown": self.unknown,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "alone": self.alone,
            "below": {str(k): number for k, number in self.below.items()},
            "certain": {
                name: {"one": one, "together": together}
                for name, (one, together) in self.certain.items()
            },
            "linked": self.linked,
            "violating_records": self.violating_records,
            "privacy": [result.to_document() for result in self.privacy],
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Intersected:
    """What releases of a table that changes give away of a sensitive column, person by person.

    The attacker knows in which class everybody is in every release, and takes a person's value for
    the same in all of them.

    Attributes:
        certain: persons whose value is certain by one release, and by all of them together.
        fewest: the values that are left for the person of whom most is known, by one release and
            by all; 0: those of two releases have none in common, so that the value changed.
        changed: persons of whom that is so.
        narrowed: persons who have fewer values by all releases than by any one of them.
        asked: values that everybody must be left with.
        alike: how many persons, at least, share all classes of somebody; below: of how many
            people these are fewer than a number.
        k: so many must share them; None: that is not asked of releases over time.
    """

    releases: int
    persons: int
    repeated: int
    certain: tuple[int, int]
    fewest: tuple[int, int]
    changed: int
    narrowed: int
    asked: int
    alike: int
    below: Mapping[int, int]
    k: int | None

    @property
    def holds(self) -> bool:
        """Say whether everybody is left with as many values, and among as many, as are asked."""
        return min(self.fewest) >= self.asked and self.alike >= (self.k or 0)

    def to_document(self) -> Document:
        """Return it as plain data."""
        return {
            "holds": self.holds,
            "releases": self.releases,
            "persons": self.persons,
            "repeated": self.repeated,
            "certain": {"one": self.certain[0], "together": self.certain[1]},
            "fewest": {"one": self.fewest[0], "together": self.fewest[1]},
            "changed": self.changed,
            "narrowed": self.narrowed,
            "asked": self.asked,
            "alike": self.alike,
            "below": {str(k): number for k, number in self.below.items()},
            "k": self.k,
        }
