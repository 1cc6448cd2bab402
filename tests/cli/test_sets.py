"""Columns of sets from the command line."""

from __future__ import annotations

import json

import polars as pl
import pytest
from tests.jobs.test_transactions import shop

from shoal.cli.main import main

pytestmark = pytest.mark.local("columns of sets")


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "shop.csv"
    shop().write_csv(found)
    return found


COLUMNS = ("--qi", "items", "--set", "items")


def test_a_release_is_made_verified_and_measured(path, tmp_path, capsys):
    out = str(tmp_path / "release.csv")
    asked = ["-k", "5", "--m", "2"]
    method = ["--method", "itemsets", "--set", "effort=fast"]
    assert main(["anonymize", str(path), *COLUMNS, *asked, *method, "--out", out]) == 0
    text = capsys.readouterr().out
    assert "km-anonymity k=5, m=2: holds" in text
    assert "occurrences as they were" in text
    assert main(["verify", out, *COLUMNS, *asked]) == 0
    assert main(["verify", str(path), *COLUMNS, *asked]) == 1
    text = capsys.readouterr().out
    assert "items is held by" in text
    assert "i1" not in text
    assert main(["metrics", str(path), out, *COLUMNS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sets"]["suppressed_items"] == 0


def test_json_has_the_measures_of_sets(path, tmp_path, capsys):
    out = str(tmp_path / "release.csv")
    asked = ["-k", "5", "--m", "2", "--method", "itemsets", "--set", "effort=fast", "--json"]
    assert main(["anonymize", str(path), *COLUMNS, *asked, "--out", out]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["method"] == "itemsets"
    assert document["privacy"][0]["parameters"] == {"k": 5, "m": 2}
    assert 0 < document["utility"]["ncp"] == document["column_loss"]["items"] < 1
    assert document["sets"]["labels"] <= document["sets"]["items"] + 20


def test_risk_says_what_items_tell_and_gates(path, capsys):
    assert main(["risk", str(path), *COLUMNS]) == 0
    assert "2 items known" in capsys.readouterr().out
    assert main(["risk", str(path), *COLUMNS, "--max-risk", "0.01", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["gate"]["passed"] is False


def test_requirements_come_from_a_file(path, tmp_path, capsys):
    wanted, out = tmp_path / "requirements.txt", tmp_path / "release.csv"
    wanted.write_text("i00|i05\n")
    asked = ["-k", "8", "--requirements", str(wanted), "--out", str(out)]
    assert main(["anonymize", str(path), *COLUMNS, *asked, "--method", "pcta"]) == 0
    assert "privacy-requirements k=8, requirements=1: holds" in capsys.readouterr().out
    assert pl.read_csv(out).height == 300


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--set-sep", "("], "set_sep must be"),
        (["--max-size", "3"], "not with a column of sets"),
    ],
)
def test_what_would_be_ignored_is_refused(path, capsys, more, text):
    assert main(["risk", str(path), *COLUMNS, *more]) == 2
    assert text in capsys.readouterr().err


def test_a_separator_needs_sets(path, capsys):
    assert main(["verify", str(path), "--qi", "items", "-k", "2", "--set-sep", ";"]) == 2
    assert "goes with a column of sets" in capsys.readouterr().err
    assert main(["learn", str(path), *COLUMNS, "-k", "2", "--model", str(path) + ".json"]) == 2
    assert "a column of sets is not taken here" in capsys.readouterr().err


def test_infer_finds_the_sets_and_its_schema_releases_them(path, tmp_path, capsys):
    schema, out = tmp_path / "schema.yaml", tmp_path / "release.csv"
    assert main(["infer", str(path), "--out", str(schema)]) == 0
    capsys.readouterr()
    assert "kind: set" in schema.read_text()
    asked = ["--schema", str(schema), "--method", "itemsets", "--out", str(out)]
    assert main(["anonymize", str(path), *asked, "--set", "effort=fast"]) == 0
    assert "km-anonymity k=5: holds" in capsys.readouterr().out
    assert main(["verify", str(out), "--schema", str(schema)]) == 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--method", "apriori"], "hierarchy of the items"),
        (["--method", "mondrian"], "recodes no sets"),
        (["--partitions", "2"], "--partitions"),
        (["--suppressed", "star"], "--suppressed"),
        (["--set-sep", "json"], "in JSON"),
        (["--sensitive", "items"], "items"),
    ],
)
def test_what_is_refused_writes_nothing_and_tells_no_item(path, tmp_path, capsys, words, text):
    out = tmp_path / "release.csv"
    asked = ["anonymize", str(path), *COLUMNS, "-k", "5", "--m", "2", "--out", str(out)]
    assert main([*asked, *words]) == 2
    told = capsys.readouterr()
    assert text in told.err
    assert "i05" not in told.err + told.out
    assert not out.exists()


def test_more_records_than_there_are_is_no_solution(path, tmp_path, capsys):
    out = tmp_path / "release.csv"
    assert main(["anonymize", str(path), *COLUMNS, "-k", "400", "--m", "1", "--out", str(out)]) == 1
    assert "fewer than k = 400" in capsys.readouterr().err
    assert not out.exists()


def test_methods_for_sets_need_a_set(tmp_path, capsys):
    table = tmp_path / "plain.csv"
    pl.DataFrame({"age": [1, 1, 2, 2]}).write_csv(table)
    out = tmp_path / "out.csv"
    words = ["--qi", "age", "-k", "2", "--method", "coat", "--out", str(out)]
    assert main(["anonymize", str(table), *words]) == 2
    assert "recodes sets of items" in capsys.readouterr().err
    assert not out.exists()


def test_attacks_refuse_sets(path, capsys):
    assert main(["risk", str(path), *COLUMNS, "--release", str(path)]) == 2
    told = capsys.readouterr()
    assert "sets" in told.err or "--release" in told.err
    assert "i05" not in told.err + told.out
