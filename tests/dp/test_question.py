"""Questions are checked in full before any data is touched."""

from __future__ import annotations

from fractions import Fraction

import pytest

from shoal.core.errors import MethodError
from shoal.dp.budget import question_from
from shoal.dp.question import named_groups


@pytest.mark.parametrize(
    ("statistic", "column", "options", "word"),
    [
        ("mean", "x", {"bounds": (0, 1)}, "an epsilon, or a rho"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": 1, "rho": 1}, "an epsilon, or a rho"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": 0}, "above 0"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": -1}, "above 0"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": float("nan")}, "above 0"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": float("inf")}, "above 0"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": 1e-9}, "drown"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": 1, "delta": 1.0}, "delta"),
        ("mean", "x", {"bounds": (0, float("inf")), "epsilon": 1}, "finite"),
        ("mean", "x", {"bounds": (float("nan"), 1), "epsilon": 1}, "finite"),
        ("mean", "x", {"bounds": (2, 1), "epsilon": 1}, "below"),
        ("mean", "x", {"epsilon": 1}, "never taken from the data"),
        ("mean", "x", {"lower": 1, "epsilon": 1}, "pairs"),
        ("mean", None, {"bounds": (0, 1), "epsilon": 1}, "needs a column"),
        ("mean", "x", {"bounds": (0, 1, 2), "epsilon": 1}, "pair"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": 1, "seed": 1}, "no such option: seed"),
        ("mode", "x", {"epsilon": 1}, "no such statistic"),
        ("quantile", "x", {"bounds": (0, 1), "epsilon": 1}, "needs an alpha"),
        ("quantile", "x", {"bounds": (0, 1), "epsilon": 1, "alpha": 0.0}, "alpha must"),
        ("quantile", "x", {"bounds": (0, 1), "epsilon": 1, "alpha": 1e-9}, "alpha must"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": 1, "alpha": 0.5}, "belongs to quantile"),
        ("moment", "x", {"bounds": (0, 1), "epsilon": 1}, "order from 1"),
        ("moment", "x", {"bounds": (0, 1), "epsilon": 1, "order": 7}, "order from 1"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": 1, "order": 2}, "belong to moment"),
        ("histogram", "x", {"epsilon": 1}, "categories, or bounds"),
        ("histogram", "x", {"epsilon": 1, "bounds": (0, 1), "categories": ["a"]}, "one of the two"),
        ("histogram", "x", {"epsilon": 1, "bounds": (0, 1), "bins": 0}, "bins must"),
        ("count", None, {"epsilon": 1, "by": "sex"}, "named in advance"),
        ("count", None, {"epsilon": 1, "by": "sex", "groups": ["a", "a"]}, "named twice"),
        ("count", None, {"epsilon": 1, "by": ["a"], "groups": {"b": ["1"]}}, "not among"),
        ("count", None, {"epsilon": 1, "by": ["a", "b"], "groups": ["1"]}, "several columns"),
        ("count", None, {"epsilon": 1, "entity": "id"}, "belong together"),
        ("count", None, {"epsilon": 1, "entity": "id", "max_rows": 0}, "max_rows must"),
        ("count", None, {"epsilon": 1, "where": "age >"}, "where"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": 1, "missing": "guess"}, "missing must"),
        ("mean", "x", {"bounds": (0, 1), "epsilon": 1, "missing": 2.0}, "within the bounds"),
        ("count", "x", {"epsilon": 1, "missing": 2.0}, "needs bounds"),
        ("count", None, {"epsilon": 1, "confidence": 1.0}, "confidence"),
    ],
)
def test_a_question_that_cannot_be_meant_is_refused(statistic, column, options, word):
    with pytest.raises(MethodError, match=word):
        question_from(statistic, column, options)


def test_all_faults_are_told_together():
    with pytest.raises(MethodError) as caught:
        question_from("mean", None, {"epsilon": -1, "bounds": (2, 1), "entity": "id"})
    assert str(caught.value).count(";") >= 3


def test_what_the_ledger_remembers_holds_no_compared_value():
    question = question_from(
        "mean", "age", {"bounds": (0, 120), "epsilon": 1, "where": "name = 'Alice' and age > 3"}
    )
    assert "Alice" not in str(question.describe())
    assert question.describe()["where"] == ["name =", "age >"]


def test_groups_of_several_columns_are_all_combinations():
    by, groups = named_groups(["sex", "ward"], {"sex": ["F", "M"], "ward": [1, 2]})
    question = question_from("count", None, {"epsilon": 1, "by": by, "groups": groups})
    assert question.labels == [("F", "1"), ("F", "2"), ("M", "1"), ("M", "2")]


def test_alpha_is_an_exact_fraction():
    question = question_from("quantile", "x", {"bounds": (0, 1), "epsilon": 1, "alpha": 0.95})
    assert question.share == Fraction(19, 20)
