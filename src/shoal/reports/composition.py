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
