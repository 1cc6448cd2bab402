"""The Python face: a with block, a limit, and every statistic."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("opendp", reason="needs the extra shoal[dp]")

from shoal.core.errors import InputError, MethodError
from shoal.dp import columns
from shoal.dp.budget import Budget
from shoal.dp.errors import BudgetError

PEOPLE = pl.DataFrame({"age": [20, 30, 40, 50, 60] * 100, "sex": ["F", "M"] * 250})


@pytest.fixture(autouse=True)
def no_ledger_of_the_house(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SHOAL_LEDGER", raising=False)


def test_a_budget_is_spent_and_then_refuses():
    with Budget(PEOPLE, epsilon=1.0) as budget:
        for _ in range(5):
            budget.mean("age", bounds=(0, 120), epsilon=0.2)
        assert budget.remaining == 0.0
        assert budget.spent["epsilon"] == 1.0
        with pytest.raises(BudgetError, match=r"epsilon 0.1 was asked for, 0 is left"):
            budget.count(epsilon=0.1)
        assert len(budget.log) == 6


def test_every_statistic_has_a_method():
    age = {"bounds": (0, 120), "epsilon": 1.0}
    with Budget(PEOPLE, epsilon=100.0) as budget:
        found = [
            budget.count(epsilon=1.0),
            budget.sum("age", **age),
            budget.mean("age", **age),
            budget.min("age", **age),
            budget.max("age", **age),
            budget.variance("age", **age),
            budget.moment("age", order=3, **age),
            budget.quantile("age", alpha=0.5, **age),
            budget.histogram("sex", categories=["F", "M"], epsilon=1.0),
        ]
        assert budget.spent["epsilon"] == len(found)


def test_a_crash_between_charge_and_answer_costs_budget(monkeypatch: pytest.MonkeyPatch):
    with Budget(PEOPLE, epsilon=1.0) as budget:
        monkeypatch.setattr(columns.Columns, "totals", _crash)
        with pytest.raises(RuntimeError):
            budget.count(epsilon=0.4)
        assert budget.remaining == 0.6


def _crash(*_: object) -> None:
    raise RuntimeError("power cut")


def test_a_fault_of_the_question_costs_nothing():
    with Budget(PEOPLE, epsilon=1.0) as budget:
        for question in (
            lambda: budget.mean("age", epsilon=0.5),
            lambda: budget.mean("sex", bounds=(0, 1), epsilon=0.5),
            lambda: budget.mean("nope", bounds=(0, 1), epsilon=0.5),
            lambda: budget.mean("age", bounds=(0, 1), epsilon=0.5, seed=3),
        ):
            with pytest.raises(MethodError):
                question()
        assert budget.remaining == 1.0


def test_a_ledger_remembers_across_blocks_and_orders_of_rows(tmp_path: Path):
    place = tmp_path / "ledger.sqlite"
    with Budget(PEOPLE, epsilon=1.0, ledger=place) as budget:
        budget.count(epsilon=0.75)
    with Budget(PEOPLE.reverse(), ledger=place) as budget:
        assert budget.remaining == 0.25
    with (
        pytest.raises(BudgetError, match="another limit"),
        Budget(PEOPLE, epsilon=9.0, ledger=place),
    ):
        pass
    with (
        pytest.raises(BudgetError, match="no budget was set"),
        Budget(PEOPLE.head(3), ledger=place),
    ):
        pass


def test_a_name_keeps_the_budget_of_a_growing_table(tmp_path: Path):
    place = tmp_path / "ledger.sqlite"
    with Budget(PEOPLE, epsilon=1.0, ledger=place, dataset="register") as budget:
        budget.count(epsilon=0.5)
    grown = pl.concat([PEOPLE, PEOPLE])
    with Budget(grown, ledger=place, dataset="register") as budget:
        assert budget.remaining == 0.5


def test_the_ledger_of_the_house_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("SHOAL_LEDGER", str(tmp_path / "house.sqlite"))
    with Budget(PEOPLE, epsilon=1.0) as budget:
        budget.count(epsilon=0.5)
    assert (tmp_path / "house.sqlite").exists()


def test_people_are_protected_in_every_question():
    with Budget(PEOPLE, epsilon=2.0, entity="sex", max_rows=4) as budget:
        assert budget.count(epsilon=1.0).scale == 4.0


def test_gaussian_and_concentrated_budgets():
    with Budget(PEOPLE, epsilon=2.0, delta=1e-6) as budget:
        found = budget.sum("age", bounds=(0, 100), epsilon=1.0, delta=5e-7)
        assert found.mechanism == "discrete gaussian"
        assert budget.spent == {"epsilon": 1.0, "delta": 5e-7, "rho": 0.0}
    with Budget(PEOPLE, epsilon=2.0, delta=1e-6, accounting="zcdp") as budget:
        for _ in range(100):  # basic composition would allow 20 of them
            budget.count(epsilon=0.1)
        assert budget.remaining > 0


def test_other_frames_are_taken():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    with Budget(pandas.DataFrame({"age": [1, 2]}), epsilon=1.0) as budget:
        budget.count(epsilon=1.0)
    with Budget(PEOPLE.lazy(), epsilon=1.0) as budget:
        budget.count(epsilon=1.0)
    with pytest.raises(InputError, match="not a table"):
        Budget([1, 2], epsilon=1.0)


def test_a_closed_budget_and_one_without_a_limit_are_refused():
    budget = Budget(PEOPLE, epsilon=1.0)
    with pytest.raises(MethodError, match="with block"):
        budget.count(epsilon=0.1)
    with pytest.raises(MethodError, match="needs an epsilon"):
        Budget(PEOPLE)
    with pytest.raises(MethodError, match="no such accounting"):
        Budget(PEOPLE, epsilon=1.0, accounting="renyi")


def test_a_limit_that_is_misspelt_is_not_ignored():
    with pytest.raises(TypeError, match="epsilom"):
        Budget(PEOPLE, epsilom=1.0)
    with pytest.raises(MethodError, match="pure accounting takes no delta"):
        Budget(PEOPLE, epsilon=1.0, delta=1e-6, accounting="pure")


def test_marks_of_missing_values_hold_for_every_question():
    table = pl.DataFrame({"x": ["1", "?", "n/a", "3"] * 200})
    with Budget(table, epsilon=1000.0, markers=["?", "n/a"]) as budget:
        found = budget.count("x", epsilon=400.0)
        assert found.value == pytest.approx(400, abs=1)
        assert found.results[0].missing == pytest.approx(400, abs=1)
        own = budget.count("x", epsilon=400.0, markers=["?"])
        assert own.value == pytest.approx(600, abs=1)


def test_an_account_that_disappears_is_no_budget(tmp_path: Path):
    place = tmp_path / "ledger.sqlite"
    with Budget(PEOPLE, epsilon=1.0, ledger=place) as budget:
        with closing(sqlite3.connect(place)) as connection, connection:
            connection.execute("DELETE FROM shoal_entry")
            connection.execute("DELETE FROM shoal_account")
        with pytest.raises(BudgetError, match="disappeared"):
            _ = budget.account


def test_arrow_tables_are_taken():
    with Budget(PEOPLE.to_arrow(), epsilon=1.0) as budget:
        assert budget.count(epsilon=1.0).remaining == 0.0
