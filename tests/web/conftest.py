"""What the tests of the page share: a folder with a sample, a project, a tab without a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from shoal.samples import hospital
from shoal.schema.schema import Schema
from shoal.web.folder import Folder
from shoal.web.project import Project
from shoal.web.state import State

QUASI = ("birth_date", "sex", "zip")


@pytest.fixture(scope="session")
def sample(tmp_path_factory) -> str:
    """The text of a small table of stays."""
    place = tmp_path_factory.mktemp("sample") / "stays.csv"
    hospital(place, 400, seed=1)
    return place.read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path, sample) -> Path:
    """A folder with a table, as somebody has it who starts the page."""
    (tmp_path / "stays.csv").write_text(sample, encoding="utf-8")
    return tmp_path


def schema_of(columns: str) -> dict:
    """A schema of the sample: few quasi-identifiers, so that a search is quick."""
    roles = dict.fromkeys(QUASI, "quasi") | {"diagnosis": "sensitive", "patient_id": "identifying"}
    names = columns.split(",")
    entries = {name: {"role": roles.get(name, "identifying")} for name in names}
    entries["birth_date"] |= {"kind": "date", "hierarchy": {"dates": {}}}
    entries["zip"] |= {"kind": "categorical", "hierarchy": {"mask": {}}}
    promise = [{"model": "k-anonymity", "k": 3}]
    document = {"version": 1, "columns": entries, "privacy": promise, "suppression_limit": 0.05}
    assert Schema.from_document(document).quasi
    return document


@pytest.fixture
def project(folder, sample) -> Project:
    """A project with the sample open and a schema of it."""
    found = Project(Folder.at(folder), "stays.project")
    schema = schema_of(sample.partition("\n")[0])
    found.change("open", lambda _: State(table="stays.csv", schema=schema))
    found.history.__init__()
    return found


def running(project: Project, work: Callable[[], Coroutine[object, object, object]]) -> object:
    """Run something with the children of a project, and end them."""

    async def whole() -> object:
        try:
            return await asyncio.wait_for(work(), 300)
        finally:
            await project.children.stop()

    return asyncio.run(whole())
