"""Roles and kinds of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from shoal.cli.options.groups import Group, option
from shoal.cli.options.input import names, refusal
from shoal.cli.options.promise import PromiseOptions
from shoal.cli.options.replacing import ReplacingOptions
from shoal.core.documents import read_document
from shoal.core.errors import SchemaError
from shoal.schema.flags import (
    schema_from_flags,
    with_released_person,
    with_set_sep,
    with_utility_constraints,
)
from shoal.schema.schema import Attribute, Kind, Role, Schema


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(Group):
    """Roles and kinds of columns: in a schema file, or one by one."""

    panel: ClassVar[str] = "Roles"

    schema: str | None = option(None, "Schema (YAML or JSON).", "FILE")
    qi: str | None = option(None, "Quasi-identifiers: columns to recode.", "A,B")
    sensitive: str | None = option(None, "Sensitive columns: kept, their spread checked.", "A,B")
    identifying: str | None = option(None, "Columns to remove.", "A,B")
    neutral: str | None = option(None, "Columns to keep as they are.", "A,B")
    person: str | None = option(
        None, "Who a record is about: persons are counted, not records; not released.", "A,B"
    )
    release_person: str | None = option(
        None, "Keep a pseudonym of the person: whole persons are made alike.", "pseudonym"
    )
    waive: str | None = option(
        None, "Kept columns that are meant as they are; PERSON: records of nobody are.", "A,B"
    )
    numeric: str | None = option(None, "Columns that hold numbers.", "A,B")
    categorical: str | None = option(None, "Columns that hold categories.", "A,B")
    date: str | None = option(None, "Columns that hold dates.", "A,B")
    set: list[str] | None = option(None, "Columns that hold sets of items.", "A,B")  # noqa: RUF009
    set_sep: str | None = option(None, "What stands between the items of a set, or json.", "C")
    utility_constraints: str | None = option(
        None, "coat, pcta: a file with a set of items a line that no label may cross.", "FILE"
    )
    date_format: list[str] | None = option(  # noqa: RUF009
        None, "How dates are written, such as %d.%m.%Y, or birth=%m/%d/%Y for one column.", "FORMAT"
    )
    dates: str | None = option(None, "Dates are released as ISO, or the same way.", "iso|same")
    hierarchies: str | None = option(None, "Folder with files *hierarchy_<column>.csv.", "DIR")
    infer: bool = option(
        True, "Quasi-identifiers without a hierarchy get the one that `shoal infer` proposes."
    )
    missing: str | None = option(None, "Marks of missing values, such as '?,NA'.", "MARKS")
    fold_case: bool = option(
        False, "Join sensitive values that differ only by case, accents or spaces."
    )

    def read(
        self, promised: PromiseOptions | None = None, replaced: ReplacingOptions | None = None
    ) -> Schema:
        """Return the schema of a file, or the one that flags describe, with their promise."""
        found = with_released_person(self._described(), self.release_person)
        if replaced is not None:
            found = replaced.added_to(found)
        found = with_set_sep(self._with_dates(self._with_marks(found)), self.set_sep)
        found = with_utility_constraints(found, self.utility_constraints)
        if promised is not None:
            found = promised.added_to(found)
        return found.with_waived(names(self.waive))

    def _described(self) -> Schema:
        roles = {
            Role.QUASI: self.qi,
            Role.SENSITIVE: self.sensitive,
            Role.IDENTIFYING: self.identifying,
            Role.NEUTRAL: self.neutral,
            Role.PERSON: self.person,
        }
        kinds = {
            Kind.NUMERIC: self.numeric,
            Kind.CATEGORICAL: self.categorical,
            Kind.DATE: self.date,
            Kind.SET: ",".join(text for text in self.set or () if "=" not in text) or None,
        }
        if self.schema is not None:
            given = [f"--{'qi' if role is Role.QUASI else role}" for role in roles if roles[role]]
            if given or any(kinds.values()):
                flags = ", ".join(given or ["--numeric …"])
                raise refusal("options", f"give either --schema or {flags}, not both")
            return Schema.load(self.schema)
        if not self.qi:
            text = "name the quasi-identifiers with --qi a,b, or give a --schema FILE"
            raise refusal("options", text)
        return schema_from_flags(
            {role: names(text) for role, text in roles.items()},
            {kind: names(text) for kind, text in kinds.items()},
            hierarchies=self.hierarchies,
        )

    def _with_marks(self, schema: Schema) -> Schema:
        """Return the schema with what flags say about how values are read."""
        marks = schema.missing if self.missing is None else tuple(names(self.missing))
        return replace(schema, missing=marks, fold_case=schema.fold_case or self.fold_case)

    def _with_dates(self, schema: Schema) -> Schema:
        """Return the schema with how dates are written and released."""
        formats: dict[str, str] = {}
        for text in self.date_format or []:
            name, mark, form = text.partition("=")
            formats[name if mark else ""] = form if mark else text
        known = {attribute.name for attribute in schema.attributes}
        faults = [f"no column {name!r}" for name in formats if name and name not in known]
        if faults:
            raise SchemaError(where="--date-format", faults=faults)
        if self.dates not in (None, "iso", "same"):
            raise refusal("--dates", "must be iso or same")

        def dated(each: Attribute) -> Attribute:
            usual = formats.get("") if each.kind is Kind.DATE else None
            form = formats.get(each.name, usual)
            if form is not None:
                each = replace(each, kind=Kind.DATE, date_format=form)
            if self.dates is not None and each.kind is Kind.DATE:
                each = replace(each, dates=self.dates)
            return each

        return replace(schema, attributes=tuple(dated(each) for each in schema.attributes))

    def files(self) -> tuple[str | Path, ...]:
        """Return what is read and must not be written to."""
        files: list[str | Path] = []
        if self.hierarchies is not None and Path(self.hierarchies).is_dir():
            files += sorted(Path(self.hierarchies).iterdir())
        if self.schema is None:
            return tuple(files)
        document = read_document(self.schema)
        columns = document.get("columns") if isinstance(document, dict) else None
        entries = columns.values() if isinstance(columns, dict) else ()
        trees = [entry.get("hierarchy") for entry in entries if isinstance(entry, dict)]
        folder = Path(self.schema).parent
        return (*files, self.schema, *(folder / tree for tree in trees if isinstance(tree, str)))
