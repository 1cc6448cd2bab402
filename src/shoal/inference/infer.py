"""Inference: what every column seems to be, and which sets of columns identify people."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.core.rows import Rows
from shoal.inference.column import ColumnFacts
from shoal.inference.items import propose_sets
from shoal.inference.persons import propose_person
from shoal.inference.presets import Preset, apply_preset
from shoal.inference.propose import SchemaDocument, schema_document, schema_text
from shoal.inference.roles import Verdict, decide, hipaa_text
from shoal.inference.sets import ColumnSet, SetSearch, find_sets, with_single_columns
from shoal.reports.face import Face
from shoal.schema.schema import Role, Schema

MAX_SIZE = 5
THRESHOLD = 1.0
SECONDS = 60.0

DistinctRows = Callable[[Sequence[str]], tuple[NDArray[np.int32], NDArray[np.int64]]]
"""Counts the distinct rows of some columns: their codes, and how often each one occurs."""


class ReadAs(Protocol):
    """How a file was read."""

    @property
    def encoding(self) -> str | None:
        """Return its encoding; None: the usual one."""

    @property
    def skip_lines(self) -> int:
        """Return the number of lines above the header."""

    def flags(self) -> str:
        """Return how a command is asked to read the file so."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Inference(Rows):
    """What a table seems to be: a verdict for each column, and the sets that identify.

    Guarantee:
        No text or number that leaves here is a value of the table; column names, counts,
        shares and round widths do.
    """

    where: str
    records: int
    columns: tuple[ColumnFacts, ...]
    verdicts: dict[str, Verdict]
    search: SetSearch
    max_size: int
    threshold: float
    seconds: float
    read_as: ReadAs | None = None  # how the file was read

    def to_document(self) -> dict[str, object]:
        """Return the document of `infer`, with the evidence."""
        return {
            "records": self.records,
            "columns": {c.name: self._column(c) for c in self.columns},
            "sets": [
                {
                    "columns": self._names(found.columns),
                    "residual_entropy": found.residual_entropy,
                    "distinction": found.distinction,
                    "separation": found.separation,
                }
                for found in self.search.sets
            ],
            "search": {
                "max_size": self.max_size,
                "threshold": self.threshold,
                "complete": self.search.complete,
                "judged_up_to_size": self.max_size if self.search.complete else self.search.size,
                "counted": self.search.counted,
                "spared": self.search.spared,
            },
            "input": {
                "encoding": None if self.read_as is None else self.read_as.encoding,
                "skip_lines": 0 if self.read_as is None else self.read_as.skip_lines,
            },
            "notices": list(self.notices()),
            "seconds": round(self.seconds, 3),
        }

    to_dict = to_document

    @property
    def schema(self) -> Schema:
        """Return the proposed schema; read it before you release by it."""
        return Schema.from_document(self.schema_document(), where="proposed schema")

    def rows(self) -> list[dict[str, object]]:
        """Return a row for each column, for a table of any library."""
        return [{"column": column.name, **self._column(column)} for column in self.columns]

    def face(self) -> Face:
        """Return what a notebook shows of it."""
        rows = [("column", "role", "kind", "confidence", "why")]
        for column in self.columns:
            found = self.verdicts[column.name]
            sure = f"{found.confidence:.0%}"
            rows.append((column.name, str(found.role), str(found.kind), sure, found.why))
        return Face(
            title=f"{len(self.columns):,} columns of {self.records:,} records, "
            f"{len(self.search.sets):,} sets that identify",
            rows=rows,
            warnings=self.notices(),
        )

    def __repr__(self) -> str:
        return self.face().line("Inference")

    def _repr_html_(self) -> str:
        return self.face().html()

    def _column(self, column: ColumnFacts) -> dict[str, object]:
        verdict = self.verdicts[column.name]
        return {
            "role": str(verdict.role),
            "kind": str(verdict.kind),
            "confidence": round(verdict.confidence, 2),
            "why": verdict.why,
            "hipaa": hipaa_text(verdict.hipaa),
            "free_text": verdict.free_text,
            "distinct": column.distinct,
            "missing": column.missing,
            "in_sets": sum(column.name in self._names(s.columns) for s in self.search.sets),
        }

    def _names(self, members: Sequence[int]) -> list[str]:
        return [self.columns[i].name for i in members]

    def named(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with one role."""
        return tuple(c.name for c in self.columns if self.verdicts[c.name].role is role)

    def schema_document(self) -> SchemaDocument:
        """Return an editable schema: roles, kinds, proposed hierarchies and a promise."""
        return schema_document(self.columns, self.verdicts)

    def schema_text(self) -> str:
        """Return the schema as YAML with the reasons as comments."""
        return schema_text(self.schema_document(), self.verdicts, notices=self.notices())

    def preset(self, name: str, *, as_of: date | None = None) -> Preset:
        """Return the steps and the schema of a preset such as `hipaa-safe-harbor`."""
        return apply_preset(name, self.columns, self.verdicts, as_of=as_of)

    def notices(self) -> tuple[str, ...]:
        """Say what a person must look at: free text, guesses, an unfinished search."""
        lines = []
        if self.read_as is not None and self.read_as.flags():
            lines.append(f"the file was read with {self.read_as.flags()}: say so to every command")
        texts = [c.name for c in self.columns if self.verdicts[c.name].free_text]
        if texts:
            lines.append(f"free text, never released unread: {_listed(texts)}")
        for name in self.named(Role.PERSON):
            lines.append(
                f"{name!r} repeats: persons are counted by it, and it is not released; is each of "
                "its values one person? Otherwise give it the role identifying"
            )
        guesses = [c.name for c in self.columns if self.verdicts[c.name].confidence < 0.5]
        if guesses:
            lines.append(f"no sign says what these are, decide yourself: {_listed(guesses)}")
        alone = {s.columns[0] for s in self.search.sets if len(s.columns) == 1}
        fine = [
            c.name
            for i, c in enumerate(self.columns)
            if i in alone and self.verdicts[c.name].role in (Role.SENSITIVE, Role.NEUTRAL)
        ]
        if fine:
            lines.append(
                f"kept as they are, yet each nearly identifies alone, round them: {_listed(fine)}"
            )
        if not self.search.complete:
            lines.append(
                f"sets were judged up to {self.search.size} columns, then time or memory ran out"
            )
        return tuple(lines)


def infer_columns(
    where: str,
    columns: Sequence[ColumnFacts],
    distinct_rows: DistinctRows,
    *,
    max_size: int = MAX_SIZE,
    seconds: float | None = SECONDS,
    threshold: float = THRESHOLD,
    threads: int | None = None,
    started: float | None = None,
) -> Inference:
    """Judge every column of a table and find the sets of columns that identify people.

    Args:
        where: what the table is called.
        columns: its columns, counted.
        distinct_rows: counts the rows of those that do not identify alone.
        max_size: largest number of columns in a set.
        seconds: time for the search of sets; None for no limit.
        threshold: residual entropy in bits under which a set identifies.
        threads: by default one a processor.
        started: when counting began, by the monotonic clock.

    Raises:
        InputError: the table has no record.
    """
    began = time.monotonic() if started is None else started
    if not columns or not columns[0].records:
        raise InputError(where=where, problem="the table has a header but no record")
    # A column that identifies alone is a set already, and would make every row distinct.
    singles = [
        ColumnSet(columns=(i,), residual_entropy=left, distinction=share, separation=apart)
        for i, (left, share, apart) in enumerate(column.alone for column in columns)
        if left < threshold or left == 0
    ]
    alone = {found.columns[0] for found in singles}
    rest = [i for i in range(len(columns)) if i not in alone]
    codes, counts = np.zeros((0, 0), dtype=np.int32), np.zeros(0, dtype=np.int64)
    if rest:
        codes, counts = distinct_rows([columns[i].name for i in rest])
    search = find_sets(
        codes, counts, max_size=max_size, threshold=threshold, seconds=seconds, threads=threads
    )
    decided = {column.name: decide(column) for column in columns}
    return Inference(
        where=where,
        records=columns[0].records,
        columns=tuple(columns),
        verdicts=propose_person(columns, propose_sets(columns, decided)),
        search=with_single_columns(search, rest, singles),
        max_size=max_size,
        threshold=threshold,
        seconds=time.monotonic() - began,
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
