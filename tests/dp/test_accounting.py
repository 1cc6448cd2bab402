"""Amounts are exact, limits hold, and translations never promise too much."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import MethodError
from shoal.dp.accounting import (
    Accounting,
    Limit,
    Loss,
    epsilon_of,
    from_units,
    open_account,
    rho_of,
    to_units,
)
from shoal.dp.errors import BudgetError

amounts = st.integers(1, 10**6).map(lambda n: n / 1000)


@settings(deadline=None)
@given(costs=st.lists(amounts, max_size=30), limit=amounts)
def test_an_account_never_goes_over_its_limit(costs: list[float], limit: float):
    account = open_account("d", Accounting.PURE, epsilon=limit)
    spent = 0
    for cost in costs:
        try:
            account = account.charged(Loss.of(epsilon=cost))
            spent += to_units("epsilon", cost)
        except BudgetError:
            assert spent + to_units("epsilon", cost) > account.limit.epsilon
    assert account.spent.epsilon == spent <= account.limit.epsilon


@settings(deadline=None)
@given(amount=st.floats(1e-11, 1e5))
def test_costs_are_rounded_up_and_limits_down(amount: float):
    assert to_units("epsilon", amount, up=False) <= to_units("epsilon", amount)
    assert from_units("epsilon", to_units("epsilon", amount)) >= amount * (1 - 1e-15)


@pytest.mark.parametrize(
    ("accounting", "given_", "word"),
    [
        ("pure", {}, "needs an epsilon"),
        ("pure", {"epsilon": 0.0}, "above 0"),
        ("pure", {"epsilon": -1.0}, "above 0"),
        ("pure", {"epsilon": float("nan")}, "above 0"),
        ("pure", {"epsilon": float("inf")}, "above 0"),
        ("pure", {"epsilon": 1.0, "delta": 1e-6}, "no delta"),
        ("pure", {"epsilon": 1.0, "rho": 1.0}, "rho belongs"),
        ("approximate", {"epsilon": 1.0}, "needs a delta"),
        ("approximate", {"epsilon": 1.0, "delta": 1.0}, "delta must"),
        ("zcdp", {"epsilon": 1.0}, "needs a delta"),
        ("zcdp", {"epsilon": 1.0, "rho": 1.0, "delta": 1e-6}, "one of the two"),
    ],
)
def test_a_limit_that_cannot_be_meant_is_refused(accounting: str, given_: dict, word: str):
    with pytest.raises(MethodError, match=word):
        open_account("d", Accounting(accounting), **given_)


@settings(max_examples=15, deadline=None)
@given(epsilon=st.floats(0.01, 20), exponent=st.integers(3, 12))
def test_a_rho_never_costs_more_than_its_epsilon(epsilon: float, exponent: int):
    pytest.importorskip("opendp", reason="needs the extra shoal[dp]")
    delta = 10.0**-exponent
    rho = rho_of(epsilon, delta)
    assert 0.999 * epsilon < epsilon_of(rho, delta) <= epsilon


def test_many_gaussian_answers_cost_less_when_concentrated():
    """The reason for zero-concentrated accounting: a hundred answers, one budget."""
    pytest.importorskip("opendp", reason="needs the extra shoal[dp]")
    one = rho_of(0.1, 1e-6)
    assert epsilon_of(100 * one, 1e-6) < 0.2 * 100 * 0.1


def test_an_account_tells_what_is_left_in_epsilon():
    pytest.importorskip("opendp", reason="needs the extra shoal[dp]")
    account = open_account("d", Accounting.ZCDP, epsilon=1.0, delta=1e-6)
    assert account.remaining == pytest.approx(1.0, rel=1e-3)
    empty = account.charged(Loss(rho=account.limit.rho))
    assert empty.remaining == 0.0
    assert empty.to_document()["left"]["rho"] == 0.0


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ({}, "pure"), ({"epsilon": 1.0}, "pure"), ({"epsilon": 1.0, "delta": 0.0}, "pure"),
        ({"epsilon": 1.0, "delta": 1e-6}, "approximate"), ({"rho": 0.1, "delta": 1e-6}, "zcdp"),
        ({"epsilon": 1.0, "delta": 1e-6, "accounting": "zcdp"}, "zcdp"),
    ],
)  # fmt: skip
def test_a_limit_is_counted_in_the_plainest_way_that_fits(written, kind):
    assert str(Limit(**written).kind) == kind


def test_a_limit_opens_the_account_that_it_says():
    found = Limit(epsilon=2.0, delta=1e-6).account("d")
    assert found == open_account("d", Accounting.APPROXIMATE, epsilon=2.0, delta=1e-6)
    with pytest.raises(MethodError, match="a limit needs an epsilon"):
        Limit().account("d")


def test_an_accounting_that_does_not_exist_is_refused_at_once():
    with pytest.raises(MethodError, match="choose one of pure, approximate, zcdp"):
        Limit(epsilon=1.0, accounting="renyi")
    with pytest.raises(TypeError):
        Limit(epsilom=1.0)
