"""Special uniques against their definition."""

from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inference.test_sets import coded
from tests.naive import risk as naive

from shoal.core.errors import MethodError
from shoal.measures.risk import special
from shoal.measures.risk.special import special_uniques

tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 3)] * width), min_size=1, max_size=30)
)


@settings(max_examples=100, deadline=None)
@given(rows=tables)
def test_scores_and_contributions_follow_the_definition(rows):
    width = len(rows[0])
    codes, counts = coded(rows)
    found = special_uniques(codes, counts)
    sets = naive.minimal_uniques(rows)
    by_row = {tuple(row): mine for row, mine in zip(rows, sets, strict=True)}
    expected = [
        sum(factorial(width - len(s)) for s in by_row[tuple(row)]) for row in codes.tolist()
    ]
    assert found.score.tolist() == pytest.approx(expected)
    assert found.records == sum(bool(mine) for mine in sets)
    total = sum(expected)
    for j in range(width):
        share = sum(factorial(width - len(s)) for mine in sets for s in mine if j in s)
        assert found.contribution[j] == pytest.approx(share / total if total else 0)
        assert found.members[j] == sum(any(j in s for s in mine) for mine in sets)


def test_exactly_the_unique_records_have_a_minimal_unique():
    random = np.random.default_rng(1)
    rows = [tuple(map(int, row)) for row in random.integers(0, 4, (300, 4))]
    codes, counts = coded(rows)
    assert special_uniques(codes, counts).records == int((counts == 1).sum())


def test_too_much_work_is_left_out_and_said(monkeypatch):
    monkeypatch.setattr(special, "MOST_WORK", 5000)
    random = np.random.default_rng(2)
    codes = np.unique(random.integers(0, 3, (200, 8)).astype(np.int32), axis=0)
    found = special_uniques(codes, np.ones(len(codes), np.int64))
    assert not found.complete
    assert found.max_size < 8


def test_a_size_below_one_is_refused():
    with pytest.raises(MethodError):
        special_uniques(np.zeros((1, 1), np.int32), np.ones(1, np.int64), max_size=0)
