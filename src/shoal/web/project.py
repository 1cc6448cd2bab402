"""A project: a table, a schema, a request and what came of them, kept in a folder.

All tabs of the page share one project. Every change goes through `change`: it can be undone, is
written down at once, and is told to everybody who listens.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.core.documents import Document, Json, as_json, read_document, to_yaml
from shoal.core.errors import InputError, OutputError, SchemaError, ShoalError
from shoal.schema.schema import Schema
from shoal.web import answers
from shoal.web.child import Children, Job
from shoal.web.folder import Folder, digest, write_text
from shoal.web.state import History, State, Step, check_release, check_report

if TYPE_CHECKING:
    from shoal.jobs.requests import ReleaseRequest

SCHEMA, REQUEST, REPORT = "schema.yaml", "request.yaml", "report.yaml"
HIERARCHIES, RESULTS = "hierarchies", "results"


MOST_PARTS, MOST_DEPTH = 2_000_000, 200
"""Of a document: what it may hold, and how deep."""


class StaleChangeError(ShoalError):
    """A change of something that has changed meanwhile."""

    template = "{what} was not done: it was changed {where}; look at it, and do it again"


class BusyError(ShoalError):
    """Work that was asked for while other work is done."""

    template = "{what} was not begun: a job still runs; wait for it, or cancel it"


class Project:
    """What is asked of a table, and what came of it.

    Attributes:
        folder: the folder that the page was started in: nothing outside is read or written, and
            all places in documents and commands start from it.
        place: the project's own folder, below it.
        state: what is asked for now; see `State`.
        version: grows with every change.
        results: what jobs answered, by the task: `infer`, `columns`, `risk`, `release` …
        job: the long job that runs now, or ran last.
        is_dark: the page is dark; charts ask.
        asked_risk: what the risk was last measured for.
        looked_at: the table whose columns were last looked at.
        explained: the table whose columns were last asked what they seem to be.
    """

    def __init__(self, folder: Folder, place: str | Path = "shoal-project") -> None:
        self.folder = folder
        self.place = folder.below(place)
        self.state = State()
        self.version = 0
        self.history = History()
        self.results: dict[str, Document] = {}
        self.job: Job | None = None
        self.is_dark = False
        self.asked_risk: str | None = None
        self.looked_at: Json = None
        self.explained: Json = None
        self.children = Children(folder.root)
        self._listeners: list[Callable[[], None]] = []
        self._kept: dict[str, str] = {}
        self._load()

    # What is asked for.

    @property
    def table(self) -> object:
        """Return the table as requests hold it: a path, a CsvFile or a Database; None: none."""
        if self.state.table is None:
            return None
        from shoal.jobs.documents import request_from  # loads what reads tables: later than here

        return request_from({"job": "infer", "table": self.state.table}).table  # type: ignore[union-attr]

    @property
    def schema(self) -> Schema:
        """Return the schema.

        Raises:
            SchemaError: names everything that is wrong with it.
        """
        self.folder.check(self.state.schema, beside=self.place)
        return Schema.from_document(self.state.schema, where=SCHEMA, folder=self.place)

    @property
    def document(self) -> Document:
        """Return the request of the release as it is written down: the schema by its file."""
        schema = self.folder.name(self.place / SCHEMA)
        return {"job": "release", "table": self.state.table, "schema": schema, **self.state.release}

    @property
    def fingerprint(self) -> str:
        """Return what a result depends on: table, schema and request, wherever it is written."""
        asked = {name: value for name, value in self.state.release.items() if name != "output"}
        return json.dumps([self.state.table, self.state.schema, asked], sort_keys=True)

    def request(self) -> ReleaseRequest:
        """Return the request of the release.

        Raises:
            SchemaError: names everything that is wrong with it.
        """
        if self.state.table is None:
            raise SchemaError(where="request", faults=["no table is open"])
        from shoal.jobs.documents import request_from
        from shoal.jobs.requests import ReleaseRequest

        schema = self.schema
        whole = {**self.document, "schema": {"columns": {"-": "quasi"}}}
        found = request_from(whole, where=REQUEST)
        assert isinstance(found, ReleaseRequest)
        return replace(found, schema=schema)

    def inputs(self) -> list[str]:
        """Return the files that are read and must not be written to, as commands name them."""
        table, schema = self.state.table, self.folder.name(self.place / SCHEMA)
        place = table.get("file") if isinstance(table, dict) else table
        entries = [entry for entry in self.state.columns.values() if isinstance(entry, dict)]
        trees = [entry.get("hierarchy") for entry in entries]
        beside = [str(Path(schema).parent / tree) for tree in trees if isinstance(tree, str)]
        return [*([] if place is None else [str(place)]), schema, *beside]

    # Changes.

    def change(self, what: str, make: Callable[[State], State], *, seen: int | None = None) -> None:
        """Change what is asked for; it can be undone, and everybody is told.

        Args:
            what: what it is, for people: it stands beside undo.
            make: gives the new state from the one that holds now.
            seen: the version that somebody looked at who changes a whole text; None: `make`
                takes out of the state what it does not change.

        Raises:
            StaleChangeError: another tab, or another program, changed it meanwhile.
            SchemaError: it would be no schema; nothing is changed.
        """
        if seen is not None and seen != self.version:
            raise StaleChangeError(what=what, where="in another tab")
        after = make(self.state)
        if after == self.state:
            return
        if after.schema:
            self.folder.check(after.schema, beside=self.place)
            Schema.from_document(after.schema, where=SCHEMA, folder=self.place)
        step = Step(what, self.state, after)
        self._set(after, what)
        self.history.enter(step)
        self.tell()

    def undo(self) -> None:
        """Take the last change back."""
        before = self.history.undo()
        if before is not None:
            self._set(before, "undo")
            self.tell()

    def redo(self) -> None:
        """Do what was taken back again."""
        after = self.history.redo()
        if after is not None:
            self._set(after, "redo")
            self.tell()

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call somebody after every change and every new result; return what ends that."""
        self._listeners.append(callback)

        def stop() -> None:
            if callback in self._listeners:
                self._listeners.remove(callback)

        return stop

    def tell(self) -> None:
        """Tell everybody who listens that something is new."""
        for each in list(self._listeners):
            each()

    # Hierarchies.

    def hierarchy(self, column: str) -> Json:
        """Return what the schema says of a column's hierarchy: a file's place, a builder, a tree.

        The place of a file starts from the project's folder.
        """
        entry = self.state.columns.get(column)
        return entry.get("hierarchy") if isinstance(entry, dict) else None

    def hierarchy_place(self, column: str) -> str:
        """Return the place of a hierarchy file of the project, as the schema says it."""
        safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in column).lstrip(".")
        return f"{HIERARCHIES}/{safe[:80] or 'column'}.csv"

    # Work.

    def start(
        self,
        task: str,
        asked: Mapping[str, object],
        on_progress: Callable[[Job], None] | None = None,
    ) -> Job:
        """Have a long task done by a child; see `web/tasks/`.

        Its answer is kept in `results` by the name of the task, and everybody is told. A job that
        runs is not ended by that.

        Raises:
            BusyError: a job still runs.
        """
        if self.job is not None and self.job.is_running:
            raise BusyError(what=task)
        self.job = self.children.start(self._job(task, asked, on_progress))
        self.tell()
        return self.job

    def ask(
        self,
        task: str,
        asked: Mapping[str, object],
        on_progress: Callable[[Job], None] | None = None,
    ) -> Job:
        """Have a quick question answered; an older one of the same name is dropped."""
        return self.children.ask(self._job(task, asked, on_progress))

    async def cancel(self) -> None:
        """End the long job."""
        if self.job is not None:
            await self.children.cancel(self.job)
            self.tell()

    def _job(
        self, task: str, asked: Mapping[str, object], on_progress: Callable[[Job], None] | None
    ) -> Job:
        fingerprint, place = self.fingerprint, self.place
        stamp = answers.stamp_of(self.folder, self.state.table)

        def heard(job: Job) -> None:
            is_ours = place == self.place or task == "infer"  # which is how a project is found
            if job.result is not None and is_ours:
                self.results[task] = {**job.result, "asked": fingerprint}
                if "files" in job.result:
                    self.results["written"] = self.results[task]
            if on_progress is not None:
                on_progress(job)
            if job.result is not None and is_ours:
                answers.keep(self.folder, place, task, self.results[task], stamp)
            if not job.is_running:
                self.tell()

        document = as_json(dict(asked))
        assert isinstance(document, dict)
        return Job(task, document, heard)

    # The folder.

    def move(self, place: str | Path) -> None:
        """Go to another project of the folder: it is as it was left, or empty."""
        self.place = self.folder.below(place)
        self.state, self.history = State(), History()
        self.results.clear()
        self._kept.clear()
        self._load()
        self.version += 1

    @property
    def is_overtaken(self) -> bool:
        """Say whether another program has changed what is on disk."""
        try:
            return any(digest(self.place / name) != kept for name, kept in self._kept.items())
        except OutputError:
            return True

    def reload(self) -> None:
        """Take what is on disk; it can be undone. What was removed there is written again.

        Raises:
            ShoalError: what is on disk is no project; nothing is changed.
        """
        before = self.state
        if (self.place / REQUEST).is_file():
            self._load()
        else:
            self._kept.clear()
            self._set(before, "reload")
        self.history.enter(Step("reload", before, self.state))
        self.version += 1
        self.tell()

    def _load(self) -> None:
        if not (self.place / REQUEST).is_file():
            return
        document = self._read(REQUEST)
        schema = self._read(SCHEMA) if (self.place / SCHEMA).is_file() else {}
        given = {n: v for n, v in document.items() if n not in ("job", "table", "schema")}
        table = document.get("table")
        if isinstance(table, dict) and "database" in table:
            table = None  # nothing is asked of a server because a folder says so: open it again
        self._check_table(table)
        if schema:
            self.folder.check(schema, beside=self.place)
            Schema.from_document(schema, where=SCHEMA, folder=self.place)
        report = self._read(REPORT) if (self.place / REPORT).is_file() else {}
        self.folder.check_places(given, report)
        check_release(given)
        check_report(report)
        self.state = State(table=table, schema=schema, release=given, report=report)
        for name in (SCHEMA, REQUEST, REPORT):
            self._kept[name] = digest(self.place / name)
        self.results.update(
            answers.kept(self.folder, self.place, answers.stamp_of(self.folder, table))
        )

    def _read(self, name: str) -> Document:
        place = self.folder.below(self.place / name)
        found = as_json(_plain(read_document(place)))
        if not isinstance(found, dict):
            raise InputError(where=name, problem="is no project's; choose another folder")
        return found

    def _check_table(self, table: Json) -> None:
        """Refuse a table outside the folder."""
        if isinstance(table, dict) and "database" in table:
            return
        place = table.get("file", "") if isinstance(table, dict) else table
        if place is not None:
            self.folder.below(place)

    def _set(self, state: State, what: str) -> None:
        """Take a state over, written down first."""
        self._check_table(state.table)
        self.folder.check_places(state.release, state.report)
        self.place.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name, before in self._kept.items():
            if digest(self.place / name) != before:
                raise StaleChangeError(what=what, where="on disk by another program")
        kept = self.state
        self.state = state
        try:
            written = {SCHEMA: state.schema, REQUEST: self.document, REPORT: state.report}
            for name, document in written.items():
                write_text(self.place / name, to_yaml(document))
                self._kept[name] = digest(self.place / name)
        except OutputError:
            self.state = kept
            raise
        self.version += 1


def _plain(document: object) -> object:
    """Return plain data as JSON has it: the dates of YAML as texts.

    YAML may say one part many times by its name: what unfolds to too much is refused unread.
    """
    if not _is_small(document):
        raise InputError(where="project", problem="is nested too deeply, or far too large")
    try:
        return json.loads(json.dumps(document, default=str))
    except (TypeError, ValueError):
        raise InputError(where="project", problem="holds what no document holds") from None


def _is_small(document: object) -> bool:
    """Say whether a document has no more parts than a project can have, each time it is named."""
    left, parts = MOST_PARTS, [(document, 0)]
    while parts:
        part, depth = parts.pop()
        inner = [*part, *part.values()] if isinstance(part, dict) else part
        if isinstance(inner, list):
            left -= len(inner)
            parts += [(each, depth + 1) for each in inner]
        if left < 0 or depth > MOST_DEPTH:
            return False
    return True


def project_beside(table: str | os.PathLike[str] | None) -> str:
    """Return the place of the project of a table, below the folder."""
    if table is None:
        return "shoal-project"
    place = Path(table)
    name = place.name.split(".")[0] or "table"
    return str(place.parent / f"{name}.project")
