"""The report as one document: five parts of plain facts, from which every page is written.

Nothing in it depends on the clock or on the machine, but for what `About` says. A page may leave
out what the document has, and never has more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from shoal.core.documents import Document, parse_json
from shoal.reports.pictures import Associations

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One of the numbers of the first page.

    Attributes:
        share: 0 … 1, for its picture; limit: what a profile allows, on the same scale.
    """

    name: str
    text: str
    sentence: str
    share: float
    limit: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promised:
    """A promise in the field's words and in plain ones, and how the release stands."""

    model: str
    words: str
    worst: str
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A profile, and whether the release passes it."""

    profile: Document
    passed: bool
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Part 1: for people who decide.

    Attributes:
        what: a sentence each about what this is.
        holds: whether every promise holds; None: nothing was promised.
    """

    what: tuple[str, ...]
    recipient: str | None
    purpose: str | None
    promises: tuple[Promised, ...]
    holds: bool | None
    numbers: tuple[Number, ...]
    profile: Held | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Counts by name, before and after; what was not counted is None."""

    names: tuple[str, ...]
    before: tuple[float, ...] | None
    after: tuple[float, ...] | None
    unit: str = "record"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Part 2: one column, why it has its role, and what was done to it."""

    name: str
    role: str
    why: str
    technique: str
    loss: float | None = None
    bars: Bars | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacker:
    """The risk from one kind of attacker; None: not known."""

    name: str
    knows: str
    measure: str
    before: float | None
    after: float | None
    limit: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An attack that was carried out; low and high: 95 % confidence of `after`."""

    name: str
    question: str
    targets: int
    before: float | None
    after: float
    low: float
    high: float
    guessing: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One of the three questions of the European opinion on anonymisation, answered."""

    question: str
    asks: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskPart:
    """Part 3: the risk, and what is not protected."""

    attackers: tuple[Attacker, ...]
    sizes: Bars | None
    attacks: tuple[Attack, ...]
    questions: tuple[Answer, ...]
    not_protected: tuple[str, ...]
    unit: str = "record"
    columns: Mapping[str, float] = field(default_factory=dict)  # what each adds to the risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure of utility, and what it says."""

    name: str
    text: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityPart:
    """Part 4: what was lost.

    Attributes:
        models: trained on the release and beside it: model, trained on, macro-F1, AUC, accuracy.
    """

    measures: tuple[Measure, ...]
    losses: Mapping[str, float]
    associations: Associations | None = None
    fidelity: tuple[Measure, ...] = ()
    models: tuple[tuple[str, str, str, str, str], ...] = ()
    models_note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakingPart:
    """Part 5: how it was made, and by whom."""

    facts: Mapping[str, str]
    hashes: Mapping[str, str]
    versions: Mapping[str, str]
    waivers: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    request: Document | None = None
    by: str | None = None
    date: str | None = None
    checklist: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportDocument:
    """A report: of a release, a batch, a verification, or of the risk of a table."""

    kind: str
    audience: str
    title: str
    decision: Decision
    columns: tuple[Column, ...]
    risk: RiskPart | None
    utility: UtilityPart | None
    making: MakingPart

    def to_document(self) -> Document:
        """Return the report as a JSON document."""
        found = parse_json(json.dumps({"version": VERSION, **asdict(self)}), where="report")
        assert isinstance(found, dict)
        return found

    def to_json(self) -> str:
        """Return the report as JSON text."""
        return json.dumps(self.to_document(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
