from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("opendp")

from shoal.cli.main import main

pytestmark = pytest.mark.local("differentially private statistics")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    frame = pl.DataFrame({"age": [20 + i % 50 for i in range(2000)], "sex": ["F", "M"] * 1000})
    frame.write_csv(path)
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> str:
    return str(tmp_path / "budget.db")


def test_an_answer_has_the_fields_of_the_design(
    table: Path, ledger: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["budget", "set", str(table), "--epsilon", "1", "--ledger", ledger]) == 0
    capsys.readouterr()
    arguments = ["stats", str(table), "mean", "--column", "age", "--lower", "0", "--upper", "120",
                 "--epsilon", "0.5", "--ledger", ledger, "--json"]  # fmt: skip
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"statistic", "value", "epsilon", "delta", "mechanism", "scale", "accuracy",
            "remaining"} <= set(found)  # fmt: skip
    assert found["remaining"] == pytest.approx(0.5)
    assert abs(found["value"] - 44.5) < 5
    assert main(arguments) == 0
    capsys.readouterr()
    assert main(arguments) == 1  # nothing is left, and nothing is answered
    captured = capsys.readouterr()
    assert json.loads(captured.out)["error"]["exit_code"] == 1
    assert len(captured.err.splitlines()) == 1
    assert main(["budget", "log", "--ledger", ledger, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["entries"]) == 3


def test_bounds_come_from_the_schema_never_from_the_data(
    table: Path, ledger: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    question = ["stats", str(table), "sum", "--column", "age", "--epsilon", "0.1",
                "--ledger", ledger]  # fmt: skip
    assert main(question) == 2
    schema = tmp_path / "s.yaml"
    schema.write_text("columns:\n  age: {role: quasi, bounds: [0, 120]}\nothers: drop\n")
    assert main([*question, "--schema", str(schema), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bounds"] == [0.0, 120.0]


@pytest.mark.parametrize(
    "arguments",
    [
        ["mean", "--column", "age", "--lower", "0", "--upper", "9", "--epsilon", "0"],
        ["mean", "--column", "age", "--lower", "9", "--upper", "0", "--epsilon", "1"],
        ["mean", "--column", "age", "--lower", "0", "--upper", "inf", "--epsilon", "1"],
        ["mean", "--column", "sex", "--lower", "0", "--upper", "1", "--epsilon", "1"],
        ["mean", "--column", "none", "--lower", "0", "--upper", "1", "--epsilon", "1"],
        ["magic", "--epsilon", "1"],
        ["count", "--by", "sex", "--epsilon", "1"],
        ["count"],
    ],
)
def test_a_question_that_cannot_be_asked_gets_one_line(
    table: Path, ledger: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stats", str(table), *arguments, "--ledger", ledger]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
