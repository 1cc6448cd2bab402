"""What the commands answer: plain facts, as JSON documents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.privacy import Verdict

OLD_NAMES = {"entropy": "class-entropy", "height": "height-utility"}
"""Names that measures had before; documents keep them beside the true ones."""

INFINITE = "infinite"
"""What a document writes for a measure without bounds: JSON has no such number."""


def written(measures: Mapping[str, float | None]) -> dict[str, float | str | None]:
    """Return measures as JSON can hold them.

    Example:
        >>> written({"ncp": 0.5, "cm": None, "protection": float("inf")})
        {'ncp': 0.5, 'cm': None, 'protection': 'infinite'}
    """
    return {name: INFINITE if value == math.inf else value for name, value in measures.items()}


def told(measures: Mapping[str, Any]) -> dict[str, Any]:
    """Return measures as people read them: each once, by its true name."""
    return {name: value for name, value in measures.items() if name not in OLD_NAMES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What the released table itself shows, class by class."""

    records: int
    classes: int
    smallest_class: int
    violating_records: int
    privacy: tuple[Verdict, ...]
    warnings: tuple[str, ...] = ()  # what a promise that holds does not say
    repeats: Mapping[str, Any] | None = None  # people have several records: how classes stand

    @property
    def holds(self) -> bool:
        """Say whether every class keeps every model."""
        return all(result.holds for result in self.privacy)

    def merge(self, other: Verification) -> Verification:
        """Return the verification of the classes of both; no class is in both of them."""
        pairs = zip(self.privacy, other.privacy, strict=True)
        return Verification(
            records=self.records + other.records,
            classes=self.classes + other.classes,
            smallest_class=min(self.smallest_class, other.smallest_class),
            violating_records=self.violating_records + other.violating_records,
            privacy=tuple(one.merge(two) for one, two in pairs),
            warnings=tuple(dict.fromkeys((*self.warnings, *other.warnings))),
        )

    def to_document(self) -> dict[str, Any]:
        """Return the verification as plain data."""
        return {
            "holds": self.holds,
            "records": self.records,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "violating_records": self.violating_records,
            "privacy": [result.to_document() for result in self.privacy],
            "repeats": None if self.repeats is None else dict(self.repeats),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """How easily a record is found by its quasi-identifiers.

    `global_risk` is the expected share of records that an attacker who knows
    everybody's quasi-identifiers points out rightly: classes / records.
    """

    records: int
    classes: int
    smallest_class: int
    unique: int

    @property
    def global_risk(self) -> float:
        """Return the expected share of records re-identified."""
        return self.classes / self.records if self.records else 0.0

    @property
    def highest(self) -> float:
        """Return the risk of the record that is easiest to find."""
        return 1 / self.smallest_class if self.smallest_class else 0.0

    def to_document(self) -> dict[str, Any]:
        """Return the risk as plain data."""
        return {
            "records": self.records,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "unique": self.unique,
            "global_risk": self.global_risk,
            "maximum": self.highest,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseReport:
    """The account of one `anonymize` or `learn`: what was decided, lost and promised.

    `warnings` must not be overlooked and are printed before any number; `notices` are for
    whoever reads to the end. `roles` has every column of the table: its role, whether it is
    released and kept as it is, whether it was waived, and what was found in it.
    """

    method: str
    records: int
    released: int
    suppressed: int
    classes: int
    smallest_class: int
    privacy: tuple[Verdict, ...]
    utility: Mapping[str, float | None]
    risk_before: Risk
    risk_after: Risk
    seconds: Mapping[str, float]
    facts: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    roles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    repeats: Mapping[str, Any] | None = None  # people have several records: how classes stand

    def with_seconds(self, stage: str, spent: float) -> ReleaseReport:
        """Return the report with time that a stage, and so the whole, took beside the rest."""
        more = {name: round(self.seconds.get(name, 0.0) + spent, 6) for name in (stage, "total")}
        return replace(self, seconds={**self.seconds, **more})

    def to_document(self) -> dict[str, Any]:
        """Return the report as a JSON document."""
        return {
            "method": self.method,
            "records": self.records,
            "released": self.released,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "privacy": [result.to_document() for result in self.privacy],
            "utility": written(self.utility),
            "column_loss": dict(self.columns),
            "roles": {name: dict(role) for name, role in self.roles.items()},
            "risk": {
                "before": self.risk_before.to_document(),
                "after": self.risk_after.to_document(),
            },
            **self.facts,
            "repeats": None if self.repeats is None else dict(self.repeats),
            "warnings": list(self.warnings),
            "notices": list(self.notices),
            "seconds": dict(self.seconds),
        }


def stars_removed(records: int, failed: Sequence[str] = ()) -> str:
    """Say that suppressed records were not released as the root; failed: the promises' names."""
    broken = ", ".join(dict.fromkeys(failed)) or "the promise"
    return f"{records} suppressed records, released as *, would break {broken}: removed instead"
