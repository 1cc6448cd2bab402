"""Releases into databases: types, one transaction, and nothing at all when something is wrong.

PostgreSQL and MariaDB are real servers that the tests start, where they are installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from tests.mariadb import mariadb
from tests.postgres import postgres

from shoal.core.errors import InputError, MissingExtraError, OutputError
from shoal.formats import database_out, endings
from shoal.formats.database import Database
from shoal.formats.database_out import check_goal, released_to
from shoal.formats.types import plain_types

pytestmark = [pytest.mark.slow, pytest.mark.local("databases")]

EVERY = pl.DataFrame(
    {
        "small": pl.Series([1, None, -3], dtype=pl.Int16),
        "whole": [1, None, 2**53 + 1],
        "number": [0.1, None, 1e300],
        "single": pl.Series([0.1, None, 2], dtype=pl.Float32),
        "ok": [True, None, False],
        "text": ["Grün \U0001f41f'\"\n;", None, ""],
        "day": [date(2024, 12, 24), None, date(1900, 3, 1)],
        "moment": [datetime(2024, 1, 1, 13, 4, 5, 6), None, datetime(1950, 9, 9)],
        "clock": [time(13, 4, 5), None, time(0)],
        "price": [Decimal("1.50"), None, Decimal("123456789.12")],
        "odd name.x": ["a", "b", None],
        "nothing": pl.Series([None] * 3, dtype=pl.String),
    }
)
KEPT = {  # types that come back otherwise than they went in
    "postgresql": {"price": pl.String},  # numeric comes as its digits
    "mysql": {"small": pl.Int64, "single": pl.Float64, "ok": pl.Int64},
    "duckdb": {},
    "sqlite": {"small": pl.Int64, "single": pl.Float64, "ok": pl.Int64, "day": pl.String,
               "moment": pl.String, "clock": pl.String, "price": pl.String,
               "nothing": pl.Int64},
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    pytest.importorskip("adbc_driver_postgresql", reason="needs the extra shoal[db]")
    with postgres() as address:
        yield address


@pytest.fixture(scope="module")
def maria() -> Iterator[str]:
    with mariadb() as address:
        yield address


@pytest.fixture(params=KEPT)
def uri(request, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return request.getfixturevalue("server")
    if request.param == "mysql":
        return request.getfixturevalue("maria")
    pytest.importorskip("duckdb")
    return f"{request.param}:///{tmp_path / 'ward.db'}"


def put(uri: str, table: str, frame: pl.DataFrame, *, replace: bool = False) -> Database:
    goal = Database(uri=uri, table=table)
    with released_to(goal, replace=replace) as place:
        frame.write_parquet(place)
    return goal


def test_every_type_goes_in_and_comes_out(uri: str) -> None:
    goal = put(uri, "types", EVERY)
    found = plain_types(goal.read().lazy()).collect()
    kept = KEPT[goal.kind]
    assert dict(found.schema) == {
        name: kept.get(name, dtype) for name, dtype in EVERY.schema.items()
    }
    for name in EVERY.columns:
        assert database_out._same(EVERY.select(name), found.select(name)), name
    assert found["whole"].to_list() == EVERY["whole"].to_list()
    assert found["text"].to_list() == EVERY["text"].to_list()


def test_a_table_that_is_there_is_not_touched_unless_it_is_to_give_way(uri: str) -> None:
    old, new = EVERY.select("whole"), EVERY.select("text")
    goal = put(uri, "given", old)
    with pytest.raises(OutputError, match="'given' is there already"):
        check_goal(goal)
    with pytest.raises(OutputError, match="'given' is there already"):
        put(uri, "given", new)
    assert goal.read().columns == ["whole"]
    check_goal(goal, replace=True)
    put(uri, "given", new, replace=True)
    assert goal.read()["text"].to_list() == new["text"].to_list()


def test_whatever_is_raised_nothing_is_there(uri: str, monkeypatch) -> None:
    goal = Database(uri=uri, table="never")
    monkeypatch.setattr(database_out, "_same", lambda *_: False)
    with pytest.raises(OutputError, match="gave back other values") as caught:
        put(uri, "never", EVERY)
    assert "Grün" not in str(caught.value)
    with pytest.raises(InputError):
        goal.read()
    with pytest.raises(ZeroDivisionError), released_to(goal):
        raise ZeroDivisionError
    with pytest.raises(InputError):
        goal.read()


def test_a_replaced_table_stays_when_the_new_one_fails(uri: str, monkeypatch) -> None:
    goal = put(uri, "stays", EVERY.select("whole"))
    monkeypatch.setattr(database_out, "_same", lambda *_: False)
    with pytest.raises(OutputError):
        put(uri, "stays", EVERY.select("text"), replace=True)
    assert goal.read().columns == ["whole"]


def test_a_file_that_was_not_there_is_not_left_behind(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(database_out, "_same", lambda *_: False)
    for kind in ("sqlite", "duckdb"):
        with pytest.raises(OutputError):
            put(f"{kind}:///{tmp_path / kind}", "t", EVERY)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_release_is_a_table_without_records(uri: str) -> None:
    found = put(uri, "empty", EVERY.head(0)).read()
    assert found.columns == EVERY.columns
    assert found.height == 0


def test_a_refusal_never_quotes_what_the_database_said(server: str) -> None:
    frame = pl.DataFrame({"t": ["Alice\0"]})  # PostgreSQL keeps no zero bytes
    with pytest.raises(OutputError, match="the database refused") as caught:
        put(server, "zero", frame)
    assert "Alice" not in str(caught.value)


def test_a_table_may_be_in_a_schema(server: str) -> None:
    import psycopg

    with psycopg.connect(server) as connection:
        connection.execute('create schema "study 1"')
    goal = put(server, "study 1.stays", EVERY.select("whole"))
    assert goal.read().height == 3
    with pytest.raises(OutputError, match="the database refused"):
        put(server, "nowhere.stays", EVERY)


@pytest.mark.parametrize(("uri", "problem"), [
    ("oracle://x/y", "no database that a release can be written to"),
    ("sqlite:////nowhere/at/all.db", "a folder that is not there"),
    ("postgresql://nobody@127.0.0.1:1/x", "the database refused"),
    ("mysql://nobody:secret@127.0.0.1:1/x", "the database refused"),
])  # fmt: skip
def test_a_goal_is_refused_before_any_work(uri: str, problem: str) -> None:
    with pytest.raises(OutputError, match=problem) as caught:
        check_goal(Database(uri=uri, table="t"))
    assert "secret" not in str(caught.value)


def test_a_query_is_no_goal() -> None:
    with pytest.raises(OutputError, match="name the table"):
        check_goal(Database(uri="sqlite:///x.db", query="select 1"))


@pytest.mark.parametrize("kind", ["mysql", "duckdb", "postgresql"])
def test_a_driver_that_is_missing_is_named(kind: str, monkeypatch) -> None:
    monkeypatch.setattr(endings, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"shoal\[db\]"):
        check_goal(Database(uri=f"{kind}://x/y", table="t"))


def test_tables_are_the_same_however_they_are_ordered() -> None:
    turned = EVERY.reverse()
    assert database_out._same(EVERY, turned)
    assert not database_out._same(EVERY, turned.head(2))
    assert not database_out._same(EVERY, EVERY.with_columns(whole=pl.lit(1)))
