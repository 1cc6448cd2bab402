"""HIPAA Safe Harbor as a release: the schema that carries it out, the checklist, a last look.

Everything of a table that a rule knows is in the schema, so that it is released like any other.
What no rule can know of a table (what a picture shows, whether a code is somebody's own) is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shoal.core.documents import Document
from shoal.inference.column import ColumnFacts
from shoal.inference.headers import HIPAA
from shoal.inference.patterns import EMBEDDED
from shoal.inference.presets import Preset, Rule, Step
from shoal.inference.propose import Entry
from shoal.inference.roles import Verdict
from shoal.schema.safe_harbor import OLDEST, SMALL_ZIPS, TopAge, Year, Zip3, ages, years_of
from shoal.schema.schema import Kind, Role, Schema
from shoal.schema.techniques import Technique

DATE = re.compile(
    r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\b\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})\b|"
    r"\b\d{1,2}[- ](jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*[- ,]+(\d{4}|\d{2})\b",
    re.IGNORECASE,
)
_FOUND = {
    "dates": DATE,
    **{EMBEDDED[key].words: re.compile(EMBEDDED[key].regex) for key in
       ("email", "url", "phone", "national_id")},
}  # fmt: skip
_LOOK = {
    "P": "finger and voice prints, and other biometric data, cannot be told from numbers",
    "Q": "a table does not show what its pictures or links to pictures show",
    "R": "whether a code or a rare fact belongs to one person is not written in a table",
}
NOT_K = (
    "Safe Harbor is not k-anonymity: it removes kinds of identifiers and promises nothing about "
    "how many people look alike; ask for -k N on top"
)


def harbor_schema(
    preset: Preset,
    columns: Sequence[ColumnFacts],
    verdicts: Mapping[str, Verdict],
    removed: Sequence[str] = (),
) -> Schema:
    """Return the schema that releases a table as Safe Harbor asks.

    removed: further columns that somebody wants to have removed.
    """
    facts = {column.name: column for column in columns}
    entries: dict[str, Entry] = {}
    for rule in preset.rules:
        step = _step(rule, facts[rule.column], verdicts[rule.column])
        if step is Step.REMOVE or rule.column in removed:
            entries[rule.column] = {"role": str(Role.IDENTIFYING)}
            continue
        entry = {k: v for k, v in preset.schema["columns"].get(rule.column, {}).items()
                 if k in ("role", "kind", "hierarchy")}  # fmt: skip
        entry.setdefault("role", str(Role.QUASI))
        entries[rule.column] = {**entry, **_replaced(step, rule, verdicts[rule.column], preset)}
    return Schema.from_document(
        {"columns": entries, "others": "drop", "missing": preset.schema.get("missing", [])}
    )


def _step(rule: Rule, column: ColumnFacts, verdict: Verdict) -> Step:
    """Return the step of a rule; what a rule keeps without understanding it is removed."""
    if verdict.concept == "age" and column.sample:
        known = sum(TopAge().group(text) is not None for text in column.sample)
        return Step.TOP_AGE if known >= 0.9 * len(column.sample) else Step.REMOVE
    if rule.step is not Step.KEEP:
        return rule.step
    if verdict.hipaa == "C" and not (verdict.concept == "death" and column.is_number):
        return Step.REMOVE
    return Step.REMOVE if any(DATE.search(text) for text in column.sample) else Step.KEEP


def _replaced(step: Step, rule: Rule, verdict: Verdict, preset: Preset) -> Entry:
    """Return what a schema says beside the role of a column."""
    if step is Step.ZIP3:
        return {"kind": "categorical", "hierarchy": {"mask": {"length": 3}}, "release": "zip3"}
    if step is Step.TOP_AGE:
        if verdict.kind is not Kind.NUMERIC:  # bands, or ages among texts
            return {"kind": "categorical", "hierarchy": None, "release": "top_age"}
        return {**_ordered(ages(), 30), "release": "top_age"}
    if step in (Step.YEAR, Step.BIRTH_YEAR):
        options: Entry = {"as_of": preset.as_of.isoformat()}
        if rule.date_format is not None:
            options["date_format"] = rule.date_format
        return {**_ordered(years_of(preset.as_of), 20), "release": {"year": options}}
    return {}


def _ordered(order: list[str], last: int) -> Entry:
    groups = {"groups": [5, 10, last], "order": order}
    return {"kind": "ordinal", "order": order, "hierarchy": {"order": groups}}


def checklist(schema: Schema, verdicts: Mapping[str, Verdict]) -> tuple[Document, ...]:
    """Return a line for each of the 18 kinds of identifiers: what was found, and done to it."""
    lines = []
    for letter, kind in HIPAA.items():
        done = {
            a.name: a.release.words() if a.release is not None
            else "removed" if a.role is Role.IDENTIFYING else "kept"
            for a in schema.attributes
            if _letter(verdicts[a.name], is_removed=not a.is_released) == letter
        }  # fmt: skip
        look = _LOOK.get(letter)
        status = "done" if done else "none found"
        lines.append(
            Document(
                letter=letter,
                kind=kind,
                columns=dict(done),
                status="a person must look" if look else status,
                why=look,
            )
        )
    return tuple(lines)


def _letter(verdict: Verdict, *, is_removed: bool) -> str | None:
    """Return the kind that a column was taken for; what is removed for no other is the last."""
    return verdict.hipaa or ("R" if is_removed else None)


def remains(label: str, technique: Technique | None) -> str | None:
    """Say what a released label still shows that Safe Harbor removes; None: nothing.

    Example:
        >>> remains("12/31/1999", None), remains("75275", Zip3()), remains("752", Zip3())
        ('dates', 'more than three digits of a zip code', None)
    """
    for what, pattern in _FOUND.items():
        if pattern.search(label):
            return what
    numbers = re.findall(r"\d+", label)
    if isinstance(technique, Zip3):
        if any(len(n) > 3 for n in numbers):
            return "more than three digits of a zip code"
        small = any(len(n) == 3 and n != "000" and n in SMALL_ZIPS for n in numbers)
        return "a zip area with few people" if small else None
    if isinstance(technique, TopAge):
        return f"ages over {OLDEST}" if any(int(n) > OLDEST + 1 for n in numbers) else None
    if isinstance(technique, Year):
        last = int(technique.as_of[:4]) - OLDEST - 1
        plain = re.sub(rf"<={last}\b", "", label)
        old = any(len(n) == 4 and int(n) <= last for n in re.findall(r"\d+", plain))
        return f"years of ages over {OLDEST}" if old else None
    return None
