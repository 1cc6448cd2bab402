"""A sensitive column as a judge sees it: places, and how often each occurs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.sensitive_tables import SECRET

from shoal.methods.sensitive import named, sensitive_column
from shoal.privacy import AlphaKAnonymity, KAnonymity
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain

TOTALS = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


@settings(max_examples=40, deadline=None)
@given(totals=TOTALS)
def test_values_that_are_gone_have_no_place(totals):
    seen = sensitive_column(SECRET, np.array(totals))
    present = [code for code, n in enumerate(totals) if n]
    assert seen.codes.tolist() == present
    assert list(seen.reference.counts) == [totals[code] for code in present]
    assert list(seen.reference.values) == [SECRET.labels[code] for code in present]


@settings(max_examples=40, deadline=None)
@given(totals=TOTALS, data=st.data())
def test_histograms_by_code_become_histograms_by_place(totals, data):
    counts = np.array([[data.draw(st.integers(0, n)) for n in totals] for _ in range(3)])
    seen = sensitive_column(SECRET, np.array(totals))
    found = seen.histograms(counts)
    assert found.tolist() == counts[:, seen.codes].tolist()
    assert (found.sum(axis=1) == counts.sum(axis=1)).all()


def test_a_hierarchy_says_how_values_are_related():
    seen = sensitive_column(SECRET, np.array([1, 2, 3, 4]))
    nodes = [SECRET.ladder.labels[node] for node in seen.reference.node_of_value]
    assert nodes == ["a", "b", "c", "d"]
    line = line_domain("pay", Kind.NUMERIC, ["1", "2"], [1.0, 2.0])
    assert sensitive_column(line, np.array([1, 1])).reference.parents is None


@pytest.mark.parametrize(
    "promise", [KAnonymity(2), AlphaKAnonymity(0.5, 2, column="s", values=["a"])]
)
def test_without_a_scale_values_are_named_as_they_are(promise):
    assert named(promise, SECRET) is promise
