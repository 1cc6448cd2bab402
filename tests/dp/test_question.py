"""Questions are checked in full before any data is touched."""

from __future__ import annotations

from fractions import Fraction

import pytest

from shoal.core.errors import MethodError
from shoal.dp.question import Question, Statistic, named_groups, question_from


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


def test_all_faults_are_named_together():
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


def test_none_is_as_good_as_nothing():
    nothing = dict.fromkeys(
        ("lower", "upper", "delta", "rho", "order", "central", "alpha", "by", "groups", "bins",
         "categories", "where", "entity", "max_rows", "missing", "markers", "confidence", "odd")
    )  # fmt: skip
    found = question_from("count", None, {**nothing, "epsilon": 1.0})
    assert found == Question(statistic=Statistic.COUNT, epsilon=1.0)


def test_options_are_brought_into_the_form_of_a_question():
    found = question_from(
        "histogram", "x",
        {"epsilon": 1, "categories": [1, "b"], "by": "sex", "groups": ["F"], "markers": ["?"],
         "entity": "id", "max_rows": 3, "missing": "drop", "confidence": 0.9},
    )  # fmt: skip
    assert found == Question(
        statistic=Statistic.HISTOGRAM, column="x", epsilon=1, categories=("1", "b"), by=("sex",),
        groups={"sex": ("F",)}, markers=("?",), entity="id", max_rows=3, missing="drop",
        confidence=0.9,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("written", "rule"), [("3", 3.0), ("2.5", 2.5), (4, 4), ("lower", "lower"), (None, "count")]
)
def test_a_rule_for_missing_cells_may_be_a_word_a_number_or_a_number_in_text(written, rule):
    asked = {"bounds": (0, 5), "epsilon": 1, "missing": written}
    assert question_from("mean", "x", asked).missing == rule


@pytest.mark.parametrize(
    ("statistic", "options", "cells"),
    [
        ("count", {}, 1),
        ("histogram", {"categories": ["a", "b"]}, 3),  # and one for all others
        ("histogram", {"bounds": (0, 1)}, 12),  # and one below, one above
        ("histogram", {"bounds": (0, 1), "bins": 4}, 6),
    ],
)
def test_cells_that_were_not_named_are_counted(statistic, options, cells):
    assert question_from(statistic, "x", {"epsilon": 1, **options}).cells == cells


def test_too_many_cells_are_refused():
    groups = {name: [str(i) for i in range(400)] for name in ("a", "b")}
    with pytest.raises(MethodError, match="more than 100,000 cells"):
        question_from("count", None, {"epsilon": 1, "by": ["a", "b"], "groups": groups})


def test_an_entity_with_many_rows_needs_a_larger_epsilon():
    asked = {"epsilon": 1e-4, "entity": "id", "max_rows": 101}
    with pytest.raises(MethodError, match="below a millionth for a row"):
        question_from("count", None, asked)
    assert question_from("count", None, {**asked, "max_rows": 100}).rows == 100
    with pytest.raises(MethodError, match="rho is too small"):
        question_from("count", None, {"rho": 1e-9, "entity": "id", "max_rows": 100})


def test_a_ledger_remembers_what_shapes_an_answer():
    asked = {"bounds": (0, 9), "epsilon": 1, "order": 2, "central": True, "by": "s", "groups": "ab"}
    assert question_from("moment", "x", asked).describe() == {
        "statistic": "moment", "column": "x", "lower": 0, "upper": 9, "order": 2, "central": True,
        "by": ["s"],
    }  # fmt: skip


def test_a_question_without_bounds_has_none_to_give():
    with pytest.raises(MethodError, match="no bounds"):
        _ = question_from("count", None, {"epsilon": 1}).bounds
