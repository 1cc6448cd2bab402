"""Linked tables: a table of persons and the tables whose rows hang on theirs, by keys.

Every table but one names its parent, so that each row leads to one person. Columns are called
`table.column` wherever several tables are meant: in promises, options and reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Self

from shoal.core.documents import Document, read_document
from shoal.core.errors import PrivacyError, SchemaError
from shoal.core.suggest import did_you_mean
from shoal.privacy import Promise, expand
from shoal.privacy.combine import combined
from shoal.schema.document import Entry, read_promises, write_attribute, write_options
from shoal.schema.schema import Attribute, Labels, Others, Role, Schema

_OPTIONS = ("missing", "fold_case", "labels")
_KEYS = frozenset(("version", "tables", "privacy", "suppression_limit", *_OPTIONS))
_TABLE_KEYS = frozenset(("key", "parent", "foreign_key", "columns", "others", "waive"))
_NAME = re.compile(r"\w[\w-]*")  # it is the name of a file, too


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedTable:
    """One of several tables.

    Attributes:
        schema: its columns without the keys; what is promised about them.
        key: the column with a different value in every row; None: nothing hangs on its rows.
        parent: the table that its rows hang on; None: each row is a person.
        foreign_key: the column that has the parent's key.
    """

    name: str
    schema: Schema
    key: str | None = None
    parent: str | None = None
    foreign_key: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the columns that link tables: a release has new numbers in them."""
        return tuple(name for name in (self.key, self.foreign_key) if name is not None)

    def qualified(self, column: str) -> str:
        """Return what a column is called among those of all tables."""
        return f"{self.name}.{column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedSchema:
    """Tables that hang on each other, and what is promised about the persons of one of them.

    Law:
        The tables form one tree: its root, the table without a parent, has a row a person.
    """

    tables: tuple[LinkedTable, ...]
    privacy: tuple[Promise, ...] = ()
    missing: tuple[str, ...] = ()
    fold_case: bool = False
    suppression_limit: float = 0.0
    labels: Labels | None = None

    def __post_init__(self) -> None:
        faults = [*_table_faults(self.tables), *_tree_faults(self.tables)]
        if not 0 <= self.suppression_limit <= 1:
            faults.append("suppression_limit must lie between 0 and 1")
        kinds, trees = self._sensitive()
        for model in self.privacy:
            faults += model.check(kinds, hierarchies=trees)
        if faults:
            raise SchemaError(where="schema", faults=faults)
        object.__setattr__(self, "tables", self._bound())

    @property
    def persons(self) -> LinkedTable:
        """Return the table with a row a person."""
        return next(table for table in self.tables if table.parent is None)

    @property
    def downwards(self) -> tuple[LinkedTable, ...]:
        """Return the tables, parents before their children."""
        found = [self.persons]
        for table in found:
            found += self.children(table.name)
        return tuple(found)

    def children(self, name: str) -> tuple[LinkedTable, ...]:
        """Return the tables that hang on one."""
        return tuple(table for table in self.tables if table.parent == name)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Return the sensitive columns of all tables."""
        return tuple(self._sensitive()[0])

    @property
    def promise(self) -> tuple[Promise, ...]:
        """Return what is promised, a model for each sensitive column that it speaks of."""
        return tuple(expand(self.privacy, self.sensitive))

    def _sensitive(self) -> tuple[dict[str, str], set[str]]:
        """Return the kinds of all sensitive columns, and which of them have a hierarchy."""
        found = [
            (table.qualified(a.name), a)
            for table in self.tables
            for a in table.schema.attributes
            if a.role is Role.SENSITIVE
        ]
        kinds = {name: str(a.kind or "") for name, a in found}
        return kinds, {name for name, a in found if a.hierarchy is not None}

    def _bound(self) -> tuple[LinkedTable, ...]:
        """Return the tables with how values are read, and what is promised about their columns."""
        found = []
        for table in self.tables:
            own = [
                replace(model, column=model.column.removeprefix(f"{table.name}."))
                for model in expand(self.privacy, self.sensitive)
                if model.column is not None and model.column.startswith(f"{table.name}.")
            ]
            schema = replace(
                table.schema, privacy=tuple(own), missing=self.missing, fold_case=self.fold_case,
                labels=self.labels,
            )  # fmt: skip
            found.append(replace(table, schema=schema))
        return tuple(found)

    def with_promise(
        self,
        models: Iterable[Promise],
        *,
        replace_promise: bool = False,
        suppression_limit: float | None = None,
    ) -> Self:
        """Return the schema that keeps its own promise and these models as well.

        Raises:
            PrivacyError: see `Schema.with_promise`.
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
        """Return the schema with further columns waived, each called `table.column`.

        Raises:
            SchemaError: there is no such table.
        """
        found = {table.name: table for table in self.tables}
        faults = []
        for name in names:
            table, _, column = name.partition(".")
            if table not in found or not column:
                faults.append(f"{name!r} is no column of a table; write it as table.column")
                continue
            known = found[table]
            found[table] = replace(known, schema=known.schema.with_waived([column]))
        if faults:
            raise SchemaError(where="--waive", faults=faults)
        return replace(self, tables=tuple(found.values()))

    def files(self) -> tuple[str, ...]:
        """Return the files that its hierarchies were read from."""
        return tuple(file for table in self.tables for file in table.schema.files())

    @classmethod
    def of(cls, given: LinkedSchema | Mapping[str, object] | str | Path) -> LinkedSchema:
        """Return a schema as people hand it over: itself, plain data, or the path of a file.

        Raises:
            SchemaError: it is none of these, or has faults.
        """
        if isinstance(given, LinkedSchema):
            return given
        return cls.load(given) if isinstance(given, (str, Path)) else cls.from_document(given)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a schema from a YAML or JSON file; hierarchy paths are relative to it."""
        return cls.from_document(read_document(path), where=str(path), folder=Path(path).parent)

    @classmethod
    def from_document(
        cls, document: object, *, where: str = "schema", folder: Path | None = None
    ) -> Self:
        """Build a schema from plain data; all its faults are raised together."""
        if not is_linked(document) or not isinstance(document, Mapping):
            raise SchemaError(where=where, faults=["a schema of linked tables has `tables`"])
        faults: list[str] = []
        entry = Entry(document, faults)
        faults += [f"unknown key {key!r}" for key in sorted(map(str, document.keys() - _KEYS))]
        if document.get("version", 1) != 1:
            faults.append("version must be 1")
        missing = entry.texts("missing", "marks such as ['?', 'NA']")
        fold_case = document.get("fold_case", False)
        if not isinstance(fold_case, bool):
            faults.append("fold_case must be true or false")
        make = partial(
            cls,
            tables=_read_tables(document["tables"], folder=folder or Path(), faults=faults),
            missing=missing,
            fold_case=fold_case is True,
            labels=None if document.get("labels") is None else entry.choice("labels", Labels),
            suppression_limit=entry.number("suppression_limit", 0.0, "between 0 and 1"),
        )
        privacy = read_promises(document.get("privacy", []), faults=faults)
        try:
            schema = make(privacy=privacy)
        except SchemaError as error:
            faults += error.faults
        if faults:
            raise SchemaError(where=where, faults=faults)
        return schema

    def to_document(self, column: Callable[[Attribute], Document] = write_attribute) -> Document:
        """Return the schema as plain data; `from_document` reads it back."""
        return {
            "version": 1,
            "tables": {table.name: _write_table(table, column) for table in self.tables},
            "privacy": [model.to_document() for model in self.privacy],
            "suppression_limit": self.suppression_limit,
            **write_options(self, _OPTIONS),
        }


def is_linked(document: object) -> bool:
    """Say whether plain data is a schema of linked tables."""
    return isinstance(document, Mapping) and "tables" in document


def _read_tables(entries: object, *, folder: Path, faults: list[str]) -> tuple[LinkedTable, ...]:
    if not isinstance(entries, Mapping) or not entries:
        faults.append("`tables` must name at least one table and its columns")
        return ()
    keys = {
        str(name): values.get("key") for name, values in entries.items()
        if isinstance(values, Mapping)
    }  # fmt: skip
    found = []
    for name, values in entries.items():
        if not isinstance(values, Mapping):
            faults.append(f"table {str(name)!r}: must be a mapping with its `columns`")
            continue
        entry = Entry(values, faults, f"table {str(name)!r}: ")
        for key in sorted(map(str, values.keys() - _TABLE_KEYS)):
            entry.fault(f"unknown key {key!r}")
        parent, foreign = entry.name("parent"), entry.name("foreign_key")
        above = keys.get(parent or "")
        if parent is not None and foreign is None and isinstance(above, str):
            foreign = above
        found.append(
            LinkedTable(
                name=str(name), schema=_columns(entry, folder=folder), key=entry.name("key"),
                parent=parent, foreign_key=foreign,
            )
        )  # fmt: skip
    return tuple(found)


def _columns(entry: Entry, *, folder: Path) -> Schema:
    """Return what is said of a table's columns; it may have none but its keys."""
    values = entry.values
    own = {key: values[key] for key in ("columns", "others", "waive") if values.get(key)}
    nothing = Schema(attributes=(), others=Others.FAULT)
    if "columns" not in own:
        others = entry.choice("others", Others, "fault") or Others.FAULT
        return replace(nothing, others=others)
    try:
        return Schema.from_document(own, folder=folder)
    except SchemaError as error:
        for fault in error.faults:
            entry.fault(fault)
        return nothing


