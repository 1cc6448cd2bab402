"""Say how the tables of a folder hang together and what their columns seem to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from shoal.core.documents import Document, to_yaml
from shoal.core.errors import InputError
from shoal.engines.local.linked import contains
from shoal.engines.local.write import write_text
from shoal.formats.endings import ENDINGS
from shoal.inference.infer import Inference
from shoal.inference.linked import Links, links_of
from shoal.inference.propose import Entry, SchemaDocument
from shoal.jobs.infer import infer
from shoal.jobs.requests import InferRequest
from shoal.schema.linked import LinkedSchema

_HEAD = """\
# A first proposal, made from headers, forms and counts. Read every line: who knows the people in
# the tables knows better than any rule. The table without a parent has a row a person; keys are
# replaced by new numbers.
"""


@dataclass(frozen=True, kw_only=True)
class LinkedInference:
    """What linked tables seem to be: their keys and parents, and a verdict for each column."""

    links: Links
    tables: Mapping[str, Inference]

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what is left out, and what was read in another way than usual."""
        left = tuple(
            f"table {name!r} hangs on nothing and is left out" for name in self.links.apart
        )
        keys = {f"{link.foreign_key!r} repeats" for link in self.links.parents.values()}
        said = (f"{n}: {text}" for n, t in self.tables.items() for text in t.notices())
        return (*left, *(text for text in said if not any(key in text for key in keys)))

    @property
    def schema(self) -> LinkedSchema:
        """Return the proposed schema; read it before you release by it."""
        return LinkedSchema.from_document(self.schema_document(), where="proposed schema")

    def schema_document(self) -> Document:
        """Return an editable schema of the tables, parents first."""
        order = [name for name in sorted(self.tables, key=self._depth) if self._is_linked(name)]
        missing = {mark for name in order for mark in self._proposed(name).get("missing", [])}
        found: Document = {
            "version": 1,
            "tables": {name: self._table(name) for name in order},
            "privacy": [{"model": "k-anonymity", "k": 5}],
        }
        return {**found, "missing": [*sorted(missing)]} if missing else found

    def _proposed(self, name: str) -> SchemaDocument:
        return self.tables[name].schema_document()

    def _is_linked(self, name: str) -> bool:
        return name not in self.links.apart

    def _depth(self, name: str) -> int:
        above = self.links.parents.get(name)
        return 0 if above is None else 1 + self._depth(above.parent)

    def _columns(self, name: str) -> dict[str, Entry]:
        """Return what a schema says of the columns that are not the keys of a table."""
        above, others = self.links.parents.get(name), self.links.others.get(name, ())
        keys = {self.links.keys.get(name), None if above is None else above.foreign_key}
        return {
            column: {"role": "identifying"}
            if column in others or entry["role"] == "person"
            else entry
            for column, entry in self._proposed(name)["columns"].items()
            if column not in keys
        }

    def _table(self, name: str) -> Document:
        key, above = self.links.keys.get(name), self.links.parents.get(name)
        found: Document = {} if key is None else {"key": key}
        if above is not None:
            found |= {"parent": above.parent, "foreign_key": above.foreign_key}
        return {**found, "columns": cast("Document", self._columns(name))}

    def to_document(self) -> Document:
        """Return tables, keys, parents and the verdicts on columns as plain data."""
        tables: Document = {}
        for name, table in self.tables.items():
            above = self.links.parents.get(name)
            tables[name] = {
                "persons": name == self.links.root,
                "key": self.links.keys.get(name),
                "parent": None if above is None else above.parent,
                "foreign_key": None if above is None else above.foreign_key,
                "records": table.records,
                "columns": cast("Document", table.to_document()["columns"]),
            }
        return {"tables": tables, "notices": list(self.notices), "schema": self.schema_document()}

    def lines(self) -> list[str]:
        """Return a line for each table and column, for people."""
        found = []
        for name in sorted(self.tables, key=self._depth):
            above, key = self.links.parents.get(name), self.links.keys.get(name)
            said = "hangs on nothing: left out" if not self._is_linked(name) else "a row a person"
            if above is not None:
                said = f"hangs on {above.parent} by {above.foreign_key}"
            found.append(f"{name}: {said}" + ("" if key is None else f", key {key}"))
            if self._is_linked(name):
                entries = self._columns(name).items()
                found += [f"  {column:<24}{entry['role']}" for column, entry in entries]
        return found

    def write(self, out: str | Path, *, inputs: tuple[str | Path, ...] = ()) -> None:
        """Write the proposed schema, for a person to edit."""
        write_text(out, _HEAD + to_yaml(self.schema_document()), inputs=inputs)


def infer_linked(folder: str | Path, asked: InferRequest) -> LinkedInference:
    """Say how the tables of a folder hang together and what their columns seem to be.

    asked: how each table is looked at; its own table is not.

    Raises:
        InputError: there are not two tables, or none of them is the persons'.
    """
    place = Path(folder)
    files: dict[str, Path] = {}
    for file in sorted(place.iterdir()):
        ending = next((each for each in ENDINGS if file.name.endswith(each)), None)
        if ending is None or not file.is_file():
            continue
        name = file.name.removesuffix(ending)
        if name in files:
            problem = f"{files[name].name} and {file.name}: keep one file of a table"
            raise InputError(where=str(place), problem=problem)
        files[name] = file
    if len(files) < 2:
        raise InputError(
            where=str(place), problem="needs at least two tables; name the file of one"
        )
    tables = {name: infer(replace(asked, table=file)) for name, file in files.items()}
    links = links_of(
        {name: table.columns for name, table in tables.items()},
        lambda table, column, other, key: contains(
            files[other], key, files[table], column, separator=asked.separator
        ),
    )
    if links is None:
        raise InputError(
            where=str(place),
            problem="no column of a table repeats the key of another one, so no table is the "
            "persons'; name keys and parents in a schema",
        )
    return LinkedInference(links=links, tables=tables)
