"""Every measure against its definition, on a release small enough to count by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.hierarchies.tree import Hierarchy
from shoal.measures.utility import column_losses, grouping_of, utility_of
from shoal.methods.domain import line_domain, tree_domain
from shoal.methods.frequency import from_codes
from shoal.methods.recoding import Recoding, recoding_of
from shoal.reports.html import to_html
from shoal.reports.release import written
from shoal.schema.schema import Kind

TREE = Hierarchy.from_tree("place", {"*": {"north": ["a", "b"], "south": ["c", "d"]}})


def release() -> Recoding:
    """Ten records: a class of 4 (age 20–30, north), one of 4 (age 40, c), two suppressed."""
    age = line_domain("age", Kind.NUMERIC, ["20", "30", "40", "60"], [20, 30, 40, 60])
    place = tree_domain("place", Kind.CATEGORICAL, list("abcd"), TREE, missing=False, weight=1.0)
    ill = tree_domain(
        "ill", Kind.CATEGORICAL, ["x", "y"], Hierarchy.flat("ill", ["x", "y"]),
        missing=False, weight=1.0,
    )  # fmt: skip
    codes = np.array([[0, 0], [1, 1], [2, 2], [2, 2], [3, 3]], dtype=np.int32)
    table = from_codes(
        (age, place),
        codes,
        np.array([2, 2, 3, 1, 2], dtype=np.int64),
        sensitive_domains=(ill,),
        sensitive=np.array([[0], [1], [0], [1], [0]], dtype=np.int32),
    )
    low = np.array([[0, 0], [2, 2]], dtype=np.int32)
    high = np.array([[1, 1], [2, 2]], dtype=np.int32)
    pieces = (np.arange(5), np.array([0, 0, 1, 1, -1]), table.counts)
    return recoding_of(table, low, high, pieces)


def test_every_measure_is_its_formula() -> None:
    utility = utility_of(grouping_of(release(), target="ill"))
    d_first = 10 / 40 + 1 / 2  # D(P) of the first class; the second loses nothing
    il = 4 * d_first + 2 * 2
    assert utility["il"] == pytest.approx(il)
    assert utility["ncp"] == pytest.approx(il / 20)
    assert utility["dm"] == 4**2 + 4**2 + 10 * 2
    # first class 2 x, 2 y: two differ from the majority; second 3 x, 1 y: one; two suppressed
    assert utility["cm"] == pytest.approx((2 + 1 + 2) / 10)
    assert utility["aecs"] == pytest.approx(10 / 3)
    shares = [0.4, 0.4, 0.2]
    assert utility["entropy"] == pytest.approx(-sum(s * math.log2(s) for s in shares))
    lost = [(4 * 0.25 + 2) / 10, (4 * 0.5 + 2) / 10]
    assert utility["height"] == pytest.approx(sum(1 - x for x in lost))
    assert utility["precision"] == pytest.approx(1 - sum(lost) / 2)
    # [netshiunda2020], definitions 1-4: interval by range, discrete by distinct values
    assert utility["usefulness"] == pytest.approx(((10 / 40 + 2 / 4) + (0 + 1 / 4)) / 2)
    assert utility["protection"] == pytest.approx((1 / (2 / 2) + 1 / (2 / 2)) / 2)


def test_the_loss_of_covered_leaves_is_the_geometric_mean_over_the_columns() -> None:
    utility = utility_of(grouping_of(release()))
    covered_age = 4 * (2 / 4) + 4 * (1 / 4) + 2
    covered_place = 4 * (2 / 4) + 4 * (1 / 4) + 2
    x = [(covered - 10 / 4) / (10 - 10 / 4) for covered in (covered_age, covered_place)]
    expected = math.exp(sum(math.log(1 + each) for each in x) / 2) - 1
    assert utility["loss"] == pytest.approx(expected)


def test_what_is_not_known_is_none_not_zero() -> None:
    utility = utility_of(grouping_of(release()))
    assert utility["cm"] is None
    assert utility["sse_loss"] is None


def test_the_loss_of_each_column() -> None:
    losses = column_losses(grouping_of(release()), ("age", "place"))
    assert losses == {"age": pytest.approx(0.3), "place": pytest.approx(0.4)}


def pay_release(values: list[float]) -> Recoding:
    """Two classes of two records; the sensitive column is a number."""
    pay = line_domain("pay", Kind.NUMERIC, ["0", "50", "100"], [0.0, 50.0, 100.0])
    age = line_domain("age", Kind.NUMERIC, ["20", "80"], [20.0, 80.0])
    codes = np.array([[0], [0], [1], [1]], dtype=np.int32)
    sensitive = np.array([[int(value // 50)] for value in values], dtype=np.int32)
    table = from_codes((age,), codes, np.ones(4, dtype=np.int64), sensitive_domains=(pay,),
                       sensitive=sensitive)  # fmt: skip
    box = np.array([[0], [1]], dtype=np.int32)
    label = table.codes[:, 0].astype(np.int64)
    return recoding_of(table, box, box, (np.arange(table.rows), label, table.counts))


def test_protection_is_infinite_where_a_class_has_no_diversity() -> None:
    spread = utility_of(grouping_of(pay_release([0, 100, 50, 100])))
    assert spread["protection"] == pytest.approx((1 / 1 + 1 / 0.5) / 2)
    alike = utility_of(grouping_of(pay_release([0, 100, 50, 50])))
    assert alike["protection"] == math.inf
    assert written(alike)["protection"] == "infinite"
    json.dumps(written(alike), allow_nan=False)


def test_an_infinite_protection_is_a_word_in_json_and_null_in_a_model() -> None:
    table = pl.DataFrame({"age": [20] * 4 + [30] * 4, "pay": [5] * 4 + [5, 6, 7, 8]})
    schema = shoal.Schema.from_document(
        {"columns": {"age": "quasi", "pay": {"role": "sensitive", "kind": "numeric"}},
         "target": "pay", "privacy": [{"model": "k-anonymity", "k": 2}]}
    )  # fmt: skip
    made = shoal.anonymize(table, schema)
    assert made.report.utility["protection"] == math.inf
    assert made.report.to_document()["utility"]["protection"] == "infinite"
    assert "<td class='n'>infinite</td>" in to_html(made.report)
    assert shoal.learn(table, schema).to_document()["utility"]["protection"] is None
