from __future__ import annotations

import pytest
from tests.web.conftest import running

from shoal.core.errors import InputError
from shoal.web.child import Standing
from shoal.web.folder import Folder
from shoal.web.opening import open_table
from shoal.web.project import Project


def opened(project, *tables):
    async def work():
        return [await open_table(project, table) for table in tables][-1]

    return running(project, work)


def test_what_infer_proposes_becomes_the_schema_of_a_project_beside_the_table(folder):
    project = Project(Folder.at(folder))
    assert opened(project, "stays.csv").standing is Standing.DONE
    assert project.place.name == "stays.project"
    assert project.state.table == "stays.csv"
    assert project.schema.attribute("patient_id").role == "identifying"
    assert "zip" in project.schema.quasi
    assert project.results["infer"]["records"] == 400


def test_a_table_opened_again_is_as_it_was_left(folder):
    project = Project(Folder.at(folder))
    opened(project, "stays.csv")
    project.change("zip", lambda state: state.with_column("zip", weight=3.0))
    (folder / "b.csv").write_text("a,b\n" + "".join(f"{i % 3},{i}\n" for i in range(30)))
    other = Project(project.folder)
    opened(other, "b.csv", "stays.csv")
    assert other.state.columns["zip"]["weight"] == 3.0
    assert (folder / "b.project").is_dir()


def test_a_file_of_another_encoding_is_read_as_it_is_meant(folder):
    rows = "".join(f"Käthe {n};{20 + n};Mühlweg\n" for n in range(40))
    text = f"Klinik Süd, Liste\n\nName;Alter;Straße\n{rows}"
    (folder / "alt.csv").write_bytes(text.encode("cp1252"))
    project = Project(Folder.at(folder))
    opened(project, "alt.csv")
    table = project.state.table
    assert table == {"file": "alt.csv", "encoding": "cp1252", "skip_lines": 2}
    assert set(project.state.columns) == {"Name", "Alter", "Straße"}


def test_a_table_that_cannot_be_read_leaves_the_one_that_is_open(project):
    before = project.state
    (project.folder.root / "bad.csv").write_text("")
    job = opened(project, "bad.csv")
    assert job.standing is Standing.FAILED
    assert project.state == before


def test_a_table_outside_is_refused(project):
    with pytest.raises(InputError, match="outside"):
        opened(project, "../x.csv")
