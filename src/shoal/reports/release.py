"""What the commands answer: plain facts, as JSON documents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from shoal.core.documents import Document, Json
from shoal.core.rows import Rows
from shoal.privacy import Verdict
from shoal.reports.face import Face, percent, promise_rows, verdict_documents
from shoal.reports.pictures import Pictures

Value = TypeVar("Value")

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


def by_true_name(measures: Mapping[str, Value]) -> dict[str, Value]:
    """Return measures as people read them: each once, by its true name."""
    return {name: value for name, value in measures.items() if name not in OLD_NAMES}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification(Rows):
    """What the released table itself shows, class by class."""

    records: int
    classes: int
    smallest_class: int
    violating_records: int
    privacy: tuple[Verdict, ...]
    persons: int | None = None  # who the records are about, where that is counted
    largest_share: float | None = None  # of a class's records that are of one person
    warnings: tuple[str, ...] = ()  # what a promise that holds does not say
    repeats: Mapping[str, Json] | None = None  # people have several records: how classes stand
    trajectories: Mapping[str, Json] | None = None  # records are linked: how persons stand

    @property
    def holds(self) -> bool:
        """Say whether every class keeps every model."""
        return all(result.holds for result in self.privacy)

    @property
    def highest(self) -> float:
        """Return the risk of the one easiest to find: by all their records, if these are linked."""
        return highest_risk(self.smallest_class, self.trajectories)

    def merge(self, other: Verification) -> Verification:
        """Return the verification of the classes of both; no class is in both of them.

        Persons may stand in classes of both, so their number is left out.
        """
        shares = [x for x in (self.largest_share, other.largest_share) if x is not None]
        pairs = zip(self.privacy, other.privacy, strict=True)
        return Verification(
            records=self.records + other.records,
            classes=self.classes + other.classes,
            smallest_class=min(self.smallest_class, other.smallest_class),
            violating_records=self.violating_records + other.violating_records,
            privacy=tuple(one.merge(two) for one, two in pairs),
            largest_share=max(shares) if shares else None,
            warnings=tuple(dict.fromkeys((*self.warnings, *other.warnings))),
        )

    def to_document(self) -> Document:
        """Return the verification as plain data."""
        return {
            "holds": self.holds,
            "records": self.records,
            "persons": self.persons,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "largest_share": self.largest_share,
            "violating_records": self.violating_records,
            "privacy": [result.to_document() for result in self.privacy],
            "repeats": None if self.repeats is None else dict(self.repeats),
            "trajectories": None if self.trajectories is None else dict(self.trajectories),
            "warnings": list(self.warnings),
        }

    to_dict = to_document

    def rows(self) -> list[Document]:
        """Return a row for each promise, for a table of any library."""
        return verdict_documents(self.privacy)

    def face(self) -> Face:
        """Return what a notebook shows of it."""
        word = "safe" if self.holds else f"NOT safe, {self.violating_records:,} records violate"
        return Face(
            title=f"{word}: {self.records:,} records in {self.classes:,} classes, the smallest "
            f"has {self.smallest_class:,}",
            rows=promise_rows(self.privacy),
            warnings=self.warnings,
        )

    def __repr__(self) -> str:
        return self.face().line("Verification")

    def _repr_html_(self) -> str:
        return self.face().html()


def highest_risk(smallest_class: int, trajectories: object = None) -> float:
    """Return the risk of the one easiest to find. trajectories: how linked persons stand.

    Example:
        >>> highest_risk(5), highest_risk(5, {"smallest": 4})
        (0.2, 0.25)
    """
    found = trajectories.get("smallest") if isinstance(trajectories, Mapping) else None
    sizes = [size for size in (smallest_class, found) if isinstance(size, int) and size]
    return 1 / min(sizes) if sizes else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """How easily a record, or a person, is found by its quasi-identifiers.

    `global_risk` is the expected share of records that an attacker who knows
    everybody's quasi-identifiers points out rightly: classes / records. Where persons are
    counted, it is the share of persons, each looked for by the record that is easiest to find.

    Attributes:
        smallest_class: in records, or in persons.
        unique: records that are alone in their class, or persons who are in one of theirs.
        persons: None where records are counted.
        expected: persons expected to be found.
    """

    records: int
    classes: int
    smallest_class: int
    unique: int
    persons: int | None = None
    expected: float = 0.0

    @property
    def unit(self) -> str:
        """Return what is counted."""
        return "record" if self.persons is None else "person"

    @property
    def global_risk(self) -> float:
        """Return the expected share of records, or of persons, re-identified."""
        if self.persons is not None:
            return self.expected / self.persons if self.persons else 0.0
        return self.classes / self.records if self.records else 0.0

    @property
    def highest(self) -> float:
        """Return the risk of the record that is easiest to find."""
        return 1 / self.smallest_class if self.smallest_class else 0.0

    def to_document(self) -> Document:
        """Return the risk as plain data."""
        return {
            "records": self.records,
            **({} if self.persons is None else {"persons": self.persons}),
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "unique": self.unique,
            "global_risk": self.global_risk,
            "maximum": self.highest,
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReleaseReport(Rows):
    """The account of one `anonymize` or `learn`: what was decided, lost and promised.

    `warnings` must not be overlooked and are printed before any number; `notices` are for
    whoever reads to the end. `roles` has every column of the table: its role, whether it is
    released and kept as it is, whether it was waived, and what was found in it. `request` is
    the request that repeats the release, as `jobs.documents.public_document` writes it.
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
    persons: int | None = None  # who the released records are about, where that is counted
    largest_share: float | None = None  # of a class's records that are of one person
    facts: Mapping[str, Json] = field(default_factory=dict)
    columns: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    roles: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    repeats: Mapping[str, Json] | None = None  # people have several records: how classes stand
    request: Document | None = None
    checklist: tuple[Document, ...] = ()  # of a preset: what was done to each kind of identifier
    pictures: Pictures | None = None  # what the pictures of a report show; no part of the document

    def with_seconds(self, stage: str, spent: float) -> ReleaseReport:
        """Return the report with time that a stage, and so the whole, took beside the rest."""
        more = {name: round(self.seconds.get(name, 0.0) + spent, 6) for name in (stage, "total")}
        return replace(self, seconds={**self.seconds, **more})

    def to_document(self) -> Document:
        """Return the report as a JSON document."""
        return {
            "method": self.method,
            "records": self.records,
            "persons": self.persons,
            "released": self.released,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "largest_share": self.largest_share,
            "privacy": [result.to_document() for result in self.privacy],
            "utility": {**written(self.utility)},
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
            **({"checklist": list(self.checklist)} if self.checklist else {}),
            **({} if self.request is None else {"request": self.request}),
        }

    to_dict = to_document

    def rows(self) -> list[Document]:
        """Return a row for each recoded column and its loss, for a table of any library."""
        return [{"column": name, "loss": loss} for name, loss in self.columns.items()]

    def face(self) -> Face:
        """Return what a notebook shows of it."""
        lost = sorted(self.columns.items(), key=lambda item: -item[1])
        before, after = self.risk_before, self.risk_after
        facts = {
            "method": self.method,
            "classes": f"{self.classes:,}, the smallest has {self.smallest_class:,} {after.unit}s",
            "suppressed": f"{self.suppressed:,} records",
            "lost most in": ", ".join(f"{name} {percent(share)}" for name, share in lost[:3]),
            "re-identified, expected": f"{percent(before.global_risk)} before, "
            f"{percent(after.global_risk)} after",
            "re-identified, at worst": f"{percent(before.highest)} before, "
            f"{percent(after.highest)} after",
        }
        if self.utility.get("ncp") is not None:
            facts["loss (NCP)"] = percent(self.utility["ncp"] or 0.0)
        return Face(
            title=f"{self.released:,} of {self.records:,} records released"
            + (", their values drawn" if "drawn" in self.facts else ""),
            facts=facts,
            rows=promise_rows(self.privacy),
            warnings=self.warnings,
        )

    def __repr__(self) -> str:
        return self.face().line("ReleaseReport")

    def _repr_html_(self) -> str:
        return self.face().html()


def stars_removed(records: int, failed: Sequence[str] = ()) -> str:
    """Say that suppressed records were not released as the root; failed: the promises' names."""
    broken = ", ".join(dict.fromkeys(failed)) or "the promise"
    return f"{records} suppressed records, released as *, would break {broken}: removed instead"


def checklist_words(line: Document) -> tuple[str, str]:
    """Return the columns of a line of a checklist with what was done, and how the line stands."""
    columns = line["columns"]
    assert isinstance(columns, dict)
    named = "; ".join(f"{name}: {done}" for name, done in columns.items())
    look = f"{line['status']}: {line['why']}" if line["why"] else ""
    return named or "none found", look or ("done" if named else "")
