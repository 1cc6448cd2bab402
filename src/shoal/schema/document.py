"""Schemas as documents: plain data, as YAML and JSON files, models and requests hold it.

Reading collects every fault instead of stopping at the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, fields
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Protocol, TypedDict, TypeVar

from shoal.core.documents import Document, Json, as_json
from shoal.core.errors import PrivacyError, SchemaError, ShoalError
from shoal.core.suggest import did_you_mean
from shoal.hierarchies.builder import Builder
from shoal.hierarchies.read import read_hierarchy, write_hierarchy
from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import Promise
from shoal.privacy import from_document as promise_from_document
from shoal.schema.attribute import SET_SEP, TECHNIQUES, Attribute, Kind, Labels, Others, Role
from shoal.schema.techniques import Technique, read_technique, write_technique

Choice = TypeVar("Choice", bound=StrEnum)

_KEYS = frozenset(
    ("version", "columns", "others", "privacy", "utility", "suppression_limit", "missing",
     "fold_case", "target", "labels", "waive")
)  # fmt: skip
_COLUMN_KEYS = frozenset(
    ("role", "kind", "hierarchy", "order", "weight", "bounds", "distance", "beta", "dates",
     "date_format", "release", "set_sep", "utility_constraints")
)  # fmt: skip


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]


class SchemaParts(TypedDict):
    """What a schema is made of; `shoal.schema.schema.Schema` explains each."""

    attributes: tuple[Attribute, ...]
    privacy: tuple[Promise, ...]
    others: Others
    missing: tuple[str, ...]
    fold_case: bool
    utility: str | None
    suppression_limit: float
    target: str | None
    labels: Labels | None
    waive: tuple[str, ...]


class Entry:
    """A mapping whose values are checked as they are read; faults are collected."""

    def __init__(self, values: Mapping[object, object], faults: list[str], where: str = "") -> None:
        self.values = values
        self.faults = faults
        self.where = where

    def fault(self, problem: str) -> None:
        """Add what is wrong, with where it stands."""
        self.faults.append(self.where + problem)

    def choice(self, key: str, kind: type[Choice], default: str | None = None) -> Choice | None:
        """Return one of several words."""
        value = self.values.get(key, default)
        for member in kind:
            if value == member.value:
                return member
        words = [member.value for member in kind]
        meant = did_you_mean(value, words) if isinstance(value, str) else ""
        self.fault(f"{key} must be one of {', '.join(words)}{meant}")
        return None

    def number(self, key: str, default: float, wanted: str) -> float:
        """Return a number. wanted: which ones there are, for a fault."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fault(f"{key} must be a number {wanted}")
            return default
        return float(value)

    def name(self, key: str) -> str | None:
        """Return a name; None: there is none."""
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value
        self.fault(f"{key} must be a name")
        return None

    def texts(self, key: str, wanted: str) -> tuple[str, ...]:
        """Return a list of texts, or a single one. wanted: which ones, for a fault."""
        value = self.values.get(key, [])
        listed = [value] if isinstance(value, str) else value
        if isinstance(listed, Sequence) and all(isinstance(text, str) for text in listed):
            return tuple(listed)
        self.fault(f"{key} must be a list of {wanted}")
        return ()


def _unknown(key: str, known: Iterable[str]) -> str:
    meant = did_you_mean(key, known) or f"; there are {', '.join(sorted(known))}"
    return f"unknown key {key!r}{meant}"


def read_schema(
    document: Mapping[object, object], *, folder: Path, faults: list[str]
) -> SchemaParts:
    """Return the parts of a schema; what is wrong with it is added to `faults`."""
    entry = Entry(document, faults)
    faults += [_unknown(key, _KEYS) for key in sorted(map(str, document.keys() - _KEYS))]
    if document.get("version", 1) != 1:
        faults.append("version must be 1")
    attributes = _attributes(document.get("columns"), faults=faults, folder=folder)
    privacy = read_promises(document.get("privacy", []), faults=faults)
    others = entry.choice("others", Others, "fault") or Others.FAULT
    limit = entry.number("suppression_limit", 0.0, "between 0 and 1")
    missing = entry.texts("missing", "marks such as ['?', 'NA']")
    waive = entry.texts("waive", "kept columns such as [mrn]")
    fold_case = document.get("fold_case", False)
    if not isinstance(fold_case, bool):
        faults.append("fold_case must be true or false")
    return SchemaParts(
        attributes=attributes,
        privacy=privacy,
        others=others,
        missing=missing,
        fold_case=fold_case is True,
        utility=entry.name("utility"),
        suppression_limit=limit,
        target=entry.name("target"),
        labels=None if document.get("labels") is None else entry.choice("labels", Labels),
        waive=waive,
    )


def _attributes(columns: object, *, faults: list[str], folder: Path) -> tuple[Attribute, ...]:
    if not isinstance(columns, Mapping) or not columns:
        faults.append("`columns` must name at least one column and its role")
        return ()
    found = []
    for name, values in columns.items():
        try:
            found.append(_attribute(str(name), values, folder=folder))
        except SchemaError as error:
            faults += error.faults
        except ShoalError as error:
            faults.append(f"column {str(name)!r}: {error}")
    return tuple(found)


