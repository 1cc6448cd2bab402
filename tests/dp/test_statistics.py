"""Answers: near the truth with much budget, charged first, honest about what they are."""

from __future__ import annotations

import json

import polars as pl
import pytest

pytest.importorskip("opendp", reason="needs the extra shoal[dp]")

from tests.dp.tables import ask

from shoal.core.errors import MethodError
from shoal.dp import statistics
from shoal.dp.accounting import Accounting, Loss, open_account
from shoal.dp.errors import BudgetError
from shoal.dp.question import question_from

PEOPLE = pl.DataFrame(
    {
        "age": [20, 30, 40, 50, 60] * 400,
        "cost": [1.25, 2.5, None, 10.0, 400.0] * 400,
        "sex": ["F", "M", "F", "M", "X"] * 400,
    }
)
MUCH = 500.0


@pytest.mark.parametrize(
    ("statistic", "options", "true"),
    [
        ("sum", {}, 80_000),
        ("mean", {}, 40.0),
        ("variance", {}, 200.0),
        ("moment", {"order": 1}, 40.0),
        ("moment", {"order": 2}, 1800.0),
        ("moment", {"order": 4, "central": True}, 68_000.0),
        ("quantile", {"alpha": 0.3}, 30),
        ("min", {}, 20),
        ("max", {}, 60),
    ],
)
@pytest.mark.parametrize("accounting", ["pure", "approximate", "zcdp"])
def test_with_much_budget_the_answer_is_nearly_exact(statistic, options, true, accounting):
    delta = {} if accounting == "pure" else {"delta": 1e-6}
    found = ask(PEOPLE, statistic, "age", bounds=(0, 100), epsilon=MUCH, accounting=accounting,
                **delta, **options)  # fmt: skip
    assert found.value == pytest.approx(true, rel=0.02)
    document = found.to_document()
    assert json.loads(json.dumps(document)) == document
    assert {"statistic", "value", "epsilon", "delta", "mechanism", "scale", "accuracy",
            "remaining"} <= set(document)  # fmt: skip
    assert document["accuracy"]["confidence"] == 0.95


def test_groups_are_charged_once_and_others_are_told():
    account = open_account("d", Accounting.PURE, epsilon=1.0)
    charged: list[Loss] = []

    def charge(cost: Loss, told: dict):
        charged.append(cost)
        return account.charged(cost)

    question = question_from(
        "count", None, {"epsilon": 1.0, "by": "sex", "groups": ["F", "M", "D"]}
    )
    found = statistics.answer_question(PEOPLE.lazy(), question, account=account, charge=charge)
    assert charged == [Loss.of(epsilon=1.0)]
    assert found.value["F"] == pytest.approx(800, abs=40)
    assert found.value["D"] == pytest.approx(0, abs=40)
    assert found.others.value == pytest.approx(400, abs=40)
    assert found.group("M").value == pytest.approx(800, abs=40)
    with pytest.raises(MethodError, match="not named"):
        found.group("X")


def test_the_charge_comes_before_any_data_is_added_up(monkeypatch: pytest.MonkeyPatch):
    order: list[str] = []
    real = statistics.Columns.totals

    def totals(self, recipe):
        order.append("data")
        return real(self, recipe)

    monkeypatch.setattr(statistics.Columns, "totals", totals)
    account = open_account("d", Accounting.PURE, epsilon=1.0)

    def charge(cost: Loss, told: dict):
        order.append("charge")
        return account.charged(cost)

    def question(epsilon: float):
        return question_from("count", None, {"epsilon": epsilon})

    statistics.answer_question(PEOPLE.lazy(), question(0.5), account=account, charge=charge)
    assert order == ["charge", "data"]
    with pytest.raises(BudgetError):
        statistics.answer_question(PEOPLE.lazy(), question(1.5), account=account, charge=charge)
    assert order == ["charge", "data", "charge"]


def test_missing_cells_are_counted_free_of_charge():
    found = ask(PEOPLE, "mean", "cost", bounds=(0, 500), epsilon=MUCH)
    assert found.results[0].missing == pytest.approx(400, abs=1)
    assert found.value == pytest.approx(413.75 / 4, rel=0.01)
    assert found.epsilon == MUCH
    dropped = ask(PEOPLE, "mean", "cost", bounds=(0, 500), epsilon=MUCH, missing="drop")
    assert dropped.results[0].missing is None
    filled = ask(PEOPLE, "mean", "cost", bounds=(0, 500), epsilon=MUCH, missing="lower")
    assert filled.value == pytest.approx(413.75 / 5, rel=0.01)
    assert any("filled" in note for note in filled.notes)


