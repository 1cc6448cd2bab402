"""Small bars on a terminal: as long as their share, never wider, in letters that it can write."""

from __future__ import annotations

import io
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.cli import bars, standard
from shoal.cli.bars import WIDTH, bar, bar_lines


@given(st.floats(-1, 2), st.booleans())
def test_a_bar_is_never_wider_than_its_room_and_seen_where_something_is(share, blocks):
    drawn = bar(share, blocks=blocks)
    assert len(drawn) <= WIDTH
    assert bool(drawn) == (share > 0)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_is_not_drawn_shorter(one, other):
    low, high = sorted((one, other))
    assert len(bar(low)) <= len(bar(high))


def test_the_longest_fills_the_room_and_names_stand_at_the_right():
    lines = bar_lines("sizes", [("1", 3, "three"), ("100+", 6, "six"), ("x", 0, "")], indent=10)
    assert lines == [
        "  sizes      1  " + "█" * 12 + " " * 12 + "  three",
        "          100+  " + "█" * 24 + "  six",
        "             x",
    ]
    assert bar_lines("none", [], indent=8) == []
    assert bar_lines("zero", [("a", 0, "0")], indent=8) == ["  zero  a" + " " * 28 + "0"]


@pytest.mark.parametrize(("encoding", "letter"), [("ascii", "#"), ("utf-8", "█"), ("cp1252", "#")])
def test_a_terminal_without_blocks_gets_plain_letters(monkeypatch, encoding, letter):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(standard, "answers", lambda: stream)
    (line,) = bar_lines("t", [("a", 1, "1")], indent=6)
    assert letter * WIDTH in line
    assert bars.standard.answers() is stream


def test_risk_draws_the_sizes_of_classes(run, tmp_path):
    table = tmp_path / "t.csv"
    pl.DataFrame({"age": [1] * 6 + [2] * 3 + [3]}).write_csv(table)
    lines = run("risk", table, "--qi", "age").out.splitlines()
    drawn = [line for line in lines if line.endswith("records") and ("█" in line or "#" in line)]
    assert [line.split()[-2] for line in drawn] == ["1", "3", "6"]
    assert drawn[0].startswith("  class of records")
    assert "class of" not in run("risk", table, "--qi", "age", "--json").out


def test_metrics_draw_what_each_column_lost(run, tmp_path):
    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    pl.DataFrame({"age": [*range(20)], "sex": list("ab") * 10}).write_csv(table)
    flags = ("--qi", "age,sex")
    assert run("anonymize", table, *flags, "-k", 5, "--out", out).code == 0
    lines = run("metrics", table, out, *flags).out.splitlines()
    found = json.loads(run("metrics", table, out, *flags, "--json").out)["column_loss"]
    order = sorted(found, key=lambda name: -found[name])
    assert [line.replace("lost in", "").split()[0] for line in lines[-2:]] == order
    assert lines[-2].startswith("  lost in")
