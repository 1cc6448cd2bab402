"""Releases into a database, as people ask for them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli.main import main
from shoal.core.errors import OutputError
from shoal.engines.base import Output
from shoal.jobs.documents import request_document, request_from
from shoal.jobs.requests import ReleaseRequest
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("databases")
TABLE = pl.DataFrame(
    {"age": [30 + i % 10 for i in range(60)], "sex": ["f", "m"] * 30, "ill": ["a", "b", "c"] * 20}
)
FLAGS = ["--qi", "age,sex", "--sensitive", "ill", "-k", "3", "--quiet"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    TABLE.write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'w.db'}"


def test_a_release_becomes_a_table_with_table_or_out_table(table, uri, capsys):
    asked = ["anonymize", str(table), *FLAGS, "--out", uri]
    assert main([*asked, "--table", "release"]) == 0
    found = shoal.Database(uri=uri, table="release").read()
    assert found.height == 60
    assert main(["verify", uri, "--table", "release", *FLAGS]) == 0
    assert main([*asked, "--out-table", "release"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main([*asked, "--out-table", "release", "--replace-table"]) == 0


def test_what_went_in_as_a_database_may_go_out_as_one(table, uri):
    asked = ["anonymize", str(table), *FLAGS, "--out", uri, "--table", "one"]
    assert main(asked) == 0
    flags = [*FLAGS[:-1], "--categorical", "age", "--quiet"]
    assert main(["anonymize", uri, "--table", "one", *flags, "--out", uri, "--out-table", "2"]) == 0
    assert shoal.Database(uri=uri, table="2").read().height == 60


def test_the_input_is_never_overwritten(table, uri, capsys):
    assert main(["anonymize", str(table), *FLAGS, "--out", uri, "--table", "one"]) == 0
    same = ["--out", uri, "--out-table", "one", "--replace-table"]
    assert main(["anonymize", uri, "--table", "one", *FLAGS, *same]) == 2
    assert "is also the input" in capsys.readouterr().err


def test_a_batch_becomes_a_table(table, uri, tmp_path):
    model = tmp_path / "model.json"
    assert main(["learn", str(table), *FLAGS, "--model", str(model)]) == 0
    flags = ["--safe", "--out", uri, "--out-table", "batch", "--quiet"]
    assert main(["encode", str(model), str(table), *flags]) == 0
    assert shoal.Database(uri=uri, table="batch").read().height == 60


def test_the_same_from_python_and_from_a_document(uri):
    goal = shoal.Database(uri=uri, table="release")
    made = shoal.anonymize(TABLE, qi=["age", "sex"], sensitive=["ill"], k=3, out=goal)
    assert made.table is None
    assert goal.read().height == 60


def test_a_password_is_not_written_down():
    secret = shoal.Database(uri="postgresql://me:hunter2@db/x", table="t")
    schema = Schema.from_document({"columns": {"age": "quasi"}})
    request = ReleaseRequest(table="t.csv", schema=schema, output=Output(out=secret))
    document = request_document(request)
    assert "hunter2" not in str(document) + repr(request)
    assert document["output"]["out"] == {"database": "postgresql://db/x", "table": "t"}
    again = request_from(document).output.out
    assert again == shoal.Database(uri="postgresql://db/x", table="t")


@pytest.mark.parametrize(("more", "problem"), [
    (["--out", "sqlite:///w.db"], "name the table to make with --out-table"),
    (["--out", "r.csv", "--out-table", "x"], "goes with a database URI as --out"),
    (["--out", "r.csv", "--replace-table"], "goes with a database URI as --out"),
    (["--out", "oracle://h/x", "--out-table", "x"], "no database that a release"),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused(table, more, problem, capsys):
    assert main(["anonymize", str(table), *FLAGS, *more]) == 2
    assert problem in capsys.readouterr().err


def test_other_jobs_write_files(uri):
    output = Output(out=shoal.Database(uri=uri, table="t"))
    with pytest.raises(OutputError, match="only anonymize and encode write to a database"):
        _ = output.file


def test_a_release_that_fails_leaves_no_file(table, uri, tmp_path):
    asked = ["anonymize", str(table), *FLAGS[:-3], "-k", "1000", "--out", uri, "--table", "r"]
    assert main(asked) == 1
    assert sorted(place.name for place in tmp_path.iterdir()) == ["t.csv"]
