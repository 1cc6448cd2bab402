"""The command `infer`."""

from __future__ import annotations

import json

import pytest

import shoal


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    rows = (f"Zq{i},{20 + i % 40},{7000 + i % 90},{'ab'[i % 2]}\n" for i in range(400))
    place.write_text("name,age,zip,dx\n" + "".join(rows))
    return place


def test_people_read_a_line_for_each_column_and_the_first_sets(table, run):
    document = json.loads(run("infer", table, "--json").out)
    head, *lines = run("infer", table).out.splitlines()
    assert head == "400 records"
    for line, (name, facts) in zip(lines, document["columns"].items(), strict=False):
        assert line.split()[:4] == [
            name, facts["role"], facts["kind"], f"{facts['confidence']:.0%}",
        ]  # fmt: skip
        assert line.endswith(facts["why"])
    sets = [line for line in lines if " bits, " in line]
    assert len(sets) == min(12, len(document["sets"]))
    first = document["sets"][0]
    numbers = (
        f"{first['residual_entropy']:.2f} bits, {first['distinction']:.1%}, "
        f"{first['separation']:.2%}"
    )
    assert sets[0] == f"  {', '.join(first['columns'])}: {numbers}"


def test_the_proposed_schema_is_written_and_can_be_read(tmp_path, table, run):
    out = tmp_path / "s.yaml"
    answer = run("infer", table, "--out", out)
    assert answer.out.splitlines()[-1] == f"written: {out}"
    known = {attribute.name for attribute in shoal.Schema.load(out).attributes}
    assert known == {"name", "age", "zip", "dx"}
    assert "Zq" not in answer.out + out.read_text()


@pytest.mark.local("presets")
def test_a_preset_writes_the_table_after_its_steps(tmp_path, table, run):
    out, prepared = tmp_path / "s.yaml", tmp_path / "p.csv"
    asked = ("--preset", "hipaa-safe-harbor", "--out", out, "--prepared", prepared)
    answer = run("infer", table, *asked, "--as-of", "2026-01-31")
    assert answer.code == 0, answer.err
    assert answer.out.splitlines()[-2:] == [f"written: {out}", f"written: {prepared}"]
    assert "Zq" not in prepared.read_text()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--prepared", "p.csv"), "infer: --prepared goes with --preset"),
        (("--preset", "zap"), "zap"),
        (("--preset", "hipaa-safe-harbor", "--as-of", "31.1."), "--as-of: must be a day such as"),
        (("--preset", "hipaa-safe-harbor", "--engine", "spark"), "--preset needs the local engine"),
        (("--driver-rows", 3), "no option --driver-rows"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
@pytest.mark.local("presets")
def test_a_question_that_cannot_be_asked_writes_nothing(tmp_path, table, run, flags, words):
    answer = run("infer", table, *flags)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
