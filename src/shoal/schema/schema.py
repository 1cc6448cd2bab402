"""Schema: what each column may reveal, and what a release promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from shoal.core.documents import Document, read_document
from shoal.core.errors import PrivacyError, SchemaError
from shoal.core.suggest import did_you_mean
from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import Promise
from shoal.privacy.combine import combined
from shoal.privacy.of_sets import promise_of_sets, speaks_of_sets
from shoal.schema.attribute import (
    KEPT,
    REMOVED,
    Attribute,
    Kind,
    Labels,
    Others,
    Proposals,
    Role,
)
from shoal.schema.document import read_schema, write_attribute, write_options
from shoal.schema.techniques import Technique

__all__ = [
    "KEPT", "REMOVED", "Attribute", "Kind", "Labels", "Others", "Proposals", "Role", "Schema",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Roles, kinds, hierarchies and weights of the columns, and the promise.

    `fold_case` joins sensitive values that differ only by case, accents or spaces. `labels` are
    those that a class writes; None: a release takes the usual ones, a model tight ones. `proposals`
    is a job's word to its engine (see `Proposals`); no document has it.

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
    labels: Labels | None = None
    waive: tuple[str, ...] = ()  # kept columns that are meant as they are, whatever they hold
    proposals: Proposals = Proposals.NONE

    def __post_init__(self) -> None:
        if self.sets:
            object.__setattr__(self, "privacy", promise_of_sets(self.privacy))
        faults = _faults_of(self)
        if faults:
            raise SchemaError(where="schema", faults=faults)

    @property
    def has_round_labels(self) -> bool:
        """Say whether classes write intervals of a public grid."""
        return self.written_labels is Labels.ROUND

    @property
    def written_labels(self) -> Labels:
        """Return the labels that a class writes."""
        return self.labels or Labels.TIGHT

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers, in the schema's order."""
        return self.named(Role.QUASI)

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers whose cells are sets of items."""
        return tuple(a.name for a in self.attributes if a.is_set)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive columns, in the schema's order."""
        return self.named(Role.SENSITIVE)

    @property
    def released(self) -> tuple[str, ...]:
        """Names of the columns that a release has: identifying ones only if they are replaced."""
        return tuple(a.name for a in self.attributes if a.is_released)

    @property
    def person(self) -> tuple[str, ...]:
        """Names of the columns that say who a record is about; none: each record is a person."""
        return self.named(Role.PERSON)

    @property
    def trajectories(self) -> bool:
        """Say whether a release tells which records are of one person: by a pseudonym of them."""
        return any(self.attribute(name).is_released for name in self.person)

    @property
    def hidden_person(self) -> tuple[str, ...]:
        """Names of the columns that say who a record is about and are not released."""
        return () if self.trajectories else self.person

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of the columns that are not recoded: as they are, or as what replaced them."""
        return tuple(a.name for a in self.attributes if a.is_kept)

    @property
    def replaced(self) -> dict[str, Technique]:
        """Names of the columns whose values are replaced, and by what."""
        return {a.name: a.release for a in self.attributes if a.release is not None}

    def files(self) -> tuple[str, ...]:
        """Return the files that its hierarchies were read from."""
        trees = (a.hierarchy for a in self.attributes)
        found = (tree.origin for tree in trees if isinstance(tree, Hierarchy))
        return tuple(origin for origin in found if origin is not None)

    def judged(self) -> Self:
        """Return the schema of what a verification judges: classes, their spread and persons."""
        judged = (Role.QUASI, Role.SENSITIVE, Role.PERSON)
        needed = tuple(a for a in self.attributes if a.role in judged)
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

    def with_person(self, names: Iterable[str]) -> Self:
        """Return the schema in which these columns, and no others, say who a record is about.

        Records of nobody that were waived stay so.
        """
        key = tuple(Attribute(name=name, role=Role.PERSON) for name in names)
        own = {a.name for a in key}
        others = tuple(
            a for a in self.attributes if a.role is not Role.PERSON and a.name not in own
        )
        is_waived = not {*self.person}.isdisjoint(self.waive)
        waive = (*(n for n in self.waive if n not in self.person), *(sorted(own) * is_waived))
        return replace(self, attributes=others + key, waive=waive)

    def without_person(self) -> Self:
        """Return the schema that removes the columns of the person and counts records."""
        removed = (
            Attribute(name=a.name, role=Role.IDENTIFYING) if a.role is Role.PERSON else a
            for a in self.attributes
        )  # fmt: skip
        waive = tuple(name for name in self.waive if name not in self.person)
        return replace(self, attributes=tuple(removed), waive=waive)

    def with_waived(self, names: Iterable[str]) -> Self:
        """Return the schema with further columns waived: released whatever they hold."""
        return replace(self, waive=tuple(dict.fromkeys((*self.waive, *names))))

    def with_attributes(self, found: Iterable[Attribute]) -> Self:
        """Return the schema with what was found out of some columns in place of what it says."""
        known = {each.name: each for each in found}
        return replace(self, attributes=tuple(known.get(a.name, a) for a in self.attributes))

    def fit(self, columns: Sequence[str], *, where: str = "table") -> Self:
        """Return the schema of a table with these columns, every column named.

        Raises:
            SchemaError: a column is missing or stands twice, or nobody named it.
        """
        faults = _column_faults(self, columns)
        if self.sets:
            named = ", ".join(map(repr, self.sets))
            faults.append(
                f"{named}: a column of sets is not taken here; see docs/guides/transactions.md"
            )
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
    def of(cls, given: Schema | Mapping[str, object] | str | Path) -> Schema:
        """Return a schema as people hand it over: itself, plain data, or the path of a file.

        Raises:
            SchemaError: it is none of these, or has faults.
        """
        if isinstance(given, Schema):
            return given
        if isinstance(given, (str, Path)):
            return cls.load(given)
        return cls.from_document(given)

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
        if "tables" in document:
            text = "a schema of linked tables (`tables`): anonymize, verify and risk take it"
            raise SchemaError(where=where, faults=[text])
        faults: list[str] = []
        parts = read_schema(document, folder=folder or Path(), faults=faults)
        try:
            schema = cls(**parts)
        except SchemaError as error:
            faults += error.faults
        if faults:
            raise SchemaError(where=where, faults=faults)
        return schema

    def to_document(self, column: Callable[[Attribute], Document] = write_attribute) -> Document:
        """Return the schema as plain data; `from_document` reads it back.

        column: writes an attribute.
        """
        optional = ("missing", "fold_case", "utility", "target", "labels", "waive")
        return {
            "version": 1,
            "columns": {a.name: column(a) for a in self.attributes},
            "others": str(self.others),
            "privacy": [model.to_document() for model in self.privacy],
            "suppression_limit": self.suppression_limit,
            **write_options(self, optional),
        }


def _faults_of(schema: Schema) -> list[str]:
    faults = []
    for name, times in Counter(a.name for a in schema.attributes).items():
        if times > 1:
            faults.append(f"column {name!r} is named {times} times; name it once")
    if not 0 <= schema.suppression_limit <= 1:
        faults.append("suppression_limit must lie between 0 and 1: a share, such as 0.05 for 5 %")
    known = {a.name for a in schema.attributes if a.is_released}
    if schema.target is not None and schema.target not in known:
        faults.append(f"target {schema.target!r} is not a released column of the schema")
    about = {a.name: a for a in schema.attributes}
    for name in schema.waive:
        if name in about and not about[name].is_waivable:
            faults.append(
                f"column {name!r} is {about[name].role}: only a kept column can be waived, "
                "or that of the person"
            )
    faults += [*_person_faults(schema), *_set_faults(schema)]
    kinds = {a.name: str(a.kind or "") for a in schema.attributes if a.role is Role.SENSITIVE}
    trees = {a.name for a in schema.attributes if a.hierarchy is not None}
    for model in schema.privacy:
        faults += model.check(kinds, hierarchies=trees)
    return faults


def _set_faults(schema: Schema) -> list[str]:
    if len(schema.sets) > 1:
        return ["only one column of sets can be a quasi-identifier; join them into one"]
    return [
        f"{model.name} needs a column of sets: a quasi-identifier of kind: set"
        for model in schema.privacy
        if speaks_of_sets(model) and not schema.sets
    ]


def _person_faults(schema: Schema) -> list[str]:
    if schema.trajectories and len(schema.person) > 1:
        return ["a pseudonym of the person needs one person column, not several"]
    return []


def _separator(header: str) -> str:
    """Return the commonest separator in a header that was not cut; empty if there is none."""
    found = max(",;\t|", key=header.count)
    return found if found in header else ""


def _is_one_text(columns: Sequence[str]) -> bool:
    """Say whether a table seems to have been read with the wrong separator."""
    return len(columns) == 1 and bool(_separator(columns[0]))


def _column_faults(schema: Schema, columns: Sequence[str]) -> list[str]:
    is_known = any(attribute.name in columns for attribute in schema.attributes)
    if not is_known and _is_one_text(columns):
        return [
            f"the table has one column, and its name holds {_separator(columns[0])!r}; if that "
            f"separates columns, say --sep '{_separator(columns[0])}'"
        ]
    faults = []
    twice = sorted(name for name, times in Counter(columns).items() if times > 1)
    for name in twice:
        faults.append(f"column {name!r} stands twice in the header; rename one of them")
    present = set(columns)
    free = [name for name in columns if name not in {a.name for a in schema.attributes}]
    for attribute in schema.attributes:
        if attribute.name not in present:
            meant = did_you_mean(attribute.name, free) or "; check the name"
            faults.append(f"column {attribute.name!r}: no such column in the table{meant}")
    named = {a.name for a in schema.attributes}
    for name in schema.waive:
        if name not in named and (schema.others is not Others.KEEP or name not in present):
            faults.append(f"column {name!r} is waived but not kept; give it the role neutral")
    return faults
