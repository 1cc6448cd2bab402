"""From verdicts to a schema that a person can edit: roles, kinds and hierarchies to start from."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NotRequired, TypedDict

from shoal.core.dates import fitting_forms
from shoal.hierarchies.read import read_hierarchy
from shoal.inference.column import ColumnFacts
from shoal.inference.roles import Verdict, decide, hipaa_text, is_band
from shoal.schema.attribute import SET_SEP
from shoal.schema.schema import REMOVED, Attribute, Kind, Role

Entry = dict[str, object]
"""What a schema says of one column, or one promise of it."""

_HALVES = re.compile(r"\\ud[89ab]\w\w\\ud[c-f]\w\w")

FEW_VALUES = 4
"""A column with at most so many values goes straight from value to root."""

BANDS = 3
"""Neighbouring bands that are joined in a step. Two would be of no use in a release with round
labels: a node of two children says that both are there, and gives way to the root."""


class SchemaDocument(TypedDict):
    """A proposed schema as plain data."""

    version: int
    columns: dict[str, Entry]
    privacy: list[Entry]
    suppression_limit: float
    missing: NotRequired[list[str]]
    others: NotRequired[str]


def hierarchy_for(column: ColumnFacts, verdict: Verdict) -> Entry | None:
    """Return the builder of a hierarchy for a quasi-identifier, or None for "value, then *".

    A builder names steps, never values: widths are round numbers of the size of the range.

    Example:
        >>> facts = ColumnFacts(name="zip", records=9, missing=0, distinct=9, commonest=1,
        ...                     sample=("75275", "75201"), widths=1)
        >>> verdict = Verdict(role=Role.QUASI, kind=Kind.CATEGORICAL, confidence=1, why="",
        ...                   concept="zip")
        >>> hierarchy_for(facts, verdict)
        {'mask': {}}
    """
    if verdict.role is not Role.QUASI or verdict.kind is Kind.SET:
        return None
    if verdict.kind is Kind.DATE:
        levels = ["month", "quarter", "year", "decade"]
        return {"dates": {"levels": levels} if verdict.concept == "birth" else {}}
    if verdict.date_format is not None:
        year_first = verdict.date_format.startswith("%Y")
        return {"mask": {} if year_first else {"direction": "left"}}
    if verdict.concept == "zip":
        return {"mask": {} if column.widths <= 1 else {"pad": "left", "fill": "0"}}
    if verdict.concept == "age" and verdict.kind is Kind.NUMERIC:
        bands = {"width": [5, 10, 20]}
        if column.highest is not None and column.highest >= 90:
            return {"top_bottom": {"top": 90, "intervals": bands}}
        return {"intervals": bands}
    if column.distinct <= FEW_VALUES:
        return None
    if verdict.concept == "geo" and verdict.kind is Kind.NUMERIC:
        return {"intervals": {"width": [0.01, 0.1, 1]}}
    if verdict.kind is Kind.NUMERIC:
        return _steps(column)
    return {"order": {"fanout": BANDS}} if is_band(column) else None


def _steps(column: ColumnFacts) -> Entry | None:
    """Return doubling intervals: a round width of about a 16th of the range, three levels."""
    if column.lowest is None or column.highest is None:
        return None
    span = column.highest - column.lowest
    if not (math.isfinite(span) and span > 0):
        return None
    rough = span / 16
    power = 10.0 ** math.floor(math.log10(rough))
    width = next(power * step for step in (1, 2, 5, 10) if power * step >= rough * (1 - 1e-9))
    if column.form == "integer":
        width = max(float(math.ceil(width)), 2.0)
    tidy: float | int = int(width) if float(width).is_integer() else float(f"{width:.3g}")
    return {"intervals": {"width": tidy, "levels": 3}}


def propose_attribute(
    attribute: Attribute, column: ColumnFacts, *, levels: bool
) -> Attribute | None:
    """Return a quasi-identifier with the hierarchy that suits its values; None: with none.

    Args:
        attribute: what is known of it already, which is kept: its kind, where it has one.
        column: its distinct values, each counted once.
        levels: propose levels for numbers and dates, too, which stand on a line.
    """
    verdict = replace(decide(column), role=Role.QUASI)
    if attribute.kind is not None and attribute.kind is not verdict.kind:
        verdict = replace(verdict, kind=attribute.kind, concept=None, date_format=None)
    entry = hierarchy_for(column, verdict)
    if entry is None:
        return None
    is_line = verdict.kind in (Kind.NUMERIC, Kind.DATE)
    if is_line and not levels:
        is_new = verdict.kind is Kind.DATE and attribute.kind is None
        return replace(attribute, kind=Kind.DATE) if is_new else None
    hierarchy = read_hierarchy(attribute.name, entry, folder=Path())
    return replace(attribute, kind=verdict.kind, hierarchy=hierarchy)


def schema_document(
    columns: Sequence[ColumnFacts], verdicts: Mapping[str, Verdict]
) -> SchemaDocument:
    """Return a schema as plain data: every column with its role, kind and hierarchy."""
    entries: dict[str, Entry] = {}
    for column in columns:
        verdict = verdicts[column.name]
        entry: Entry = {"role": str(verdict.role)}
        if verdict.role not in REMOVED:
            entry["kind"] = str(verdict.kind)
            if verdict.set_sep not in (None, SET_SEP):
                entry["set_sep"] = verdict.set_sep
            if verdict.kind is Kind.DATE and len(fitting_forms(column.sample)) == 1:
                entry["date_format"] = fitting_forms(column.sample)[0]
        hierarchy = hierarchy_for(column, verdict)
        if hierarchy is not None:
            entry["hierarchy"] = hierarchy
        entries[column.name] = entry
    document: SchemaDocument = {
        "version": 1,
        "columns": entries,
        "privacy": _promise(columns, verdicts),
        "suppression_limit": 0.05,
    }
    marks = sorted({mark for column in columns for mark in column.marks})
    if marks:
        document["missing"] = marks
    return document


def _promise(columns: Sequence[ColumnFacts], verdicts: Mapping[str, Verdict]) -> list[Entry]:
    """Ask for 5-anonymity, and for diversity in the surest sensitive column that allows it."""
    promise: list[Entry] = [{"model": "k-anonymity", "k": 5}]
    spread = [
        (-verdicts[c.name].confidence, c.commonest / c.records, place, c.name)
        for place, c in enumerate(columns)
        if verdicts[c.name].role is Role.SENSITIVE
        and c.records
        and c.distinct >= 2
        and c.commonest <= 0.8 * c.records
    ]
    if spread:
        promise.append({"model": "l-diversity", "l": 2, "column": min(spread)[-1]})
    return promise


def schema_text(
    document: SchemaDocument, verdicts: Mapping[str, Verdict], *, notices: Iterable[str] = ()
) -> str:
    """Return the schema as YAML with the reasons beside each column, ready to be edited."""
    lines = [
        "# A first proposal, made from headers, forms and counts. Read every line: who knows",
        "# the people in the table knows better than any rule. Roles: identifying (removed),",
        "# quasi (recoded), sensitive (kept, its spread is checked), neutral (kept as it is),",
        "# person (who a record is about: counted and removed).",
        *(f"# {notice}" for notice in notices),
        "version: 1",
        "",
        "columns:",
    ]
    for name, entry in document["columns"].items():
        verdict = verdicts.get(name)
        if verdict is not None:
            hipaa = hipaa_text(verdict.hipaa)
            sure = f"{verdict.confidence:.0%} sure"
            lines.append(f"  # {sure}: {verdict.why}" + (f"; HIPAA {hipaa}" if hipaa else ""))
        lines.append(f"  {_yaml(name)}: {_yaml(entry)}")
    lines += ["", "privacy:", *(f"  - {_yaml(model)}" for model in document["privacy"])]
    more: Mapping[str, object] = document
    lines += [
        f"{key}: {_yaml(more[key])}"
        for key in ("others", "missing", "suppression_limit")
        if key in more
    ]
    return "\n".join(lines) + "\n"


def _yaml(value: object) -> str:
    """Return plain data as YAML on one line; JSON strings are YAML strings."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_yaml(k)}: {_yaml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, str):
        plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", value)
        words = ("null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "na")
        if plain and value.lower() not in words:
            return value
        text = json.dumps(value, ensure_ascii=not value.isprintable())
        # JSON escapes a character beyond 16 bits as two halves, which YAML does not join.
        return _HALVES.sub(_joined, text)
    return json.dumps(value)


def _joined(halves: re.Match[str]) -> str:
    character = json.loads(f'"{halves[0]}"')
    return f"\\U{ord(character):08X}"
