"""Open a table: find what its columns seem to be, and begin a project with that."""

from __future__ import annotations

from dataclasses import replace

from shoal.core.documents import Document, Json
from shoal.web.child import Job
from shoal.web.project import Project, project_beside
from shoal.web.state import State

SECONDS = 10.0
"""For the search of sets of columns that identify; a larger table is searched as far as it goes."""


async def open_table(project: Project, table: Json) -> Job:
    """Open a table; what `infer` proposes becomes the schema.

    A table whose project is already there, beside it, is opened as it was.

    Returns:
        The job, ended: `standing` and `error` say how.
    """
    place = table.get("file") if isinstance(table, dict) else table
    if place is not None:
        project.folder.below(place)
    job = await project.start("infer", {"table": table, "seconds": SECONDS}).wait()
    found = job.result
    if found is None:
        return job
    if place is not None:
        project.move(project_beside(str(place)))
        project.results["infer"] = found
    if not project.state.schema or not _is_same(project.state, found):
        project.change("open", lambda _: _begun(found))
    elif project.state.table != found["table"]:
        project.change("open", lambda state: replace(state, table=found["table"]))
    else:
        project.tell()
    return job


def _is_same(state: State, found: Document) -> bool:
    """Say whether a project is about a table with these columns."""
    columns = found.get("columns")
    return isinstance(columns, dict) and set(state.columns) >= set(columns)


def _begun(found: Document) -> State:
    schema = found["schema"]
    assert isinstance(schema, dict)
    return State(table=found["table"], schema=schema, release={})
