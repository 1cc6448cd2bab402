"""The command `drift`."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.local("drift")


@pytest.fixture
def model(tmp_path, run):
    table, place = tmp_path / "old.csv", tmp_path / "m.json"
    table.write_text("age,place\n" + "".join(f"{20 + i % 4},P{i % 3}\n" for i in range(300)))
    flags = ("--qi", "age,place", "--numeric", "age", "-k", 4, "--model", place, "--quiet")
    assert run("learn", table, *flags).code == 0
    return place


def test_the_same_records_fit(tmp_path, run, model):
    found = json.loads(run("drift", model, tmp_path / "old.csv", "--json").out)
    assert found["learn_again"] is False
    assert found["records"] == 300
    lines = run("drift", model, tmp_path / "old.csv").out.splitlines()
    assert lines == ["learn again: no", *(f"  {reason}" for reason in found["why"])]


def test_new_values_ask_to_learn_again_and_are_not_shown(tmp_path, run, model):
    other = tmp_path / "new.csv"
    other.write_text("age,place\n" + "21,ZqLima\n" * 200)
    found = json.loads(run("drift", model, other, "--json").out)
    assert found["learn_again"] is True
    answer = run("drift", model, other)
    assert answer.out.splitlines()[0] == "learn again: yes"
    assert "ZqLima" not in answer.out


def test_the_file_is_read_as_it_is_said(tmp_path, run, model):
    other = tmp_path / "new.csv"
    other.write_text("a title\nage;place\n" + "21;P1\n" * 30)
    assert run("drift", model, other, "--skip-lines", 1, "--sep", ";").code == 1
    assert run("drift", model, other, "--sep", ";").code == 2


@pytest.mark.parametrize("flags", [("none.csv",), ("old.csv", "--false-alarm", 2)])
def test_a_question_that_cannot_be_asked_gets_one_line(tmp_path, run, model, monkeypatch, flags):
    monkeypatch.chdir(tmp_path)
    answer = run("drift", "m.json", *flags)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
