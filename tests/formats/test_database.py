from __future__ import annotations

import sqlite3
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli.main import main
from shoal.core.errors import InputError, MissingExtraError
from shoal.formats.database import Database, _plain

pytest.importorskip("adbc_driver_sqlite")
pytestmark = pytest.mark.local("databases")


@pytest.fixture
def uri(tmp_path: Path) -> str:
    with sqlite3.connect(tmp_path / "ward.db") as database:
        database.execute('create table "the stays" (age integer, sex text, ill text)')
        rows = [(20 + i % 7, "fm"[i % 2], "ab"[i % 3 == 0]) for i in range(60)]
        database.executemany('insert into "the stays" values (?, ?, ?)', rows)
    database.close()
    return f"sqlite:///{tmp_path / 'ward.db'}"


def test_a_table_in_a_database_is_released(
    uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.csv"
    flags = ["--qi", "age,sex", "--sensitive", "ill", "-k", "5", "--out", str(out)]
    assert main(["anonymize", uri, "--table", "the stays", *flags]) == 0
    assert pl.read_csv(out).height == 60
    assert main(["anonymize", uri, "--query", 'select age, sex, ill from "the stays"', *flags]) == 0
    capsys.readouterr()
    assert main(["verify", uri, "--table", "the stays", "--qi", "age,sex", "-k", "2"]) == 0


def test_what_the_database_says_stays_inside(
    uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--qi", "age", "-k", "2", "--out", str(tmp_path / "r.csv")]
    assert main(["anonymize", uri, "--query", "select secret from nothing", *flags]) == 2
    assert main(["anonymize", uri, *flags]) == 2
    assert main(["anonymize", str(tmp_path / "ward.csv"), "--table", "x", *flags]) == 2
    errors = capsys.readouterr().err
    assert "secret" not in errors
    assert len(errors.splitlines()) == 3


def test_a_password_is_not_shown_and_a_missing_driver_is_named() -> None:
    database = shoal.Database(uri="postgresql://me:hunter2@host/db", table="t")
    assert "hunter2" not in database.where + repr(database)
    words = shoal.Database(uri="postgresql://host/db?user=me&password=hunter2", table="t")
    assert words.where == "postgresql://host/db"
    with pytest.raises((MissingExtraError, InputError)) as caught:
        database.read()
    assert "hunter2" not in str(caught.value)


def test_another_database_names_what_is_read_and_no_extra_that_lacks_its_driver() -> None:
    with pytest.raises(InputError) as caught:
        shoal.Database(uri="snowflake://me:hunter2@host/db", table="t").read()
    text = str(caught.value)
    for word in ("postgresql://", "mysql://", "sqlite://", "adbc-driver-snowflake", "Parquet"):
        assert word in text
    assert "pip install" not in text
    assert "hunter2" not in text


def test_a_duckdb_file_reads_no_other_file(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    secret, place = tmp_path / "secret.csv", tmp_path / "ward.duckdb"
    secret.write_text("a,b\n4711,2\n")
    with duckdb.connect(place) as made:
        made.execute("create table stays as select 1 as x")
        made.execute(f"create view leak as select * from read_csv('{secret}')")
    uri = f"duckdb:///{place}"
    assert Database(uri=uri, table="stays").read().rows() == [(1,)]
    query = f"select * from '{secret}'"
    for asked in (Database(uri=uri, table="leak"), Database(uri=uri, query=query)):
        with pytest.raises(InputError, match="beside the database") as caught:
            asked.read()
        assert "4711" not in str(caught.value)


def test_bytes_of_mysql_are_texts_or_refused() -> None:
    assert _plain((b"Gr\xc3\xbcn", 1, None)) == ("Grün", 1, None)
    with pytest.raises(InputError, match="holds bytes") as caught:
        _plain((b"\xff\xfeAlice",))
    assert "Alice" not in str(caught.value)
