"""Judging counted cells: by the naive definition, whatever the order and form of the cells."""

from __future__ import annotations

from collections import Counter
from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import InputError
from shoal.engines.verification import ROWS, judge_cells, judged_columns
from shoal.privacy import KAnonymity, LDiversity, TCloseness
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document(
    {"columns": {"a": "quasi", "b": "quasi", "s": "sensitive", "u": "sensitive", "n": "neutral"}}
)
ONE = Schema.from_document({"columns": {"a": "quasi", "b": "quasi", "s": "sensitive"}})
TEXTS = st.sampled_from(["x", "y", None])
RECORDS = st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from(["1", "2", "3"])), min_size=1)


def cells(records, names=("a", "b", "s")):
    counted = Counter(records)
    columns = list(zip(*counted, strict=True))
    texts = {n: pl.Series(v, dtype=pl.String) for n, v in zip(names, columns, strict=True)}
    return pl.DataFrame({**texts, ROWS: list(counted.values())})


def test_a_verdict_depends_on_quasi_identifiers_and_named_sensitive_columns():
    assert judged_columns(SCHEMA, [KAnonymity(2)]) == ["a", "b"]
    assert judged_columns(SCHEMA, [LDiversity(2, column="u")]) == ["a", "b", "u"]
    assert judged_columns(SCHEMA, [LDiversity(2), TCloseness(0.2)]) == ["a", "b", "s", "u"]


@settings(max_examples=40, deadline=None)
@given(RECORDS, st.integers(1, 4), st.integers(1, 3))
def test_k_and_l_against_a_count_by_hand(records, k, l):
    classes = {}
    for a, b, s in records:
        classes.setdefault((a, b), []).append(s)
    found = judge_cells(cells(records), ONE, [KAnonymity(k), LDiversity(l)], where="t")
    sizes = [len(each) for each in classes.values()]
    assert (found.records, found.classes) == (len(records), len(classes))
    assert found.smallest_class == min(sizes)
    assert [v.value for v in found.privacy] == [
        min(sizes), min(len(set(each)) for each in classes.values())
    ]  # fmt: skip
    bad = [each for each in classes.values() if len(each) < k or len(set(each)) < l]
    assert found.violating_records == sum(map(len, bad))
    assert found.holds is (not bad)


@settings(max_examples=20, deadline=None)
@given(RECORDS, st.randoms())
def test_the_order_of_cells_and_cells_that_stand_twice_change_nothing(records, chance):
    promise = [KAnonymity(2), LDiversity(2), TCloseness(0.3)]
    whole = cells(records)
    rows = list(range(whole.height))
    chance.shuffle(rows)
    once = whole[rows].with_columns(pl.lit(1, dtype=pl.Int64).alias(ROWS))
    others = whole.with_columns(pl.col(ROWS) - 1).filter(pl.col(ROWS) > 0)
    halves = pl.concat([once, others])
    one = judge_cells(whole, ONE, promise, where="t")
    other = judge_cells(halves, ONE, promise, where="t")
    assert (one.holds, one.violating_records) == (other.holds, other.violating_records)
    for mine, theirs in zip(one.privacy, other.privacy, strict=True):
        assert mine.value == pytest.approx(theirs.value)


def test_numbers_of_a_numeric_column_are_compared_by_value():
    schema = Schema.from_document(
        {"columns": {"a": "quasi", "b": "quasi", "s": {"role": "sensitive", "kind": "numeric"}}}
    )
    records = [("x", "x", "7"), ("x", "x", "7.0"), ("x", "x", "07.00")]
    found = judge_cells(cells(records), schema, [LDiversity(2)], where="t")
    assert found.privacy[0].value == 1


def test_a_column_of_dates_is_one_whatever_nobody_declared():
    frame = pl.DataFrame({"a": ["x"] * 3, "b": ["x"] * 3, ROWS: [1, 1, 1],
                          "s": [date(2024, 1, 1), date(2024, 1, 2), None]})  # fmt: skip
    found = judge_cells(frame, ONE, [LDiversity(3)], where="t")
    assert found.holds


def test_no_record_and_values_off_the_scale_are_refused_without_a_value():
    with pytest.raises(InputError, match="t: the table has a header but no record"):
        judge_cells(cells([("x", "x", "1")]).head(0), ONE, [KAnonymity(2)], where="t")
    schema = Schema.from_document(
        {"columns": {"a": "quasi", "b": "quasi", "s": {"role": "sensitive", "kind": "numeric"}}}
    )
    strays, promise = cells([("x", "x", "1"), ("x", "x", "Alice")]), [TCloseness(0.2)]
    with pytest.raises(InputError, match="1 of 2 distinct values are not numbers") as caught:
        judge_cells(strays, schema, promise, where="t")
    assert "Alice" not in str(caught.value)
