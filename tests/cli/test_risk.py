"""The command `risk`."""

from __future__ import annotations

import json

import pytest
from tests.naive import release as naive

FLAGS = ("--qi", "age,zip", "--numeric", "age", "--sensitive", "dx")


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    rows = (f"{300 + i % 9},Z{i % 3},D{i % 4},{1 + i % 2}\n" for i in range(60))
    place.write_text("age,zip,dx,home\n" + "".join(rows) + "999,Zz,D0,1\n")
    return place


def test_people_read_what_programs_read(table, run):
    document = json.loads(run("risk", table, *FLAGS, "--json").out)
    groups = naive.classes(naive.read(table), ("age", "zip"))
    assert document["classes"] == len(groups)
    lines = run("risk", table, *FLAGS).out.splitlines()
    assert lines[0] == f"61 records in {len(groups)} classes, 1 unique"
    assert f"  global risk   {len(groups) / 61:.4%} " in "\n".join(lines)
    found = {line[2:16].strip(): line[16:] for line in lines[1:]}
    assert found["in classes"] == ", ".join(
        f"under {k}: {sum(len(g) for g in groups.values() if len(g) < int(k)):,}"
        for k in document["below"]
    )
    assert found["prosecutor"].endswith("100.00% at most")
    assert "journalist" not in found
    shares = {name: facts["contribution"] for name, facts in document["columns"].items()}
    assert found["by column"] == ", ".join(f"{name} {x:.1%}" for name, x in shares.items())


@pytest.mark.parametrize(
    ("limit", "gate", "code", "verdict"),
    [(1, "maximum", 0, "passed"), (0.5, "maximum", 1, "NOT passed"), (0.5, "average", 0, "passed")],
)
def test_the_gate_is_an_exit_code(table, run, limit, gate, code, verdict):
    asked = ("risk", table, *FLAGS, "--max-risk", limit, "--gate", gate)
    answer = run(*asked)
    assert answer.code == code
    assert f"  gate          {verdict}" in answer.out
    found = json.loads(run(*asked, "--json").out)["gate"]
    assert found == {"measure": gate, "max_risk": limit, "passed": code == 0}


@pytest.mark.local("attacks")
def test_a_release_is_attacked_beside_its_table(tmp_path, table, run):
    out = tmp_path / "o.csv"
    run("anonymize", table, *FLAGS, "-k", 5, "--out", out, "--quiet")
    some = json.loads(run("risk", table, *FLAGS, "--release", out, "--json").out)["attacks"]
    asked = ("risk", table, *FLAGS, "--release", out, "--attacks")
    every = json.loads(run(*asked, "--json").out)["attacks"]
    assert {each["attack"] for each in some} < {each["attack"] for each in every}
    lines = run(*asked).out.splitlines()
    (head,) = [line for line in lines if line.startswith("  attack ")]
    assert head.split() == ["attack", "before", "after", "guessing"]


def test_a_population_says_what_a_journalist_finds(table, run):
    lines = run("risk", table, *FLAGS, "--population", table, "--household", "home").out
    assert "  journalist    " in lines
    assert "100.00% at most" in lines


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--attacks",), "--class-files and --attacks go with --release FILE"),
        (
            ("--register", "t.csv"),
            "--class-files and --attacks go with --release FILE",
        ),
        (("--release", "t.csv", "--engine", "spark"), "--engine: attacks need the local engine"),
        (("--release", "t.csv", "--register", "t.csv"), "the key column that joins it go together"),
        (("--max-risk", 2), "max-risk must be a number from 0 to 1"),
        (("--gate", "zap", "--max-risk", 0.1), "the gate looks at the maximum or the average risk"),
        (("--fold-case",), "no option --fold-case"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
@pytest.mark.local("attacks")
def test_a_question_that_cannot_be_asked_gets_one_line(
    tmp_path, table, run, monkeypatch, flags, words
):
    monkeypatch.chdir(tmp_path)
    answer = run("risk", table, *FLAGS, *flags)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert answer.err.count("\n") == 1
