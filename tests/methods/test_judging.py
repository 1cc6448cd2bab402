"""Classes of a recoding, judged by the promise itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.sensitive_tables import PROMISES, by_number, counted, histograms

from shoal.methods.judging import _distinct_rows, failing_classes, judge_recoding, one_class
from shoal.methods.sensitive import sensitive_column
from shoal.privacy import EquivalenceClass, KAnonymity, LDiversity
from shoal.table.recoding import SUPPRESSED, recoding_of


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
@settings(max_examples=25, deadline=None)
@given(table=counted())
def test_failing_classes_are_those_that_the_promise_refuses(promise, table):
    recoding = by_number(table)
    counts = np.array(histograms(table, recoding.label, recoding.classes))
    seen = sensitive_column(table.sensitive_domains[0], counts.sum(axis=0))
    expected = [
        not promise.holds(EquivalenceClass(sum(row), row, reference=seen.reference))
        for row in seen.histograms(counts).tolist()
    ]
    assert failing_classes(recoding, [promise]).tolist() == expected
    (verdict,) = judge_recoding(recoding, [promise])
    assert verdict.holds == (not any(expected))
    assert verdict.model == promise


@given(table=counted())
@settings(max_examples=20, deadline=None)
def test_all_records_are_one_class(table):
    whole = one_class(table)
    assert whole.sizes.tolist() == [table.records]
    assert failing_classes(whole, [KAnonymity(table.records)]).tolist() == [False]
    assert failing_classes(whole, [KAnonymity(table.records + 1)]).tolist() == [True]


@given(table=counted())
@settings(max_examples=20, deadline=None)
def test_suppressed_records_are_in_no_class(table):
    whole = one_class(table)
    label = whole.label.copy()
    label[0] = SUPPRESSED
    kept = recoding_of(table, whole.low, whole.high, (whole.row, label, whole.count))
    left = table.records - int(table.counts[0])
    assert failing_classes(kept, [KAnonymity(left + 1)]).all()
    values = len(set(table.sensitive[1:, 0].tolist()))
    assert failing_classes(kept, [LDiversity(values + 1, column="s")]).all()


@given(table=counted())
@settings(max_examples=10, deadline=None)
def test_a_promise_without_a_column_is_asked_of_every_sensitive_one(table):
    verdicts = list(judge_recoding(one_class(table), [KAnonymity(1), LDiversity(1)]))
    assert [verdict.model.column for verdict in verdicts] == [None, "s"]


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 2)), max_size=20),
    far=st.booleans(),
)
def test_distinct_rows_are_sorted(rows, far):
    rows = [(a, b + (2**61 if far else 0), c) for a, b, c in rows]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    found = _distinct_rows(*columns)
    assert [tuple(row) for row in found.tolist()] == sorted(set(rows))
