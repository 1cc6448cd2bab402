"""Types of a real PostgreSQL that the test starts, where it and its driver are installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.postgres import postgres

from shoal.cli.main import main

pytest.importorskip("adbc_driver_postgresql", reason="needs the extra shoal[db]")
pytestmark = [pytest.mark.slow, pytest.mark.local("databases")]

TABLE = """
create table stays (
    price numeric(10,2), long numeric, stay interval, at time, seen timestamptz, day date,
    ok bool, mood mood, score real, big bigint, grade char(5), items int[], raw bytea
)
"""
ROW = """
insert into stays values (
    10.50 + {i}, 123456789012345678901234567890.5 + {i}, '1 day 2 hours', '13:45',
    '2024-07-01 00:00+02', '2024-07-01', true, 'calm', 0.1, 9007199254740993, 'ab', '{{1,2}}', 'x'
)
"""
LABELS = {
    "price": {"10.5", "11.5"},
    "long": {"123456789012345678901234567890.5", "123456789012345678901234567891.5"},
    "at": {"13:45:00"},
    "seen": {"2024-07-01"},
    "day": {"2024-07-01"},
    "ok": {"true"},
    "mood": {"calm"},
    "score": {"0.1"},
    "big": {"9007199254740993"},
    "grade": {"ab"},
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as address:
        import psycopg

        with psycopg.connect(address) as connection:
            connection.execute("alter role steward set timezone to 'Europe/Berlin'")
            connection.execute("create type mood as enum ('calm', 'sad')")
            connection.execute(TABLE)
            for i in (0, 1) * 3:
                connection.execute(ROW.format(i=i))
        yield address


@pytest.mark.sampled
@pytest.mark.parametrize("column", LABELS)
@pytest.mark.parametrize("role", ["--qi", "--sensitive", "--neutral"])
def test_types_of_a_database(server: str, column: str, role: str, tmp_path: Path) -> None:
    """numeric(10,2) among them; a moment keeps the date that the database shows."""
    out = tmp_path / "r.csv"
    asked = ["--query", f"select 'a' as one, {column} from stays", "-k", "3", "--out", str(out)]
    roles = ["--qi", column] if role == "--qi" else ["--qi", "one", role, column]
    assert main(["anonymize", server, *asked, *roles, "--quiet"]) == 0
    assert main(["verify", str(out), "--qi", roles[1], "-k", "3", "--quiet"]) == 0
    found = pl.read_csv(out, infer_schema=False)[column]
    if role == "--qi" and column != "long":
        assert {text.strip() for text in found.to_list()} == LABELS[column]
    assert found.len() == 6


def test_an_interval_is_refused_with_the_words_to_go_on(
    server: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    flags = ["-k", "3", "--qi", "stay", "--out", str(tmp_path / "r.csv")]
    assert main(["anonymize", server, "--query", "select stay from stays", *flags]) == 2
    assert "extract(epoch from stay)" in capfd.readouterr().err
    query = "select extract(epoch from stay) as stay from stays"
    assert main(["anonymize", server, "--query", query, *flags]) == 0
    assert "93600" in (tmp_path / "r.csv").read_text()


@pytest.mark.parametrize("column", ["items", "raw"])
def test_lists_of_a_database_are_refused(
    server: str, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--query", f"select {column} from stays", "-k", "3", "--qi", column]
    assert main(["anonymize", server, *asked, "--out", "r.csv"]) == 2
    assert f"column {column!r}: holds" in capsys.readouterr().err
