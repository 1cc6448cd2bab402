"""Exact totals against a slow twin: groups, missing cells, filters, people."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import InputError, MethodError
from shoal.dp import columns as columns_module
from shoal.dp.columns import Columns
from shoal.dp.question import question_from
from shoal.dp.records import Bounds, Ladder, Tally, Total

rows = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-5, 15)),
        st.sampled_from(["F", "M", "X", None]),
        st.sampled_from(["p", "q", None]),
    ),
    max_size=25,
)
SCHEMA = {"x": pl.Int64, "sex": pl.String, "id": pl.String}


def frame(found: list[tuple]) -> pl.LazyFrame:
    return pl.LazyFrame(found, schema=SCHEMA, orient="row")


def columns(table: pl.LazyFrame, statistic: str, column: str | None, **options) -> Columns:
    return Columns(table, question_from(statistic, column, {"epsilon": 1.0, **options}))


@settings(max_examples=80, deadline=None)
@given(found=rows)
def test_group_totals_agree_with_a_loop(found: list[tuple]):
    asked = columns(frame(found), "sum", "x", bounds=(0, 10), by="sex", groups=["F", "M"])
    totals = asked.totals(Total.over(Bounds(0, 10), whole=asked.whole))
    for i, group in enumerate(["F", "M", None]):
        mine = [r for r in found if (r[1] == group if group else r[1] not in ("F", "M"))]
        assert totals.values[i, 0] == sum(min(max(r[0], 0), 10) for r in mine if r[0] is not None)
        assert totals.missing[i] == sum(r[0] is None for r in mine)


@settings(max_examples=60, deadline=None)
@given(found=rows, most=st.integers(1, 4))
def test_nobody_counts_more_often_than_allowed(found: list[tuple], most: int):
    asked = columns(frame(found), "count", None, entity="id", max_rows=most)
    people = [r[2] for r in found]
    expected = sum(min(most, people.count(person)) for person in set(people))
    assert asked.totals(Tally()).values[0, 0] == expected


@settings(max_examples=60, deadline=None)
@given(found=rows)
def test_cells_agree_with_a_loop(found: list[tuple]):
    asked = columns(frame(found), "quantile", "x", bounds=(0, 10), alpha=0.5)
    ladder = Ladder.over(Bounds(0, 10), whole=asked.whole)
    totals = asked.counts(ladder.rung(pl.col("value")), ladder.rungs)
    clamped = [min(max(r[0], 0), 10) for r in found if r[0] is not None]
    assert totals.values[0].tolist() == [clamped.count(v) for v in range(11)]
    assert totals.missing[0] == len(found) - len(clamped)


def test_a_filter_comes_before_the_cut_to_max_rows():
    table = frame([(1, "F", "p"), (2, "M", "p"), (3, "F", "p")])
    asked = columns(table, "count", None, where="sex = F", entity="id", max_rows=2)
    assert asked.totals(Tally()).values[0, 0] == 2


def test_text_is_read_as_numbers_and_cells_that_are_none_are_missing():
    table = pl.LazyFrame({"x": ["1", " 2 ", "3.5", "?", "", None, "nan", "-", "1e3"]})
    asked = columns(table, "sum", "x", bounds=(0.0, 10.0), markers=["-"])
    totals = asked.totals(Total.over(Bounds(0.0, 10.0), whole=False))
    step = Total.over(Bounds(0.0, 10.0), whole=False).step
    assert totals.values[0, 0] * step == 16.5
    assert totals.missing[0] == 5


@pytest.mark.parametrize(("rule", "total"), [("lower", 1), ("upper", 21), ("middle", 11), (3.0, 7)])
def test_missing_cells_are_filled_by_the_declared_rule(rule, total):
    table = pl.LazyFrame({"x": [1, None, None]})
    asked = columns(table, "sum", "x", bounds=(0, 10), missing=rule)
    found = asked.totals(Total.over(Bounds(0, 10), whole=True))
    assert found.values[0, 0] == total
    assert found.missing[0] == 0


def test_not_a_number_is_missing_and_infinity_is_clamped():
    table = pl.LazyFrame({"x": [float("nan"), float("inf"), -float("inf"), 1.0]})
    asked = columns(table, "sum", "x", bounds=(-2.0, 5.0))
    recipe = Total.over(Bounds(-2.0, 5.0), whole=False)
    found = asked.totals(recipe)
    assert found.values[0, 0] * recipe.step == 4.0
    assert found.missing[0] == 1


@pytest.mark.parametrize("kind", [pl.Categorical, pl.String])
def test_text_columns_are_refused_where_numbers_are_needed(kind):
    table = pl.LazyFrame({"name": ["Alice", "Bob", "7"]}).with_columns(pl.col("name").cast(kind))
    with pytest.raises(MethodError, match="is text") as caught:
        columns(table, "mean", "name", bounds=(0, 1))
    assert "Alice" not in str(caught.value)


def test_other_types_are_refused():
    table = pl.LazyFrame({"day": ["2024-01-01"], "many": [[1]]}).with_columns(
        pl.col("day").str.to_date()
    )
    with pytest.raises(MethodError, match="no numbers"):
        columns(table, "mean", "day", bounds=(0, 1))
    with pytest.raises(MethodError, match="lists"):
        columns(table, "count", None, by="many", groups=["1"])
    with pytest.raises(MethodError, match="'nope': no such column"):
        columns(table, "count", "nope")
    with pytest.raises(MethodError, match="no such column"):
        columns(table, "count", None, where="nope = 1")


def test_numbers_are_named_by_numbers():
    table = pl.LazyFrame({"ward": [1, 2, 2]})
    asked = columns(table, "count", None, by="ward", groups=["2", "1"])
    assert asked.totals(Tally()).values[:, 0].tolist() == [2, 1, 0]
    with pytest.raises(MethodError, match="by numbers"):
        columns(table, "count", None, by="ward", groups=["two"])


def test_an_empty_table_and_a_table_without_columns_have_no_records():
    for table in (frame([]), pl.LazyFrame()):
        assert columns(table, "count", None).totals(Tally()).values.tolist() == [[0]]


def test_a_file_that_breaks_while_reading_is_named_without_its_cells(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("x\n1\nAlice\n")
    table = pl.scan_csv(place, schema={"x": pl.Int64})
    with pytest.raises(InputError) as caught:
        columns(table, "sum", "x", bounds=(0, 1)).totals(Total.over(Bounds(0, 1), whole=True))
    assert "Alice" not in str(caught.value)


def test_columns_named_like_our_own_do_no_harm():
    table = pl.LazyFrame(
        {"value": [1, 2], "group": ["a", "b"], "missing": [1, 1], "entity": [1, 2]}
    )
    asked = columns(table, "sum", "missing", bounds=(0, 9), by="group", groups=["a"],
                    entity="value", max_rows=1, where="entity = 1")  # fmt: skip
    found = asked.totals(Total.over(Bounds(0, 9), whole=True))
    assert found.values[:, 0].tolist() == [1, 0]


def test_a_table_too_long_for_exact_sums_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(columns_module, "MOST_ROWS", 1)
    with pytest.raises(MethodError, match="more than"):
        columns(frame([(1, "F", "p")] * 2), "count", None).totals(Tally())
