"""The command `settle`, and `drift` on encoded records."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter

import pytest

pytestmark = pytest.mark.local("settle")


@pytest.fixture
def fleet(tmp_path, run):
    """Return a model, and what devices sent."""
    table, model, sent = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "sent.jsonl"
    rows = [f"{20 + i * 7 % 40},P{i % 3},{i % 5}\n" for i in range(400)]
    table.write_text("age,place,use\n" + "".join(rows))
    flags = ("--qi", "age,place", "--neutral", "use", "--numeric", "age", "-k", 4)
    assert run("learn", table, *flags, "--model", model).code == 0
    part = tmp_path / "part.csv"
    part.write_text("age,place,use\n" + "".join(rows[:90]))
    assert run("encode", model, part, "--out", sent).code == 0
    return model, sent


def test_a_batch_keeps_the_promise(tmp_path, run, fleet):
    model, sent = fleet
    out = tmp_path / "batch.csv"
    answer = run("settle", model, sent, "--out", out, "--json")
    found = json.loads(answer.out)
    assert answer.code == 0
    assert (found["records"], found["released"], found["suppressed"]) == (90, 90, 0)
    with out.open(encoding="utf-8") as file:
        classes = Counter((row["age"], row["place"]) for row in csv.DictReader(file))
    assert min(classes.values()) >= 4
    assert found["verification"]["holds"]


def test_small_classes_wait_in_a_file(tmp_path, run, fleet):
    model, sent = fleet
    out, waiting = tmp_path / "batch.jsonl", tmp_path / "waiting.jsonl"
    found = json.loads(run("settle", model, sent, "--out", out, "--waiting", waiting, "--json").out)
    held = waiting.read_text(encoding="utf-8").count("\n")
    assert found["waiting"] == held
    assert found["released"] + held == 90
    before = waiting.read_bytes()
    again = run("settle", model, sent, "--out", out, "--waiting", waiting)
    assert again.code == 0
    assert "these files were settled before; nothing was released again" in again.out
    assert waiting.read_bytes() == before
    os.utime(sent, (1, 1))  # as another day's file
    again = json.loads(run("settle", model, sent, "--out", out, "--waiting", waiting, "--json").out)
    assert again["records"] == 90 + held


def test_what_is_no_record_is_refused_by_its_line(tmp_path, run, fleet):
    model, _ = fleet
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"age": "20", "place": "P1"}\nAlice\n')
    answer = run("settle", model, bad, "--out", tmp_path / "o.csv")
    assert answer.code == 2
    assert "line 2" in answer.err
    assert "Alice" not in answer.err
    assert not (tmp_path / "o.csv").exists()


def test_drift_of_what_devices_sent_says_so_with_its_exit_code(tmp_path, run, fleet):
    model, sent = fleet
    assert run("drift", model, sent, "--encoded").code == 0
    other = tmp_path / "other.jsonl"
    other.write_text('{"age": "*", "place": "*"}\n' * 100)
    answer = run("drift", model, other, "--encoded", "--json")
    assert answer.code == 1
    assert json.loads(answer.out)["learn_again"] is True