def _write_table(table: LinkedTable, column: Callable[[Attribute], Document]) -> Document:
    return {
        **write_options(table, ("key", "parent", "foreign_key")),
        "columns": {a.name: column(a) for a in table.schema.attributes},
        "others": str(table.schema.others),
        **write_options(table.schema, ("waive",)),
    }


def _table_faults(tables: Sequence[LinkedTable]) -> Iterable[str]:
    """Yield what is wrong with tables one by one."""
    for table in tables:
        said = f"table {table.name!r}: "
        if not _NAME.fullmatch(table.name):
            yield said + "a name has letters, digits, _ and -"
        known = {a.name: a for a in table.schema.attributes}
        for name in table.keys:
            if name in known:
                yield (
                    f"{said}column {name!r} is a key: a release has new numbers in it; leave it "
                    "out of `columns`"
                )
        if table.key is not None and table.key == table.foreign_key:
            yield f"{said}column {table.key!r} cannot be its key and its parent's"
        for name in (n for n, a in known.items() if a.role is Role.PERSON):
            yield f"{said}column {name!r}: persons are the rows of the table without a parent"
        if table.schema.target is not None or table.schema.utility is not None:
            yield said + "target and utility are for one table"


def _tree_faults(tables: Sequence[LinkedTable]) -> Iterable[str]:
    """Yield why tables do not form one tree."""
    if not tables:
        return
    known = {table.name: table for table in tables}
    for table in tables:
        said = f"table {table.name!r}: "
        if table.parent is None:
            if table.foreign_key is not None:
                yield said + "foreign_key goes with `parent`"
        elif table.parent not in known:
            guess = did_you_mean(table.parent, known) or "; name one of the tables"
            yield f"{said}no table {table.parent!r} to be its parent{guess}"
        elif known[table.parent].key is None:
            yield f"table {table.parent!r}: {table.name!r} hangs on it, so it needs a `key`"
    roots = [table.name for table in tables if table.parent is None]
    if len(roots) > 1:
        yield (
            f"tables {', '.join(map(repr, roots))} have no parent: one of them is the table of "
            "the persons, and the others need a `parent` that leads to it"
        )
    lost = [table.name for table in tables if not _leads_up(table, known)]
    if lost:
        yield (
            f"tables {', '.join(map(repr, lost))} hang on each other in a circle and lead to no "
            "table of persons; the table of the persons has no `parent`"
        )


def _leads_up(table: LinkedTable, known: Mapping[str, LinkedTable]) -> bool:
    """Say whether the parents of a table end somewhere."""
    seen: set[str] = set()
    above: LinkedTable | None = table
    while above is not None and above.parent is not None:
        if above.name in seen:
            return False
        seen.add(above.name)
        above = known.get(above.parent)
    return True
