"""Every measure against its definition, on a release small enough to count by hand."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import utility as naive

import shoal
from shoal.hierarchies.tree import Hierarchy
from shoal.measures import utility as module
from shoal.measures.utility import (
    column_diversity,
    column_losses,
    grouping_of,
    is_interval,
    utility_of,
)
from shoal.reports.html import to_html
from shoal.reports.of_release import of_release
from shoal.reports.release import written
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import from_codes
from shoal.table.recoding import Recoding, recoding_of

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
    assert "<td class='n'>infinite</td>" in to_html(of_release(made.report))
    assert shoal.learn(table, schema).to_document()["utility"]["protection"] is None


FLAT = Hierarchy.flat("place", list("abcd"))
PLACE = tree_domain("place", Kind.CATEGORICAL, list("abcd"), FLAT, missing=False, weight=1.0)
AGES = [20, 30, 40, 60]
AGE = line_domain("age", Kind.NUMERIC, [str(age) for age in AGES], AGES)
ILL = tree_domain(
    "ill", Kind.CATEGORICAL, list("xyz"), Hierarchy.flat("ill", list("xyz")), missing=False,
    weight=1.0,
)  # fmt: skip

people = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.integers(-1, 2)),
    min_size=1, max_size=25,
).filter(lambda rows: any(label >= 0 for *_, label in rows))  # fmt: skip


def recoding_from(rows, labels) -> Recoding:
    """Build a recoding from records (age, place, ill) and the class of each, -1: suppressed.

    Records of one tuple and one sensitive value are one row: they may be in several classes.
    """
    tuples = sorted(set(rows))
    table = from_codes(
        (AGE, PLACE), np.array([row[:2] for row in tuples], dtype=np.int32),
        np.array([rows.count(row) for row in tuples], dtype=np.int64),
        sensitive_domains=(ILL,), sensitive=np.array([row[2:] for row in tuples], dtype=np.int32),
    )  # fmt: skip
    parts = Counter((tuples.index(row), label) for row, label in zip(rows, labels, strict=True))
    at, label = np.array(sorted(parts)).T
    boxes = [np.array(members(rows, labels, own))[:, :2] for own in range(max(labels) + 1)]
    low, high = ([end(box, axis=0) for box in boxes] for end in (np.min, np.max))
    return Recoding(
        table, np.array(low, dtype=np.int32), np.array(high, dtype=np.int32), at, label,
        np.array([parts[part] for part in sorted(parts)]),
    )  # fmt: skip


def members(rows, labels, own):
    return [row for row, label in zip(rows, labels, strict=True) if label == own]


@settings(max_examples=60, deadline=None)
@given(people, st.sampled_from([0, 2**24]))
def test_every_measure_agrees_with_sums_over_the_records(found, room) -> None:
    numbers = {old: i for i, old in enumerate(sorted({row[3] for row in found} - {-1}))}
    rows, labels = [row[:3] for row in found], [numbers.get(row[3], -1) for row in found]
    recoding = recoding_from(rows, labels)
    boxes = list(zip(recoding.low.tolist(), recoding.high.tolist(), strict=True))
    lost = [((AGES[b[0]] - AGES[a[0]]) / 40, float(a[1] != b[1])) for a, b in boxes]
    leaves = [((b[0] - a[0] + 1, 4), (1 if a[1] == b[1] else 4, 4)) for a, b in boxes]
    records = [None if label < 0 else label for label in labels]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TABLE", room)  # 0: nothing is counted in a table
        utility = utility_of(grouping_of(recoding, target="ill"))
    for name, value in naive.measures(records, lost, leaves).items():
        assert utility[name] == pytest.approx(value), name
    assert utility["cm"] == pytest.approx(naive.minority(records, [row[2] for row in rows]))
    ill = [{row[2] for row in members(rows, labels, own)} for own in numbers.values()]
    assert utility["protection"] == pytest.approx(
        naive.mean_inverse([len(values) / 3 for values in ill])
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=20))
def test_diversity_of_discrete_values_is_their_distinct_share(rows) -> None:
    numbers = {old: i for i, old in enumerate(sorted({row[0] for row in rows}))}
    label = np.array([numbers[row[0]] for row in rows])
    codes = np.array([row[1] for row in rows])
    found = column_diversity(label, codes, PLACE, classes=len(numbers))
    assert found.mean() == pytest.approx(naive.mean_diversity(label.tolist(), codes.tolist(), 4))


def test_a_missing_value_makes_a_line_discrete() -> None:
    with_missing = line_domain("age", Kind.NUMERIC, [None, "20", "30"], [np.nan, 20, 30])
    assert not is_interval(with_missing)
    found = column_diversity(np.array([0, 0]), np.array([0, 2]), with_missing, classes=1)
    assert found.tolist() == [pytest.approx(2 / 3)]
