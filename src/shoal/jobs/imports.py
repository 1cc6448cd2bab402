"""Come from another tool: its project becomes a folder with a schema and hierarchies."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from shoal.core.documents import Document, reason, to_yaml
from shoal.core.errors import InputError, OutputError
from shoal.core.temporary import beside, publish_folder
from shoal.formats.endings import STATISTICS, format_of
from shoal.formats.importers.amnesia import read_amnesia
from shoal.formats.importers.arx import read_arx
from shoal.formats.importers.project import Imported
from shoal.formats.statistics import read_statistics
from shoal.hierarchies.read import to_csv
from shoal.hierarchies.tree import Hierarchy
from shoal.jobs.learn import learn
from shoal.jobs.requests import LearnRequest
from shoal.methods.catalogue import Flash
from shoal.schema.attribute import Attribute
from shoal.schema.document import write_attribute

SCHEMA, TABLE = "schema.yaml", "table.csv"
_UNSAFE = re.compile(r"[^\w.-]")  # in the name of a file


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """What is read.

    Attributes:
        path: a project of ARX (.deid), a hierarchy or rules of Amnesia (.txt, .json), or a file
            of SPSS, Stata or SAS, whose names of numbers become hierarchies.
        partly: leave out promises that have no counterpart here.
        column: the column that a single hierarchy is for.
    """

    path: str | Path
    partly: bool = False
    column: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """What ARX chose and what the search here finds on the same table.

    Attributes:
        theirs, ours: levels by column.
        loss: what the search here minimized, at its own node.
        optimal: whether it was carried to the end.
    """

    theirs: dict[str, int]
    ours: dict[str, int]
    loss: float
    optimal: bool

    @property
    def same(self) -> bool:
        """Say whether both chose the same node."""
        return self.theirs == self.ours

    def to_document(self) -> Document:
        """Return it as plain data."""
        return {
            "theirs": dict(self.theirs), "ours": dict(self.ours), "loss": self.loss,
            "optimal": self.optimal, "same": self.same,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What an import wrote, by name of file."""

    found: Imported
    files: tuple[str, ...]
    optimum: Optimum | None = None

    def to_document(self) -> Document:
        """Return it as plain data."""
        return {
            "files": list(self.files),
            "hierarchies": {
                name: len(tree.leaves) for name, tree in self.found.hierarchies.items()
            },
            "notices": list(self.found.notices),
            "optimum": None if self.optimum is None else self.optimum.to_document(),
        }


def read_project(request: ImportRequest) -> Imported:
    """Read what another tool wrote.

    Raises:
        InputError: nothing that is known, or a promise that cannot be kept as a whole.
    """
    path = Path(request.path)
    if not path.exists():
        raise InputError(where=str(path), problem="there is no such file; check the path")
    ending = path.suffix.lower()
    if ending == ".deid":
        return read_arx(path, partly=request.partly)
    if ending in (".txt", ".json"):
        return read_amnesia(path, column=request.column)
    kind = format_of(path)
    if kind not in STATISTICS:
        problem = "is no project of another tool: .deid (ARX), .txt or .json (Amnesia), .sav, .dta"
        raise InputError(where=str(path), problem=problem)
    return _labelled(path, kind)


def _labelled(path: Path, kind: str) -> Imported:
    """Return the names of numbers as hierarchies of one step, to be grouped by a person."""
    frame, dictionary = read_statistics(path, kind)
    named = [name for name in frame.columns if frame.schema[name] == pl.String]
    trees = {n: Hierarchy.flat(n, dictionary.leaves(n)) for n in named if dictionary.leaves(n)}
    notices = ("the names of numbers became leaves; group them in the files, or with `shoal web`",)
    return Imported(schema=None, hierarchies=trees, notices=notices)


def import_project(
    request: ImportRequest, out: str | Path, *, with_table: bool = False, compare: bool = False
) -> Written:
    """Write the schema and the hierarchies of a project into a new folder, all or nothing.

    Args:
        request: what is read.
        out: the folder.
        with_table: write the raw table of the project, too.
        compare: search the lattice here, and say whether the optimum is the one of the project.

    Raises:
        OutputError: the folder is there already.
    """
    goal = Path(out).absolute()
    if goal.exists() and (not goal.is_dir() or any(goal.iterdir())):
        raise OutputError(where=str(out), problem="is there already; name a new folder")
    if not goal.parent.is_dir():
        raise OutputError(where=str(out), problem="lies in a folder that is not there; make it")
    found = read_project(request)
    optimum = compared(found, where=str(request.path)) if compare else None
    texts = _texts(found)
    if with_table:
        if found.table is None:
            raise InputError(where=str(request.path), problem="has no table in it")
        texts[TABLE] = found.table
    try:
        with beside(goal, is_folder=True) as folder:
            for name, text in texts.items():
                place = folder / name
                place.parent.mkdir(exist_ok=True, mode=0o700)
                place.write_bytes(text)
            publish_folder(folder, goal)
    except OSError as error:
        raise OutputError(where=str(out), problem=f"cannot be written: {reason(error)}") from None
    return Written(found=found, files=tuple(texts), optimum=optimum)


def _texts(found: Imported) -> dict[str, bytes]:
    """Return the files of a folder: hierarchies, and a schema that names them."""
    plain = {name: _UNSAFE.sub("_", name) for name in found.hierarchies}
    is_unique = len(set(plain.values())) == len(plain)
    files = {}
    for number, (name, word) in enumerate(plain.items(), start=1):
        begin = "" if is_unique else f"{number:02}_"
        files[name] = f"hierarchies/{begin}hierarchy_{word}.csv"
    texts = {files[n]: to_csv(tree).encode() for n, tree in found.hierarchies.items()}
    if found.schema is None:
        return texts

    def column(attribute: Attribute) -> Document:
        written = write_attribute(replace(attribute, hierarchy=None))
        if attribute.name in files:
            written["hierarchy"] = files[attribute.name]
        return written

    notices = "".join(f"# {notice}\n" for notice in found.notices)
    text = notices + to_yaml(found.schema.to_document(column))
    return {SCHEMA: text.encode(), **texts}


def compared(found: Imported, *, where: str) -> Optimum:
    """Search the lattice of a project's own table, and hold its choice against what was found.

    Raises:
        InputError: the project has no table, no lattice or no schema.
    """
    if found.schema is None or found.chosen is None or found.table is None:
        problem = "has no lattice and table to compare with: anonymize it in ARX, and save it"
        raise InputError(where=where, problem=problem)
    frame = pl.read_csv(
        io.BytesIO(found.table), separator=found.separator, infer_schema=False, encoding="utf8"
    )
    learned = learn(LearnRequest(table=frame, schema=found.schema, method=Flash(), infer=False))
    facts = learned.report.facts
    levels = facts["levels"]
    assert isinstance(levels, dict)
    return Optimum(
        theirs=dict(found.chosen.levels),
        ours={name: int(str(level)) for name, level in levels.items()},
        loss=float(str(facts["loss"])),
        optimal=bool(facts["optimal"]),
    )
