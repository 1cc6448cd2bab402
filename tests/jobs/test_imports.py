"""Projects of other tools become folders that a release can be made from."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.formats.arx_project import write_small_project
from tests.formats.other_tools import write_survey

from shoal.cli.main import main
from shoal.core.errors import InputError, OutputError
from shoal.jobs.imports import ImportRequest, import_project
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("importers")


@pytest.fixture
def deid(tmp_path: Path) -> Path:
    return write_small_project(tmp_path / "study.deid")


def test_a_project_becomes_a_folder_that_a_release_is_made_from(deid, tmp_path, capsys):
    out = tmp_path / "study"
    asked = ["import", str(deid), "--out", str(out), "--with-table", "--compare", "--json"]
    assert main(asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["optimum"]["same"]
    assert told["files"] == [
        "schema.yaml", "hierarchies/hierarchy_age.csv", "hierarchies/hierarchy_sex.csv", "table.csv"
    ]  # fmt: skip
    schema, release = out / "schema.yaml", tmp_path / "release.csv"
    flags = ["--schema", str(schema), "--out", str(release), "--method", "flash", "--quiet"]
    assert main(["anonymize", str(out / "table.csv"), *flags]) == 0
    assert main(["verify", str(release), "--schema", str(schema), "--quiet"]) == 0
    assert pl.read_csv(release, separator=";").columns == ["age", "sex", "ill", "note"]


def test_lines_for_people(deid, tmp_path, capsys):
    assert main(["import", str(deid), "--out", str(tmp_path / "x"), "--compare"]) == 0
    text = capsys.readouterr().out
    assert "the search here finds the same node" in text
    assert "in the project" in text


def test_the_schema_that_is_written_is_the_one_that_was_read(deid, tmp_path):
    made = import_project(ImportRequest(path=deid), tmp_path / "x")
    assert Schema.load(tmp_path / "x" / "schema.yaml") == made.found.schema
    assert made.optimum is None


def test_a_folder_that_is_there_is_not_touched(deid, tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "mine").touch()
    with pytest.raises(OutputError, match="is there already"):
        import_project(ImportRequest(path=deid), tmp_path / "x")
    with pytest.raises(OutputError, match="in a folder that is not there"):
        import_project(ImportRequest(path=deid), tmp_path / "none" / "x")
    assert [place.name for place in (tmp_path / "x").iterdir()] == ["mine"]


def test_names_that_no_file_can_have(tmp_path):
    rules = "Anonymization rules:\na/b\n1->*\n2->*\n\na_b\n1->x\n2->x\n"
    (tmp_path / "r.txt").write_text(rules)
    made = import_project(ImportRequest(path=tmp_path / "r.txt"), tmp_path / "x")
    assert made.files == ("hierarchies/01_hierarchy_a_b.csv", "hierarchies/02_hierarchy_a_b.csv")
    assert all((tmp_path / "x" / name).is_file() for name in made.files)


def test_names_of_numbers_become_leaves(tmp_path):
    pytest.importorskip("pyreadstat", reason="needs the extra shoal[files]")
    place = write_survey(tmp_path / "t.sav")
    made = import_project(ImportRequest(path=place), tmp_path / "x")
    assert made.files == ("hierarchies/hierarchy_sex.csv",)
    assert (tmp_path / "x" / made.files[0]).read_text() == "m;*\nf;*\nd;*\n"


@pytest.mark.parametrize(("name", "problem"), [
    ("none.deid", "no such file"), ("t.csv", "no project of another tool"),
])  # fmt: skip
def test_what_is_no_project_is_refused(tmp_path, name, problem):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=problem):
        import_project(ImportRequest(path=tmp_path / name), tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_project_without_a_table(tmp_path):
    (tmp_path / "r.txt").write_text("Anonymization rules:\na\n1->*\n")
    with pytest.raises(InputError, match="has no table in it"):
        import_project(ImportRequest(path=tmp_path / "r.txt"), tmp_path / "x", with_table=True)