def _attribute(name: str, values: object, *, folder: Path) -> Attribute:
    values = {"role": values} if isinstance(values, str) else values
    faults: list[str] = []
    if not isinstance(values, Mapping):
        raise SchemaError(where="schema", faults=[f"column {name!r}: needs at least a role"])
    entry = Entry(values, faults, where=f"column {name!r}: ")
    for key in values:
        if key not in _COLUMN_KEYS:
            entry.fault(_unknown(str(key), _COLUMN_KEYS))
    role = entry.choice("role", Role)
    kind = None if values.get("kind") is None else entry.choice("kind", Kind)
    order = values.get("order", ())
    if isinstance(order, str) or not isinstance(order, Sequence):
        entry.fault("order must be a list of values from low to high")
        order = ()
    weight = entry.number("weight", 1.0, "above 0")
    beta = entry.number("beta", 1.0, "0 or above")
    distance = entry.name("distance")
    set_sep = entry.name("set_sep")
    bounds, constraints = _bounds(entry), _constraints(entry)
    form, dates = values.get("date_format"), values.get("dates", "iso")
    if not isinstance(form, str | None) or not isinstance(dates, str):
        entry.fault("date_format and dates must be texts")
    hierarchy: Hierarchy | Builder | None = None
    try:
        hierarchy = read_hierarchy(
            name, values.get("hierarchy"), folder=folder, items=kind is Kind.SET
        )
    except ShoalError as error:
        entry.fault(str(error))
    technique = _technique(entry)
    if faults or role is None:
        raise SchemaError(where="schema", faults=faults)
    return Attribute(
        name=name,
        role=role,
        kind=kind,
        hierarchy=hierarchy,
        order=tuple(str(value) for value in order),
        weight=weight,
        bounds=bounds,
        distance=distance,
        beta=beta,
        date_format=form,
        dates=dates,
        set_sep=SET_SEP if set_sep is None else set_sep,
        utility_constraints=constraints,
        release=technique,
    )


def _technique(entry: Entry) -> Technique | None:
    value = entry.values.get("release")
    try:
        return None if value is None else read_technique(value, TECHNIQUES)
    except ValueError as error:
        entry.fault(str(error))
        return None


def _constraints(entry: Entry) -> tuple[tuple[str, ...], ...]:
    listed, found = entry.values.get("utility_constraints", ()), []
    for each in listed if isinstance(listed, list | tuple) else (None,):
        items = tuple(each) if isinstance(each, list | tuple) else ()
        if not items or not all(isinstance(item, str) and item for item in items):
            entry.fault("utility_constraints must be a list of lists of items")
            return ()
        found.append(items)
    return tuple(found)


def _bounds(entry: Entry) -> tuple[float, float] | None:
    value = entry.values.get("bounds")
    if value is None:
        return None
    ends = value if isinstance(value, list | tuple) else ()
    if len(ends) != 2 or not all(
        isinstance(end, int | float) and not isinstance(end, bool) for end in ends
    ):
        entry.fault("bounds must be [low, high], two numbers")
        return None
    return float(ends[0]), float(ends[1])


def read_promises(entries: object, *, faults: list[str]) -> tuple[Promise, ...]:
    """Return the promises of a list; what is wrong with them is added to `faults`."""
    if isinstance(entries, Mapping | str) or not isinstance(entries, Sequence):
        faults.append("`privacy` must be a list such as [{model: k-anonymity, k: 5}]")
        return ()
    found: list[Promise] = []
    for entry in entries:
        if not isinstance(entry, Mapping):
            faults.append(
                "an entry of `privacy` must be a mapping such as {model: k-anonymity, k: 5}"
            )
            continue
        try:
            found.append(promise_from_document(entry))
        except PrivacyError as error:
            faults.append(str(error))
    return tuple(found)


def write_attribute(
    attribute: Attribute, hierarchy: Callable[[Hierarchy | Builder], Json] = write_hierarchy
) -> Document:
    """Return a column's entry in a schema; what is as by default is left out.

    hierarchy: writes its hierarchy.

    Example:
        >>> write_attribute(Attribute(name="age", role=Role.QUASI, kind=Kind.NUMERIC))
        {'role': 'quasi', 'kind': 'numeric'}
    """
    plain = ("kind", "order", "bounds", "weight", "distance", "beta", "date_format", "dates",
             "set_sep", "utility_constraints")  # fmt: skip
    document: Document = {"role": str(attribute.role), **write_options(attribute, plain)}
    if attribute.hierarchy is not None:
        document["hierarchy"] = hierarchy(attribute.hierarchy)
    if attribute.release is not None:
        document["release"] = write_technique(attribute.release)
    return document


def write_options(owner: _Dataclass, names: Iterable[str]) -> Document:
    """Return the fields of these names that differ from their defaults."""
    defaults = {each.name: each.default for each in fields(owner)}
    values = {name: getattr(owner, name) for name in names}
    return {name: as_json(value) for name, value in values.items() if value != defaults[name]}
