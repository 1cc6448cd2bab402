"""The command `sample`."""

from __future__ import annotations

import json
import stat

import pytest


@pytest.mark.parametrize("which", ["hospital", "zipf"])
def test_a_sample_can_be_released_with_its_own_schema(tmp_path, run, which):
    place = tmp_path / "x.csv"
    made = json.loads(run("sample", which, "--records", 500, "--out", place, "--json").out)
    out = tmp_path / "o.csv"
    answer = run("anonymize", place, "--schema", made["schema"], "-k", 5, "--out", out, "--quiet")
    assert answer == (0, "", "")
    assert run("verify", out, "--schema", made["schema"], "-k", 5, "--quiet").code == 0


def test_the_same_seed_gives_the_same_bytes(tmp_path, run):
    one, two, other = (tmp_path / f"{n}.csv" for n in ("one", "two", "other"))
    for place, seed in ((one, 1), (two, 1), (other, 2)):
        made = run(
            "sample", "zipf", "--records", 40, "--attributes", 2, "--seed", seed, "--out", place
        )
        assert made.out.startswith("40 records in ")
    assert one.read_bytes() == two.read_bytes() != other.read_bytes()


def test_a_sample_of_a_table_is_private_and_replaces_nothing_unasked(tmp_path, run):
    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    table.write_text("sex,age\n" + "f,1\n" * 60 + "m,2\n" * 30)
    asked = ("sample", "proportional", "--from", table, "--by", "sex", "--records", 9, "--out", out)
    assert run(*asked).out == f"9 records in {out}; they are raw data\n"
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert sorted(out.read_text().splitlines()[1:]) == ["f,1"] * 6 + ["m,2"] * 3
    answer = run(*asked)
    assert answer.code == 2
    assert "--overwrite replaces it" in answer.err
    assert json.loads(run(*asked, "--overwrite", "--json").out) == {"table": str(out), "records": 9}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("zap",), "there are two samples, hospital and zipf, and proportional"),
        (("proportional",), "needs --from INPUT and --by COLUMN"),
        (("proportional", "--from", "t.csv", "--by", " , "), "needs --from INPUT and --by COLUMN"),
        (("zipf", "--by", "a"), "go with proportional"),
        (("hospital", "--skip-lines", 1), "go with proportional"),
        (("hospital", "--sep", ";"), "go with proportional"),
        (("zipf", "--linked"), "goes with hospital"),
        (("hospital", "--linked", "--overwrite"), "a folder is never replaced"),
        (("hospital", "--linked", "--records", 0), "must be a whole number"),
    ],
)
def test_a_question_that_cannot_be_asked_writes_nothing(tmp_path, run, asked, words):
    answer = run("sample", *asked, "--out", tmp_path / "o.csv")
    assert answer.code == 2
    assert words in answer.err
    assert list(tmp_path.iterdir()) == []


def test_linked_tables_are_told_by_their_rows(tmp_path, run):
    out = tmp_path / "wards"
    answer = run("sample", "hospital", "--linked", "--records", 50, "--out", out)
    assert answer.out.startswith("50 patients, ")
    assert answer.out.endswith(f"their schema in {out / 'schema.yaml'}\n")
    found = run("sample", "hospital", "--linked", "--records", 50, "--out", out)
    assert found.code == 2
    assert "is there already; name a new folder" in found.err
    other = tmp_path / "other"
    made = run("sample", "hospital", "--linked", "--records", 50, "--out", other, "--json")
    document = json.loads(made.out)
    assert document["folder"] == str(other)
    assert document["tables"]["patients"] == 50
