from __future__ import annotations

import json
import stat
from pathlib import Path

import polars as pl
import pytest

from shoal.cli.main import main

pytestmark = pytest.mark.local("xk-anonymity")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    sexes = ["F"] * 40 + ["M"] * 30 + ["X"] * 4 + ["Y"] * 2
    ages = [str(20 + i % 3) for i in range(len(sexes))]
    ills = [["flu", "gout", "cold"][i % 3] for i in range(len(sexes))]
    path = tmp_path / "t.csv"
    pl.DataFrame({"sex": sexes, "age": ages, "ill": ills}).write_csv(path)
    return path


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict:
    assert main([str(argument) for argument in arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_recommendation_has_the_fields_of_the_design(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "recommend", table, "--qi", "sex", "-k", "6", "--json")
    assert found["k"] == 6
    assert set(found["recommended"]) == {"xk", "fraction"}
    assert {"alternative", "precision_range", "max_data_loss"} <= set(found)
    first = found["candidates"][0]
    assert {"xk", "added", "suppressed", "originals", "total", "difference", "precision",
            "rank"} <= set(first)  # fmt: skip


def test_apply_carries_the_recommendation_out_and_the_release_verifies(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, marks = tmp_path / "o.csv", tmp_path / "false.csv"
    found = answer(
        capsys, "recommend", table, "--qi", "sex", "-k", "6", "--apply", "--out", out,
        "--false-records", marks, "--json",
    )  # fmt: skip
    applied = found["applied"]
    released = pl.read_csv(out)
    assert released.height == applied["released"] == applied["originals"] + applied["added"]
    assert released.columns == ["sex"]
    assert pl.read_csv(marks).height == applied["added"]
    assert main(["verify", str(out), "--qi", "sex", "-k", "6"]) == 0


@pytest.mark.parametrize("before", [None, 0o644])
def test_the_list_of_false_records_is_its_users_alone(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], before: int | None
) -> None:
    out, marks = tmp_path / "o.csv", tmp_path / "false.csv"
    if before is not None:
        marks.touch()
        marks.chmod(before)
    answer(
        capsys, "anonymize", table, "--qi", "sex", "-k", "6", "--method", "xk", "--xk", "3",
        "--out", out, "--false-records", marks, "--json",
    )  # fmt: skip
    assert stat.S_IMODE(marks.stat().st_mode) == 0o600


def test_anonymize_adds_false_records_only_when_asked_for_xk(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "o.csv"
    found = answer(
        capsys, "anonymize", table, "--qi", "sex", "-k", "6", "--method", "xk", "--xk", "3",
        "--out", out, "--json",
    )  # fmt: skip
    assert (found["method"], found["xk"], found["added"]) == ("xk", 3, 2)
    found = answer(capsys, "anonymize", table, "--qi", "sex", "-k", "6", "--out", out, "--json")
    assert found["released"] == 76
    assert main(["anonymize", str(table), "--qi", "sex", "-k", "6", "--out", str(out),
                 "--xk", "3"]) == 2  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ["--qi", "sex"],
        ["--qi", "sex", "-k", "0"],
        ["--qi", "sex", "-k", "6", "--apply"],
        ["--qi", "sex", "-k", "6", "--techniques", "xyz"],
        ["--qi", "sex", "-k", "6", "--techniques", "s"],
        ["--qi", "sex", "-k", "6", "--prefer", "speed"],
        ["--qi", "sex", "-k", "6", "--l", "2"],
        ["--qi", "sex", "--sensitive", "ill", "-k", "6", "--l", "9"],
        ["--qi", "nothing", "-k", "6"],
    ],
)
def test_a_question_that_cannot_be_asked_gets_one_line(
    table: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(["recommend", str(table), *arguments]) in (1, 2)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
