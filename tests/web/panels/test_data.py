"""The data panel: where uploads go, which databases are opened, and what is said of a table."""

from __future__ import annotations

import asyncio
import stat

import pytest

from shoal.core.errors import InputError
from shoal.web.folder import Folder
from shoal.web.panels import data
from shoal.web.panels.data import database, free_place, kept
from shoal.web.project import Project
from shoal.web.state import State
from shoal.web.texts import Texts


@pytest.fixture
def project(tmp_path):
    return Project(Folder.at(tmp_path), "p")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("ward.csv", "ward.csv"),
        ("../../etc/passwd.csv", "passwd.csv"),
        ("C:\\data\\ward.csv.gz", "ward.csv.gz"),
        ("...hidden.csv", "hidden.csv"),
        ("a<b>|c\x00.csv", "a_b__c_.csv"),
        ("Größe 2024.parquet", "Größe 2024.parquet"),
        (f"{'x' * 300}.csv", f"{'x' * 100}.csv"),
    ],
)
def test_an_upload_goes_into_the_folder_under_a_plain_name(tmp_path, name, wanted):
    assert free_place(tmp_path, name) == tmp_path / wanted


@pytest.mark.parametrize("name", ["page.html", ".csv", "", "../", "run.sh", "x.csv.exe", "...csv"])
def test_what_is_no_table_by_its_name_is_not_kept(tmp_path, name):
    with pytest.raises(InputError, match="is no table"):
        free_place(tmp_path, name)


def test_a_file_that_is_there_already_stays(tmp_path):
    (tmp_path / "ward.csv").write_text("mine")
    (tmp_path / "ward-2.csv").symlink_to("/nowhere")
    assert free_place(tmp_path, "ward.csv") == tmp_path / "ward-3.csv"


async def chunks(*parts):
    for each in parts:
        yield each


def test_an_upload_is_kept_for_its_owner_only(tmp_path):
    name = asyncio.run(kept(tmp_path, "ward.csv", chunks(b"a,b\n", b"1,2\n")))
    place = tmp_path / name
    assert place.read_bytes() == b"a,b\n1,2\n"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["ward.csv"]


def test_an_upload_that_is_too_large_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "MOST_UPLOAD", 5)
    with pytest.raises(InputError, match="larger"):
        asyncio.run(kept(tmp_path, "ward.csv", chunks(b"abc", b"def")))
    assert not list(tmp_path.iterdir())


def test_an_upload_that_breaks_off_leaves_nothing(tmp_path):
    async def broken():
        yield b"abc"
        raise OSError(28, "secret")

    with pytest.raises(InputError, match="no space left") as caught:
        asyncio.run(kept(tmp_path, "ward.csv", broken()))
    assert "secret" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def ward(folder):
    """Files that databases may be in."""
    for name in ("ward.db", "ward.duckdb"):
        (folder / name).touch()


def test_a_table_of_a_database_is_what_a_request_says(project, ward):
    assert database(project, " sqlite:///ward.db ", "stays", "") == {
        "database": "sqlite:///ward.db", "table": "stays",
    }  # fmt: skip
    found = database(project, "postgresql://me@db/ward", None, "SELECT 1 AS x")
    assert found == {"database": "postgresql://me@db/ward", "query": "SELECT 1 AS x"}


@pytest.mark.parametrize(
    ("address", "table", "query", "why"),
    [
        ("", "t", "", "address"),
        ("ward.db", "t", "", "address"),
        ("postgresql://me:pw@db/ward", "t", "", "password"),
        ("postgresql://db/ward?password=pw", "t", "", "password"),
        ("postgresql://[db/ward", "t", "", "password"),
        ("sqlite:////etc/ward.db", "t", "", "outside"),
        ("sqlite:///../ward.db", "t", "", "outside"),
        ("sqlite:///ward.db", "", "", "either"),
        ("sqlite:///ward.db", "t", "SELECT 1", "either"),
        ("SQLite:////etc/ward.db", "t", "", "outside"),
        ("sqlite:///%2Fetc%2Fward.db", "t", "", "outside"),
        ("sqlite:///file:/etc/ward.db", "t", "", "file:"),
        ("sqlite:///ward.db?mode=rwc", "t", "", "alone"),
        ("sqlite:///missing.db", "t", "", "no such file"),
        ("duckdb:////etc/ward.duckdb", "t", "", "outside"),
        ("duckdb:///../ward.duckdb", "t", "", "outside"),
        ("sqlite:///ward.db", "", "ATTACH '/tmp/x.db' AS x", "SELECT"),
        ("duckdb:///ward.duckdb", "", "COPY t TO '/tmp/x.csv'", "SELECT"),
        ("postgresql://db/ward", "", "DELETE FROM t", "nothing is changed"),
    ],
)
def test_a_database_that_is_not_opened(project, ward, address, table, query, why):
    with pytest.raises(InputError, match=why) as caught:
        database(project, address, table, query)
    assert "pw" not in str(caught.value).replace("PGPASSWORD", "")


def test_what_was_found_is_said_in_both_languages(project):
    project.state = State(
        table="t.csv",
        schema={"columns": {"d": {"role": "quasi", "kind": "date", "date_format": "%d.%m.%Y"}},
                "missing": ["?", "NA"]},
    )  # fmt: skip
    project.results["infer"] = {"columns": {"d": {"missing": 3}, "e": {"missing": 0}}}
    facts = {"format": "csv", "columns": 2, "separator": ";", "encoding": "cp1252",
             "records": 12345, "skip_lines": 2}  # fmt: skip
    found = dict(data._found(project, facts, Texts("de")))
    assert found["Datensätze"] == "12.345"
    assert found["Trennzeichen"] == "Semikolon"
    assert found["Fehlend heißt"] == "? NA"
    assert found["Datumsform"] == "TT.MM.JJJJ"
    assert found["Spalten mit fehlenden Werten"] == "1"
    assert dict(data._found(project, facts, Texts("en")))["Lines above the header"] == "2"
