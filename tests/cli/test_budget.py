"""The commands `budget …`."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("opendp")

from shoal.cli.budget import _entry

pytestmark = pytest.mark.local("differentially private statistics")


@pytest.fixture
def ledger(tmp_path):
    return ("--ledger", tmp_path / "l.db")


def test_a_limit_is_set_shown_and_logged(run, ledger):
    assert "no such ledger" in run("budget", "show", *ledger).err
    line = "d: epsilon 0 of 2 spent, 2 of epsilon left (pure)\n"
    assert run("budget", "set", "--dataset", "d", "--epsilon", 2, *ledger) == (0, line, "")
    assert run("budget", "show", *ledger).out == line
    assert run("budget", "show", "--dataset", "d", *ledger).out == line
    assert run("budget", "log", "--dataset", "e", *ledger).out == "nothing was charged yet\n"
    (entry,) = json.loads(run("budget", "log", *ledger, "--json").out)["entries"]
    assert (entry["number"], entry["epsilon"]) == (1, 2)
    assert f"  {entry['event']}" in run("budget", "log", *ledger).out


def test_zero_concentrated_budgets_count_rho(run, ledger):
    asked = ("--dataset", "d", "--rho", 1, "--delta", 1e-6, "--accounting", "zcdp", *ledger)
    assert run("budget", "set", *asked).out.startswith("d: rho 0 of 1 spent, ")
    (account,) = json.loads(run("budget", "show", *ledger, "--json").out)["accounts"]
    assert account["accounting"] == "zcdp"


def test_a_table_is_known_by_its_fingerprint(run, tmp_path, ledger):
    table = tmp_path / "t.csv"
    table.write_text("age\n41\n")
    named = json.loads(run("budget", "set", table, "--epsilon", 1, *ledger, "--json").out)
    assert named["dataset"] not in ("", str(table))
    table.write_text("age\n42\n")
    other = json.loads(run("budget", "set", table, "--epsilon", 1, *ledger, "--json").out)
    assert named["dataset"] != other["dataset"]


def test_set_needs_a_table_or_a_name(run, ledger):
    answer = run("budget", "set", "--epsilon", 1, *ledger)
    assert (answer.code, answer.err) == (2, "shoal: budget set: name a table, or --dataset NAME\n")


def test_a_line_of_the_log_names_amounts_and_question():
    facts = {
        "number": 7, "at": "2026-01-31T10:11:12.5", "who": "u", "event": "charge",
        "epsilon": 0.5, "delta": 0, "rho": None,
        "question": {"statistic": "mean", "column": "age"},
    }  # fmt: skip
    assert _entry(facts) == "   7  2026-01-31T10:11:12  u  charge  epsilon 0.5      mean age"
    bare = {**facts, "epsilon": None, "question": {"statistic": "count", "column": None}}
    assert _entry(bare).endswith("charge                   count")
