"""The command `verify`."""

from __future__ import annotations

import json

import pytest
from tests.naive import release as naive

TEXT = (
    "name,age,zip,dx,pay\n"
    + "".join(f"Zq{i},{300 + i % 9},Z{i % 3},D{i % 4},{i * 7}\n" for i in range(60))
)  # fmt: skip
FLAGS = ("--qi", "age,zip", "--numeric", "age", "--sensitive", "dx")


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text(TEXT)
    return place


def test_verify_says_safe_and_not_safe(tmp_path, table, run):
    flags = ("--qi", "age,zip", "--sensitive", "dx")
    out = tmp_path / "o.csv"
    run("anonymize", table, *FLAGS, "-k", 5, "--out", out, "--quiet")
    safe = run("verify", out, *flags, "-k", 5, "--json")
    assert (safe.code, safe.err) == (0, "")
    found = json.loads(safe.out)
    assert {"holds", "records", "classes", "smallest_class", "violating_records", "privacy"} <= set(
        found
    )
    assert found["holds"] is True
    assert found["violating_records"] == 0
    unsafe = run("verify", table, *flags, "-k", 7, "--json")
    assert unsafe.code == 1
    rows = naive.read(table)
    promise = [{"model": "k-anonymity", "k": 7}]
    assert json.loads(unsafe.out)["violating_records"] == naive.broken(
        rows, ("age", "zip"), promise, columns={}
    )
    assert "NOT safe" in run("verify", table, *flags, "-k", 7).out
    assert run("verify", table, *flags, "-k", 7, "--quiet") == (1, "", "")


@pytest.mark.parametrize("ending", ["\n", "\n\n", "\n\n\n", "\r\n\r\n", ""])
def test_verify_does_not_take_blank_lines_at_the_end_for_records(tmp_path, run, ending):
    place = tmp_path / "t.csv"
    place.write_bytes(b"age,zip\n41,Za\n41,Za\n41,Za" + ending.encode())
    found = json.loads(run("verify", place, "--qi", "age,zip", "-k", 3, "--json").out)
    assert (found["records"], found["classes"], found["holds"]) == (3, 1, True)


def test_blanked_cells_pass_only_where_that_is_asked_for(tmp_path, run):
    place = tmp_path / "t.csv"
    place.write_text("zip,dx\n" + "Za,flu\nZa,gout\n" + "Zb,\n" * 3)
    flags = (place, "--qi", "zip", "--sensitive", "dx", "--l", 2, "--quiet", "--engine", "local")
    assert run("verify", *flags).code == 1
    assert run("verify", *flags, "--blanked").code == 0


@pytest.mark.parametrize("flag", [("--neutral", "pay"), ("--driver-rows", 3), ("--out", "x")])
def test_options_of_other_commands_are_no_options_here(table, run, flag):
    answer = run("verify", table, *FLAGS, "-k", 2, *flag)
    assert answer.code == 2
    assert f"no option {flag[0]}" in answer.err


def test_a_promise_is_needed(table, run):
    answer = run("verify", table, *FLAGS)
    assert answer.code == 2
    assert "no promise was given" in answer.err
