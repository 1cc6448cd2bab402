"""What the command prints of blank cells and of the distance from the optimum."""

import json

import pytest

from shoal.cli.main import main

ROWS = [("20", "a"), ("20", "a"), ("31", "a"), ("31", "b"), ("45", "b"), ("46", "b"), ("46", "b")]
QUASI = ("--qi", "n,c", "--numeric", "n", "--categorical", "c", "--no-infer", "-k", "2")


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("n,c\n" + "".join(f"{n},{c}\n" for n, c in ROWS), encoding="utf-8")
    return place


def released(table, *words):
    """Run `anonymize` and return what it wrote."""
    out = table.with_name("o.csv")
    assert main(["anonymize", str(table), *QUASI, *words, "--out", str(out)]) == 0
    return [tuple(line.split(",")) for line in out.read_text("utf-8").splitlines()[1:]]


def test_blank_cells_are_listed_by_column(table, capsys):
    rows = released(table, "--method", "local-suppression")
    blanks = [sum(row[j] == "*" for row in rows) for j in range(2)]
    assert min(rows.count(row) for row in rows) >= 2
    printed = capsys.readouterr().out
    assert f"{sum(blanks)} of 14 cells: n {blanks[0]}, c {blanks[1]}" in printed
    assert "values as they are" in printed


def test_blank_cells_stand_in_json(table, capsys):
    rows = released(table, "--method", "local-suppression", "--json")
    told = json.loads(capsys.readouterr().out)
    assert sum(told["blanked"].values()) == sum(cell == "*" for row in rows for cell in row)
    assert set(told["blanked"]) == {"n", "c"}


def test_other_methods_say_nothing_of_blanks(table, capsys):
    released(table, "--method", "mondrian", "--json")
    assert "blanked" not in json.loads(capsys.readouterr().out)


def test_the_distance_from_the_optimum_is_printed(table, capsys):
    words = ("--method", "refine", "--labels", "tight", "--bound", "20")
    released(table, *words)
    assert "at most" in capsys.readouterr().out
    released(table, *words, "--json")
    told = json.loads(capsys.readouterr().out)["bound"]
    assert told["k"] == 2
    assert told["least"] <= told["lost"] + 1e-9


@pytest.mark.parametrize("words", [("--bound", "0"), ("--bound", "-3")])
def test_a_bound_without_time_is_refused(table, capsys, words):
    out = table.with_name("o.csv")
    assert main(["anonymize", str(table), *QUASI, *words, "--out", str(out)]) == 2
    assert "bound must be a number of seconds above 0" in capsys.readouterr().err
    assert not out.exists()


def test_blanks_have_no_centroids(table, capsys):
    out = table.with_name("o.csv")
    words = ("--method", "local-suppression", "--release", "aggregate")
    assert main(["anonymize", str(table), *QUASI, *words, "--out", str(out)]) == 2
    assert "it has no centroids" in capsys.readouterr().err
    assert not out.exists()