@pytest.mark.parametrize("statistic", ["mean", "variance", "quantile", "min", "max"])
def test_an_empty_table_gives_no_answer_instead_of_a_random_one(statistic: str):
    options = {"alpha": 0.5} if statistic == "quantile" else {}
    empty = PEOPLE.clear()
    values = {
        ask(empty, statistic, "age", bounds=(0, 100), epsilon=20.0, **options).value
        for _ in range(5)
    }
    assert values == {None}


@pytest.mark.parametrize("statistic", ["count", "sum"])
def test_an_empty_table_counts_and_sums_to_nothing_but_noise(statistic: str):
    options = {} if statistic == "count" else {"bounds": (0, 100)}
    found = ask(PEOPLE.clear(), statistic, "age", epsilon=MUCH, **options)
    assert abs(found.value) <= 2


def test_a_sum_beyond_64_bits_is_right():
    table = pl.DataFrame({"x": [2**62] * 64})
    found = ask(table, "sum", "x", bounds=(0, 2**62), epsilon=MUCH)
    assert isinstance(found.value, int)
    assert abs(found.value - 2**68) <= 8 * found.within  # by chance once in 10**10 runs
    assert found.value > 2**64
    assert found.within < 2**62


def test_a_sum_of_whole_numbers_is_whole_and_its_scale_is_the_textbook_one():
    found = ask(PEOPLE, "sum", "age", bounds=(0, 100), epsilon=0.5)
    assert isinstance(found.value, int)
    assert found.scale == 200.0
    assert found.mechanism == "discrete laplace"
    people = ask(PEOPLE, "sum", "age", bounds=(0, 100), epsilon=0.5, entity="sex", max_rows=3)
    assert people.scale == 600.0
    assert "at most 3 rows" in people.privacy_unit


def test_a_minimum_says_that_it_is_none():
    found = ask(PEOPLE, "min", "age", bounds=(0, 100), epsilon=1.0)
    assert any("near-minimum, not the minimum" in note for note in found.notes)
    assert found.unit == "records in rank"
    assert "near-minimum" in str(found)


def test_a_histogram_has_cells_for_everything():
    found = ask(PEOPLE, "histogram", "age", bounds=(25, 55), bins=3, epsilon=MUCH)
    assert list(found.value) == ["< 25", "[25, 35)", "[35, 45)", "[45, 55]", "> 55"]
    assert list(found.value.values()) == pytest.approx([400] * 5, abs=1)
    named = ask(PEOPLE, "histogram", "sex", categories=["F", "M"], epsilon=MUCH)
    assert named.value == {"F": 800, "M": 800, "(others)": 400}
    both = ask(PEOPLE, "histogram", "age", bounds=(0, 100), bins=1, by="sex", groups=["F"],
               epsilon=MUCH)  # fmt: skip
    assert both.value["F / [0, 100]"] == 800
    assert both.value["(others) / [0, 100]"] == 1200


def test_amounts_must_fit_the_accounting():
    with pytest.raises(MethodError, match="pure epsilon"):
        ask(PEOPLE, "count", epsilon=1.0, delta=1e-6)
    with pytest.raises(MethodError, match="zcdp"):
        ask(PEOPLE, "count", rho=0.1)
    found = ask(PEOPLE, "count", rho=0.1, accounting="zcdp")
    assert found.rho == 0.1
    assert found.mechanism == "discrete gaussian"
    ranked = ask(PEOPLE, "min", "age", bounds=(0, 99), epsilon=1.0, delta=1e-6,
                 accounting="approximate")  # fmt: skip
    assert ranked.delta == 0.0
    assert any("delta was not used" in note for note in ranked.notes)


def test_the_first_central_moment_is_not_worth_any_budget():
    with pytest.raises(MethodError, match="is 0"):
        ask(PEOPLE, "moment", "age", bounds=(0, 99), epsilon=1.0, order=1, central=True)


def test_text_and_prose_hold_the_error_bar_and_the_price():
    text = str(ask(PEOPLE, "mean", "age", bounds=(0, 100), epsilon=0.5))
    for word in ("mean of age", "within ±", "with 95 %", "epsilon 0.5", "left", "clamped"):
        assert word in text
    grouped = str(ask(PEOPLE, "count", epsilon=1.0, by="sex", groups=["F"]))
    assert "others:" in grouped
