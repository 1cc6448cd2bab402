"""Presets: rules of a law, as steps a table goes through and the schema that fits afterwards.

HIPAA Safe Harbor (45 CFR 164.514(b)(2)) asks for fixed steps, not for a search: 18 classes
of identifiers go, dates become years, ages over 89 become one group, and of a zip code
three digits stay where more than 20,000 people live behind them. A search may start from a
finer value, so the steps are taken first, on the table itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from shoal.core.errors import MethodError
from shoal.inference.column import ColumnFacts
from shoal.inference.headers import concept_of
from shoal.inference.propose import Entry, SchemaDocument, schema_document
from shoal.inference.roles import Verdict, is_band
from shoal.schema.safe_harbor import OLDEST, ZIP_LISTS
from shoal.schema.schema import REMOVED, Kind

PRESETS = ("hipaa-safe-harbor",)

SENTENCE = 4
"""Words that make a text more than a label."""

LABELS = 20
"""Different texts that may be a list of labels."""


class Step(StrEnum):
    """What happens to a column before any search."""

    REMOVE = "remove"
    TOP_AGE = "top-age"  # over 89 becomes 90+
    YEAR = "year"
    BIRTH_YEAR = "birth-year"  # and the years of people over 89 become one
    ZIP3 = "zip3"  # three digits, or 000
    KEEP = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The step of one column, with what it needs to read the values."""

    column: str
    step: Step
    date_format: str | None = None
    hipaa: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Steps for every column, and the schema of the table that comes out of them.

    Attributes:
        as_of: the day that decides who is over 89 when only a birth date is known.
        notices: what a person must still do; the law asks for more than steps.
    """

    name: str
    rules: tuple[Rule, ...]
    as_of: date
    schema: SchemaDocument
    notices: tuple[str, ...]


def apply_preset(
    name: str,
    columns: Sequence[ColumnFacts],
    verdicts: Mapping[str, Verdict],
    *,
    as_of: date | None = None,
) -> Preset:
    """Turn verdicts into the steps and the schema of a preset.

    Raises:
        MethodError: there is no such preset.
    """
    if name not in PRESETS:
        raise MethodError(
            problem=f"--preset {name}: no such preset; there are {', '.join(PRESETS)}"
        )
    day = as_of or date.today()
    rules = tuple(_rule(column, verdicts[column.name]) for column in columns)
    document = schema_document(columns, verdicts)
    entries: dict[str, Entry] = {}
    for rule in rules:
        if rule.step is not Step.REMOVE:
            entry = dict(document["columns"][rule.column])
            kept = {key: value for key, value in entry.items() if key != "date_format"}
            entries[rule.column] = {**kept, **_entry(rule, day)}
    promise = [m for m in document["privacy"] if "column" not in m or m["column"] in entries]
    texts = [c.name for c in columns if verdicts[c.name].free_text or is_text(c)]
    schema: SchemaDocument = {
        **document, "columns": entries, "others": "drop", "privacy": promise,
    }  # fmt: skip
    notices = (
        "Safe Harbor also asks that nobody who releases the table knows a way to re-identify.",
        f"zip areas with few people: lists of {len(ZIP_LISTS)} censuses, the newest of 2020; "
        "check for newer data.",
        f"birth years are judged by the age on {day.isoformat()}.",
        *([f"free text is left out: {', '.join(map(repr, texts))}."] if texts else []),
    )
    return Preset(name=name, rules=rules, as_of=day, schema=schema, notices=notices)


def _rule(column: ColumnFacts, verdict: Verdict) -> Rule:
    return Rule(
        column=column.name,
        step=_step(column, verdict),
        date_format=verdict.date_format,
        hipaa=verdict.hipaa,
    )


def _step(column: ColumnFacts, verdict: Verdict) -> Step:
    if verdict.role in REMOVED or verdict.free_text or is_text(column):
        return Step.REMOVE
    is_date = verdict.kind is Kind.DATE or verdict.date_format is not None
    if verdict.concept == "birth":
        year = verdict.kind is Kind.NUMERIC  # a year of birth
        return Step.BIRTH_YEAR if is_date or year else Step.REMOVE
    if is_date:
        return Step.YEAR
    if verdict.concept == "death":
        return Step.KEEP if verdict.kind is Kind.NUMERIC else Step.REMOVE
    if verdict.concept == "age":
        if verdict.kind is Kind.NUMERIC:
            return Step.TOP_AGE
        return Step.KEEP if is_band(column) else Step.REMOVE
    if verdict.concept == "zip":
        return Step.ZIP3
    # Everything smaller than a state goes; a column called "state" has no HIPAA letter.
    return Step.REMOVE if verdict.hipaa == "B" else Step.KEEP


def is_text(column: ColumnFacts) -> bool:
    """Say whether a column may hold what somebody typed: nobody knows what is in it.

    Some value has the length of a sentence, and values are too many, or repeat too seldom, to be
    a list of labels; or the header says so. Rather a list of long labels too many than a note.
    """
    concept = concept_of(column.name)
    if column.form != "text" or not column.distinct:
        return False
    if concept is not None and concept.key == "text":
        return True
    is_listed = column.distinct <= LABELS and column.distinct_share <= 0.1
    return column.most_words >= SENTENCE and not is_listed


def _entry(rule: Rule, day: date) -> Entry:
    """Return what the schema says of a column after its step."""
    if rule.step in (Step.TOP_AGE, Step.BIRTH_YEAR):
        is_age = rule.step is Step.TOP_AGE
        order = [*map(str, range(OLDEST + 1)), f"{OLDEST + 1}+"] if is_age else birth_years(day)
        groups = {"groups": [5, 10, 30 if is_age else 20], "order": order}
        return {"kind": "ordinal", "order": order, "hierarchy": {"order": groups}}
    if rule.step is Step.YEAR:
        return {"kind": "numeric", "hierarchy": {"intervals": {"width": [5, 10, 20]}}}
    if rule.step is Step.ZIP3:
        return {"kind": "categorical", "hierarchy": {"mask": {"length": 3}}}
    return {}


def birth_years(day: date) -> list[str]:
    """Return the birth years that may stand, with one label for everybody over 89.

    Example:
        >>> birth_years(date(2024, 6, 30))[:2]
        ['<=1934', '1935']
    """
    # Who is born in 1934 turns 90 in 2024, some of them before the day: all are joined.
    last = day.year - OLDEST - 1
    return [f"<={last}", *(str(year) for year in range(last + 1, day.year + 1))]
