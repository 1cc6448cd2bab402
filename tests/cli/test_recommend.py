from __future__ import annotations

import json
import stat
from pathlib import Path

import polars as pl
import pytest

from shoal import api
from shoal.cli.main import main
from shoal.core.errors import MethodError
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema

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


def test_anonymize_xk_writes_a_report(table: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    assert main(["anonymize", str(table), "--qi", "sex", "-k", "6", "--method", "xk", "--xk", "3",
                 "--out", str(tmp_path / "o.csv"), "--report", str(page)]) == 0  # fmt: skip
    text = page.read_text()
    assert "QP remain" in text
    assert "2 of 76 released records are false" in text
    assert "74 of 76 records of t.csv are released" in text


def test_anonymize_xk_honours_the_suppression_limit(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "o.csv"
    asked = ["anonymize", str(table), "--qi", "sex", "-k", "6", "--method", "xk", "--xk", "3",
             "--out", str(out), "--suppression-limit"]  # fmt: skip
    assert main([*asked, "0"]) == 1
    assert "2 of 76 records would be suppressed" in capsys.readouterr().err
    assert not out.exists()
    assert main([*asked, "0.05"]) == 0
    assert main([*asked, "7"]) == 2


@pytest.mark.parametrize(("limit", "code"), [(0, 1), (0.01, 1), (0.05, 0)])
def test_anonymize_xk_honours_the_suppression_limit_that_a_schema_states(
    table: Path, tmp_path: Path, limit: float, code: int
) -> None:
    schema = tmp_path / "s.json"
    schema.write_text(json.dumps({
        "columns": {"sex": "quasi"}, "others": "drop", "suppression_limit": limit,
        "privacy": [{"model": "k-anonymity", "k": 6}],
    }))  # fmt: skip
    assert main(["anonymize", str(table), "--schema", str(schema), "--method", "xk", "--xk", "3",
                 "--out", str(tmp_path / "o.csv")]) == code  # fmt: skip
    assert main(["recommend", str(table), "--schema", str(schema), "--apply", "--xk", "3",
                 "--out", str(tmp_path / "o.csv")]) == code  # fmt: skip


def test_recommend_predicts_what_apply_gives_and_prints_the_frontier(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["recommend", table, "--qi", "sex,age", "-k", "6", "--techniques", "c", "--apply",
             "--out", tmp_path / "o.csv"]  # fmt: skip
    found = answer(capsys, *asked, "--json")
    assert found["expected"]["precision"] == found["applied"]["precision"]
    assert found["expected"]["data_loss"] == found["applied"]["data_loss"]
    assert {"frontier", "outcomes", "techniques", "precision_range"} <= set(found)
    assert {way["techniques"] for way in found["outcomes"]} == {"-", "C"}
    assert main([str(each) for each in asked]) == 0
    text = capsys.readouterr().out
    assert "no other way beats these" in text
    assert f"a precision of {found['applied']['precision']:.2f} %" in text
    assert f"The precision is {found['applied']['precision']:.2f} %" in text


@pytest.mark.parametrize(
    "given", [["--xk", "3"], ["--steps", "d"], ["--false-records", "f.csv"], ["--seed", "1"],
              ["--suppression-limit", "0"]],
    ids=lambda given: given[0],
)  # fmt: skip
def test_recommend_refuses_what_only_apply_would_use(table: Path, given: list[str]) -> None:
    assert main(["recommend", str(table), "--qi", "sex", "-k", "6", *given]) == 2


def test_learn_xk_says_that_it_adds_records_and_has_no_model(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "m.json"
    assert main(["learn", str(table), "--qi", "sex", "-k", "6", "--method", "xk", "--model",
                 str(model)]) == 2  # fmt: skip
    text = capsys.readouterr().err
    assert "adds false records" in text
    assert "no model" in text
    assert "no such method" not in text
    assert not model.exists()
    schema = Schema.from_document({"columns": {"sex": "quasi"}, "others": "drop"})
    with pytest.raises(MethodError, match="release_xk"):
        api.anonymize(str(table), schema, privacy=[KAnonymity(6)], method="xk")


def test_steps_are_written_by_the_command_line(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "steps"
    assert main(["anonymize", str(table), "--qi", "sex", "-k", "6", "--method", "xk", "--out",
                 str(tmp_path / "o.csv"), "--steps", str(folder)]) == 0  # fmt: skip
    assert (folder / "7-confirmation-pairs.csv").is_file()
    assert main(["anonymize", str(table), "--qi", "sex", "-k", "6", "--method", "xk", "--out",
                 str(tmp_path / "o.csv"), "--steps", str(folder)]) == 2  # fmt: skip


def test_verify_blanked_on_the_command_line(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.csv"
    asked = ["--qi", "sex", "--sensitive", "ill", "-k", "6", "--l", "3"]
    poor = pl.read_csv(table).with_columns(
        pl.when(pl.col("sex") == "X").then(pl.lit("flu")).otherwise("ill").alias("ill")
    )
    poor.write_csv(table)
    assert main(["anonymize", str(table), *asked, "--method", "xk", "--xk", "3", "--techniques",
                 "s", "--out", str(out)]) == 0  # fmt: skip
    assert pl.read_csv(out).filter(pl.col("sex") == "X")["ill"].null_count() == 6
    assert main(["verify", str(out), *asked]) == 1
    assert main(["verify", str(out), *asked, "--blanked"]) == 0
    one = pl.read_csv(out).with_row_index().with_columns(
        pl.when(pl.col("index") == pl.col("index").filter(pl.col("sex") == "X").first())
        .then(pl.lit("flu")).otherwise("ill").alias("ill")
    )  # fmt: skip
    one.write_csv(out)
    assert main(["verify", str(out), *asked, "--blanked"]) == 1
    assert main(["verify", str(out), *asked, "--blanked", "--t", "0.2"]) == 2


def test_a_proportional_sample_is_drawn_and_is_private(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sample.csv"
    asked = ["sample", "proportional", "--from", table, "--by", "sex", "--records", "38", "--out",
             out]  # fmt: skip
    assert answer(capsys, *asked, "--json")["records"] == 38
    drawn = dict(pl.read_csv(out)["sex"].value_counts().rows())
    assert drawn == {"F": 20, "M": 15, "X": 2, "Y": 1}
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert main([str(each) for each in asked]) == 2  # it is there already
    assert main([*[str(each) for each in asked], "--overwrite"]) == 0
    assert main(["sample", "proportional", "--out", str(out)]) == 2
    assert main(["sample", "zipf", "--out", str(tmp_path / "z.csv"), "--by", "sex"]) == 2


@pytest.mark.parametrize("command", ["anonymize", "recommend"])
def test_a_unique_neutral_column_that_exposes_false_records_is_refused_unless_waived(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    out = tmp_path / "o.csv"
    costs = pl.Series("cost", [f"{731 + 13 * i}.{i:02}" for i in range(76)])
    pl.read_csv(table).with_columns(costs).write_csv(table)
    carry = ["--method", "xk"] if command == "anonymize" else ["--apply"]
    asked = [command, str(table), "--qi", "sex", "--neutral", "ill,cost", "-k", "6", *carry,
             "--xk", "3", "--out", str(out)]  # fmt: skip
    assert main(asked) == 2
    text = capsys.readouterr().err
    assert "'cost' would tell about 100 % of the false records" in text
    assert "--waive cost" in text
    assert not any(cost in text for cost in costs)
    assert not out.exists()
    assert main([*asked, "--waive", "cost"]) == 0
    assert "'cost' tells about 100.0 % of the false records" in capsys.readouterr().out
    assert main(["verify", str(out), "--qi", "sex", "-k", "6"]) == 0
    coarse = ["--qi", "sex", "--neutral", "ill", "-k", "6", *carry, "--xk", "3"]
    assert main([command, str(table), *coarse, "--out", str(out)]) == 0


def test_recommend_says_beforehand_which_columns_would_be_refused(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    costs = pl.Series("cost", [f"{731 + 13 * i}.{i:02}" for i in range(76)])
    pl.read_csv(table).with_columns(costs).write_csv(table)
    asked = ["recommend", str(table), "--qi", "sex", "--neutral", "cost", "-k", "6", "--prefer",
             "originals"]  # fmt: skip
    assert main(asked) == 0
    assert "It would be refused: column 'cost'" in capsys.readouterr().out
    assert main([*asked, "--waive", "cost"]) == 0
    assert "refused" not in capsys.readouterr().out


def test_anonymize_xk_honours_the_options_that_say_how_a_file_is_read(
    table: Path, tmp_path: Path
) -> None:
    text = "a line above the header\n" + table.read_text().replace("gout", "Grünzug")
    table.write_bytes(text.encode("cp1252"))
    out = tmp_path / "o.csv"
    assert main(["anonymize", str(table), "--qi", "sex", "--neutral", "ill", "-k", "6", "--method",
                 "xk", "--xk", "3", "--out", str(out), "--encoding", "cp1252", "--skip-lines",
                 "1"]) == 0  # fmt: skip
    assert "Grünzug" in pl.read_csv(out)["ill"].to_list()


@pytest.mark.parametrize("command", ["anonymize", "recommend"])
def test_xk_honours_fold_case(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    ills = [["HIV", "hiv", "Hiv"][i % 3] if i < 40 else ["flu", "cold"][i % 2] for i in range(76)]
    pl.read_csv(table).with_columns(pl.Series("ill", ills)).write_csv(table)
    carry = ["--method", "xk"] if command == "anonymize" else ["--apply"]
    asked = [command, str(table), "--qi", "sex", "--sensitive", "ill", "--waive", "ill", "-k", "6",
             "--l", "2", *carry, "--xk", "2", "--out", str(tmp_path / "o.csv")]  # fmt: skip
    assert main(asked) == 0
    assert "--fold-case joins them" in capsys.readouterr().out
    assert pl.read_csv(tmp_path / "o.csv").filter(pl.col("sex") == "F").height == 40
    assert main([*asked, "--fold-case"]) == 0
    assert pl.read_csv(tmp_path / "o.csv").filter(pl.col("sex") == "F").height == 0
