"""Schema: what each column may reveal, and what a release promises."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, Self

from shoal.core.dates import is_form
from shoal.core.documents import read_document, read_text
from shoal.core.errors import PrivacyError, SchemaError, ShoalError
from shoal.hierarchies import text as hierarchy_text
from shoal.hierarchies.build import BUILDERS
from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import Promise
from shoal.privacy import from_document as privacy_from_document
from shoal.privacy.combine import combined


class Role(StrEnum):
    """What a column may reveal, and so what a release does to it."""

    IDENTIFYING = "identifying"  # removed
    QUASI = "quasi"  # recoded
    SENSITIVE = "sensitive"  # kept; its spread within a class is checked
    NEUTRAL = "neutral"  # kept


KEPT = (Role.SENSITIVE, Role.NEUTRAL)
"""Roles whose columns are released as they are."""


class Kind(StrEnum):
    """How the values of a column are compared."""

    NUMERIC = "numeric"
    CATEGORICAL = "categorical"
    ORDINAL = "ordinal"
    DATE = "date"


class Others(StrEnum):
    """What happens to columns that the schema does not name."""

    FAULT = "fault"
    DROP = "drop"
    KEEP = "keep"


class HierarchyBuilder(Protocol):
    """A hierarchy that is built when the values of its column are known."""

    def build(self, name: str, values: Sequence[str]) -> Hierarchy:
        """Return a hierarchy that knows every one of `values`."""
        ...

    def to_document(self) -> dict[str, Any]:
        """Return the builder as plain data."""
        ...


# How far apart two categories are: by the height of their lowest common ancestor, or by the
# weighted steps up to it [netshiunda2020]; by depth, by steps, by leaves or by equality
# [veltmann2022]. "weighted-example" weighs the steps as the worked example of [netshiunda2020]
# does, not its formula.
DISTANCES = ("height", "weighted", "weighted-example", "wu-palmer", "path", "leaf-share", "equal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One column and the role it plays in a release.

    `kind` None means: numeric if every value is a number, otherwise categorical.
    `order` lists the values of an ordinal column from low to high.
    `bounds` are the lowest and highest possible value, for differentially private statistics.
    `weight` makes a search treat a column as wider (keep it finer) than the others.
    `date_format` is how dates are written, such as %d.%m.%Y; None: ISO dates, or found out.
    `dates` says how they are released: "iso", or the "same" way.
    `distance` says how far apart two of its categories are, one of DISTANCES; `beta` is the
    exponent of the weighted ones (0: every step of the tree weighs the same).
    """

    name: str
    role: Role
    kind: Kind | None = None
    hierarchy: Hierarchy | HierarchyBuilder | None = None
    order: tuple[str, ...] = ()
    weight: float = 1.0
    bounds: tuple[float, float] | None = None
    distance: str | None = None
    beta: float = 1.0
    date_format: str | None = None
    dates: str = "iso"

    def __post_init__(self) -> None:
        faults = []
        if not self.name:
            faults.append("a column needs a name")
        if self.hierarchy is not None and self.role in (Role.IDENTIFYING, Role.NEUTRAL):
            faults.append(f"column {self.name!r}: a {self.role} column takes no hierarchy")
        if not (math.isfinite(self.weight) and self.weight > 0):
            faults.append(f"column {self.name!r}: weight must be a number above 0")
        if self.order and self.kind is not Kind.ORDINAL:
            faults.append(f"column {self.name!r}: an order needs kind: ordinal")
        if self.kind is Kind.ORDINAL and not self.order and self.hierarchy is None:
            faults.append(f"column {self.name!r}: kind: ordinal needs order: [low, …, high]")
        if self.bounds is not None and not (
            all(math.isfinite(end) for end in self.bounds) and self.bounds[0] < self.bounds[1]
        ):
            faults.append(f"column {self.name!r}: bounds must be [low, high], two numbers")
        if self.distance is not None and self.distance not in DISTANCES:
            allowed = ", ".join(DISTANCES)
            faults.append(f"column {self.name!r}: distance must be one of {allowed}")
        if not (math.isfinite(self.beta) and self.beta >= 0):
            faults.append(f"column {self.name!r}: beta must be a number, 0 or above")
        if self.date_format is not None and not is_form(self.date_format):
            faults.append(
                f"column {self.name!r}: date_format must have a day, a month and a year, "
                "such as %d.%m.%Y, %m/%d/%Y or %d-%b-%Y"
            )
        if (self.date_format is not None or self.dates != "iso") and self.kind is not Kind.DATE:
            faults.append(f"column {self.name!r}: date_format and dates need kind: date")
        if self.dates not in ("iso", "same"):
            faults.append(f"column {self.name!r}: dates must be iso or same")
        if len(set(self.order)) != len(self.order):
            faults.append(f"column {self.name!r}: its order names a value twice")
        if faults:
            raise SchemaError(where="schema", faults=faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Roles, kinds, hierarchies and weights of the columns, and the promise.

    `fold_case` joins sensitive values that differ only by case, accents or spaces.

    Example:
        >>> schema = Schema.from_document(
        ...     {"columns": {"age": {"role": "quasi"}, "name": {"role": "identifying"}},
        ...      "privacy": [{"model": "k-anonymity", "k": 5}]})
        >>> schema.quasi
        ('age',)
    """

    attributes: tuple[Attribute, ...]
    privacy: tuple[Promise, ...] = ()
    others: Others = Others.FAULT
    missing: tuple[str, ...] = ()
    fold_case: bool = False
    utility: str | None = None
    suppression_limit: float = 0.0
    target: str | None = None
    waive: tuple[str, ...] = ()  # kept columns that are meant as they are, whatever they hold

    def __post_init__(self) -> None:
        faults = _faults_of(self)
        if faults:
            raise SchemaError(where="schema", faults=faults)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers, in the schema's order."""
        return self.named(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive columns, in the schema's order."""
        return self.named(Role.SENSITIVE)

    @property
    def released(self) -> tuple[str, ...]:
        """Names of the columns that a release keeps: all but the identifying ones."""
        return tuple(a.name for a in self.attributes if a.role is not Role.IDENTIFYING)

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of the columns that are released as they are, in the schema's order."""
        return tuple(a.name for a in self.attributes if a.role in KEPT)

    def judged(self) -> Self:
        """Return the schema of what a verification judges: nothing but classes and their spread."""
        looked = (Role.QUASI, Role.SENSITIVE)
        needed = tuple(a for a in self.attributes if a.role in looked)
        return replace(
            self, attributes=needed, others=Others.DROP, privacy=(), target=None, waive=()
        )

    def named(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with one role."""
        return tuple(a.name for a in self.attributes if a.role is role)

    def attribute(self, name: str) -> Attribute:
        """Return the column called `name`."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise SchemaError(where="schema", faults=[f"column {name!r}: the schema does not name it"])

    def with_promise(
        self,
        models: Iterable[Promise],
        *,
        replace_promise: bool = False,
        suppression_limit: float | None = None,
    ) -> Self:
        """Return the schema that keeps its own promise and these models as well.

        Args:
            models: what is promised beside it, or more strictly.
            replace_promise: the models take the place of the schema's promise.
            suppression_limit: the share of records that may be suppressed; as it is if None.

        Raises:
            PrivacyError: a model asks for less than the schema promises, or nothing is to take
                the promise's place.
        """
        asked = tuple(models)
        if replace_promise and not asked:
            raise PrivacyError(
                model="none", problem="nothing takes the promise's place; ask for one, such as -k 5"
            )
        kept = asked if replace_promise else combined(self.privacy, asked, self.sensitive)
        limit = self.suppression_limit if suppression_limit is None else suppression_limit
        return replace(self, privacy=kept, suppression_limit=limit)

    def with_waived(self, names: Iterable[str]) -> Self:
        """Return the schema with further columns waived: released whatever they hold."""
        return replace(self, waive=tuple(dict.fromkeys((*self.waive, *names))))

    def with_date_formats(self, formats: Mapping[str, str]) -> Self:
        """Return the schema with the forms in which the dates of some columns are written."""
        found = (
            replace(a, kind=Kind.DATE, date_format=formats[a.name]) if a.name in formats else a
            for a in self.attributes
        )
        return replace(self, attributes=tuple(found))

    def fit(self, columns: Sequence[str], *, where: str = "table") -> Self:
        """Return the schema of a table with these columns, every column named.

        Raises:
            SchemaError: a column is missing or stands twice, or nobody named it.
        """
        faults = _column_faults(self, columns)
        known = {a.name for a in self.attributes}
        extra = [name for name in columns if name not in known]
        if extra and self.others is Others.FAULT:
            named = ", ".join(repr(name) for name in extra)
            faults.append(
                f"{len(extra)} columns have no role: {named}. Give each one a role, "
                "or write others: drop (or others: keep) into the schema"
            )
        if faults:
            raise SchemaError(where=where, faults=faults)
        if self.others is not Others.KEEP:
            return self
        kept = tuple(Attribute(name=name, role=Role.NEUTRAL) for name in extra)
        return replace(self, attributes=self.attributes + kept)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a schema from a YAML or JSON file; hierarchy paths are relative to it."""
        return cls.from_document(read_document(path), where=str(path), folder=Path(path).parent)

    @classmethod
    def from_document(
        cls, document: object, *, where: str = "schema", folder: Path | None = None
    ) -> Self:
        """Build a schema from plain data; all its faults are raised together."""
        if not isinstance(document, Mapping):
            raise SchemaError(where=where, faults=["a schema is a mapping with `columns`"])
        faults: list[str] = []
        unknown = sorted(str(key) for key in document if key not in _KEYS)
        faults += [f"unknown key {key!r}" for key in unknown]
        if document.get("version", 1) != 1:
            faults.append("version must be 1")
        attributes = _attributes(document.get("columns"), faults=faults, folder=folder or Path())
        models = _models(document.get("privacy", []), faults=faults)
        options = _options(document, faults=faults)
        try:
            schema = cls(attributes=attributes, privacy=models, **options)
        except SchemaError as error:
            faults += error.faults
        if faults:
            raise SchemaError(where=where, faults=faults)
        return schema

    def to_document(self) -> dict[str, Any]:
        """Return the schema as plain data; `from_document` reads it back."""
        document: dict[str, Any] = {
            "version": 1,
            "columns": {a.name: _attribute_document(a) for a in self.attributes},
            "others": str(self.others),
            "privacy": [model.to_document() for model in self.privacy],
            "suppression_limit": self.suppression_limit,
        }
        if self.missing:
            document["missing"] = list(self.missing)
        if self.fold_case:
            document["fold_case"] = True
        if self.utility is not None:
            document["utility"] = self.utility
        if self.target is not None:
            document["target"] = self.target
        if self.waive:
            document["waive"] = list(self.waive)
        return document


_KEYS = frozenset(
    ("version", "columns", "others", "privacy", "utility", "suppression_limit", "missing",
     "fold_case", "target", "waive")
)  # fmt: skip
_COLUMN_KEYS = frozenset(
    ("role", "kind", "hierarchy", "order", "weight", "bounds", "distance", "beta", "dates",
     "date_format")
)  # fmt: skip


def _faults_of(schema: Schema) -> list[str]:
    faults = []
    for name, times in Counter(a.name for a in schema.attributes).items():
        if times > 1:
            faults.append(f"column {name!r} is named {times} times; name it once")
    if not 0 <= schema.suppression_limit <= 1:
        faults.append("suppression_limit must lie between 0 and 1")
    known = {a.name for a in schema.attributes if a.role is not Role.IDENTIFYING}
    if schema.target is not None and schema.target not in known:
        faults.append(f"target {schema.target!r} is not a released column of the schema")
    roles = {a.name: a.role for a in schema.attributes}
    for name in schema.waive:
        if name in roles and roles[name] not in KEPT:
            faults.append(f"column {name!r} is {roles[name]}: only a kept column can be waived")
    kinds = {a.name: str(a.kind or "") for a in schema.attributes if a.role is Role.SENSITIVE}
    trees = {a.name for a in schema.attributes if a.hierarchy is not None}
    for model in schema.privacy:
        faults += model.check(kinds, hierarchies=trees)
    return faults


def _column_faults(schema: Schema, columns: Sequence[str]) -> list[str]:
    faults = []
    twice = sorted(name for name, times in Counter(columns).items() if times > 1)
    for name in twice:
        faults.append(f"column {name!r} stands twice in the header; rename one of them")
    present = set(columns)
    for attribute in schema.attributes:
        if attribute.name not in present:
            faults.append(f"column {attribute.name!r}: no such column in the table; check the name")
    named = {a.name for a in schema.attributes}
    for name in schema.waive:
        if name not in named and (schema.others is not Others.KEEP or name not in present):
            faults.append(f"column {name!r} is waived but not kept; give it the role neutral")
    return faults


def _attributes(columns: object, *, faults: list[str], folder: Path) -> tuple[Attribute, ...]:
    if not isinstance(columns, Mapping) or not columns:
        faults.append("`columns` must name at least one column and its role")
        return ()
    found = []
    for name, entry in columns.items():
        try:
            found.append(_attribute(str(name), entry, folder=folder))
        except SchemaError as error:
            faults += error.faults
        except ShoalError as error:
            faults.append(f"column {str(name)!r}: {error}")
    return tuple(found)


def _attribute(name: str, entry: object, *, folder: Path) -> Attribute:
    entry = {"role": entry} if isinstance(entry, str) else entry
    faults: list[str] = []
    if not isinstance(entry, Mapping):
        raise SchemaError(where="schema", faults=[f"column {name!r}: needs at least a role"])
    faults += [f"column {name!r}: unknown key {str(k)!r}" for k in entry if k not in _COLUMN_KEYS]
    role = _choice(Role, entry.get("role"), what=f"column {name!r}: role", faults=faults)
    kind = None
    if entry.get("kind") is not None:
        kind = _choice(Kind, entry["kind"], what=f"column {name!r}: kind", faults=faults)
    order = entry.get("order", ())
    if isinstance(order, str) or not isinstance(order, Sequence):
        faults.append(f"column {name!r}: order must be a list of values from low to high")
        order = ()
    weight = _number(entry.get("weight", 1.0), f"column {name!r}: weight", "above 0", faults)
    beta = _number(entry.get("beta", 1.0), f"column {name!r}: beta", "0 or above", faults)
    distance = entry.get("distance")
    if distance is not None and not isinstance(distance, str):
        faults.append(f"column {name!r}: distance must be a name")
    bounds = _bounds(name, entry.get("bounds"), faults=faults)
    form, dates = entry.get("date_format"), entry.get("dates", "iso")
    if not isinstance(form, str | None) or not isinstance(dates, str):
        faults.append(f"column {name!r}: date_format and dates must be texts")
    hierarchy: Hierarchy | HierarchyBuilder | None = None
    try:
        hierarchy = read_hierarchy(name, entry.get("hierarchy"), folder=folder)
    except ShoalError as error:
        faults.append(f"column {name!r}: {error}")
    if faults or not isinstance(role, Role):
        raise SchemaError(where="schema", faults=faults)
    return Attribute(
        name=name,
        role=role,
        kind=kind if isinstance(kind, Kind) else None,
        hierarchy=hierarchy,
        order=tuple(str(value) for value in order),
        weight=weight,
        bounds=bounds,
        distance=distance if isinstance(distance, str) else None,
        beta=beta,
        date_format=None if form is None else str(form),
        dates=str(dates),
    )


def _number(value: object, what: str, range_: str, faults: list[str]) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        faults.append(f"{what} must be a number {range_}")
        return 1.0
    return float(value)


def _bounds(name: str, value: object, *, faults: list[str]) -> tuple[float, float] | None:
    if value is None:
        return None
    numbers = value if isinstance(value, (list, tuple)) else ()
    if len(numbers) != 2 or not all(
        isinstance(end, (int, float)) and not isinstance(end, bool) for end in numbers
    ):
        faults.append(f"column {name!r}: bounds must be [low, high], two numbers")
        return None
    return float(numbers[0]), float(numbers[1])


def read_hierarchy(
    name: str, entry: object, *, folder: Path
) -> Hierarchy | HierarchyBuilder | None:
    """Return the hierarchy that a schema's `hierarchy:` entry stands for.

    A text is the path of a CSV, YAML or JSON file; a mapping is a tree
    (`{tree: …}`), a stored hierarchy (`{labels: …, parents: …}`) or a builder
    (`{mask: {}}`, `{intervals: {width: [5, 10]}}`, `{dates: {}}` …).
    """
    if entry is None:
        return None
    if isinstance(entry, str):
        return load_hierarchy(name, folder / entry)
    if not isinstance(entry, Mapping):
        raise SchemaError(where="hierarchy", faults=["must be a file name or a mapping"])
    if "labels" in entry:
        return Hierarchy.from_document(name, dict(entry))
    if set(entry) == {"tree"}:
        return Hierarchy.from_tree(name, entry["tree"])
    if len(entry) != 1 or next(iter(entry)) not in BUILDERS:
        known = ", ".join(("tree", *BUILDERS))
        raise SchemaError(where="hierarchy", faults=[f"must have one key: {known}"])
    key, options = next(iter(entry.items()))
    try:
        return BUILDERS[key].from_document({} if options is None else options)
    except ValueError as error:
        raise SchemaError(where=f"hierarchy {key}", faults=[str(error)]) from None


def load_hierarchy(name: str, path: str | Path) -> Hierarchy:
    """Read a hierarchy file: CSV in the common layout, or a nested YAML or JSON tree."""
    place = Path(path)
    if place.suffix.lower() in (".yaml", ".yml", ".json"):
        return hierarchy_text.parse_tree(name, read_document(place))
    return hierarchy_text.parse_csv(name, read_text(place))


def _attribute_document(attribute: Attribute) -> dict[str, Any]:
    document: dict[str, Any] = {"role": str(attribute.role)}
    if attribute.kind is not None:
        document["kind"] = str(attribute.kind)
    if attribute.order:
        document["order"] = list(attribute.order)
    if attribute.bounds is not None:
        document["bounds"] = list(attribute.bounds)
    if attribute.weight != 1.0:
        document["weight"] = attribute.weight
    if attribute.distance is not None:
        document["distance"] = attribute.distance
    if attribute.beta != 1.0:
        document["beta"] = attribute.beta
    if attribute.date_format is not None:
        document["date_format"] = attribute.date_format
    if attribute.dates != "iso":
        document["dates"] = attribute.dates
    if attribute.hierarchy is not None:
        document["hierarchy"] = _hierarchy_document(attribute.hierarchy)
    return document


def _hierarchy_document(hierarchy: Hierarchy | HierarchyBuilder) -> dict[str, Any]:
    for key, kind in BUILDERS.items():
        if isinstance(hierarchy, kind):
            return {key: hierarchy.to_document()}
    return hierarchy.to_document()


def _models(entries: object, *, faults: list[str]) -> tuple[Promise, ...]:
    if isinstance(entries, (Mapping, str)) or not isinstance(entries, Sequence):
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
            found.append(privacy_from_document(entry))
        except PrivacyError as error:
            faults.append(str(error))
    return tuple(found)


def _options(document: Mapping[Any, Any], *, faults: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    others = _choice(Others, document.get("others", "fault"), what="others", faults=faults)
    options["others"] = others if isinstance(others, Others) else Others.FAULT
    limit = document.get("suppression_limit", 0.0)
    if isinstance(limit, bool) or not isinstance(limit, (int, float)):
        faults.append("suppression_limit must be a number between 0 and 1")
        limit = 0.0
    options["suppression_limit"] = float(limit)
    marks = document.get("missing", [])
    marks = [marks] if isinstance(marks, str) else marks
    if not isinstance(marks, Sequence) or not all(isinstance(mark, str) for mark in marks):
        faults.append("missing must be a list of marks such as ['?', 'NA']")
        marks = []
    options["missing"] = tuple(marks)
    waived = document.get("waive", [])
    waived = [waived] if isinstance(waived, str) else waived
    if not isinstance(waived, Sequence) or not all(isinstance(name, str) for name in waived):
        faults.append("waive must be a list of kept columns such as [mrn]")
        waived = []
    options["waive"] = tuple(waived)
    fold = document.get("fold_case", False)
    if not isinstance(fold, bool):
        faults.append("fold_case must be true or false")
    options["fold_case"] = fold is True
    for key in ("utility", "target"):
        value = document.get(key)
        if value is not None and not isinstance(value, str):
            faults.append(f"{key} must be a name")
            value = None
        options[key] = value
    return options


def _choice(kind: type[StrEnum], value: object, *, what: str, faults: list[str]) -> StrEnum | None:
    for member in kind:
        if value == member.value:
            return member
    allowed = ", ".join(member.value for member in kind)
    faults.append(f"{what} must be one of {allowed}")
    return None
