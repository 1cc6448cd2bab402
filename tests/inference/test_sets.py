"""Quasi-identifier sets against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import infer as naive

from shoal.core.errors import MethodError
from shoal.inference.sets import find_sets


def coded(rows):
    distinct = sorted(set(rows))
    counts = np.array([rows.count(row) for row in distinct], dtype=np.int64)
    return np.array(distinct, dtype=np.int32).reshape(len(distinct), -1), counts


tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 3)] * width), min_size=1, max_size=40)
)


@settings(max_examples=150, deadline=None)
@given(rows=tables, threshold=st.sampled_from([0.0, 0.3, 0.77, 1.5, 3.1]), most=st.integers(1, 5))
def test_search_agrees_with_brute_force(rows, threshold, most):
    codes, counts = coded(rows)
    found = find_sets(codes, counts, max_size=most, threshold=threshold)
    expected = naive.minimal_sets(rows, max_size=most, threshold=threshold)
    assert found.complete
    assert sorted(s.columns for s in found.sets) == sorted(expected)
    for each in found.sets:
        residual, distinction, separation = naive.measures(rows, each.columns)
        assert each.residual_entropy == pytest.approx(residual, abs=1e-9)
        assert each.distinction == pytest.approx(distinction)
        assert each.separation == pytest.approx(separation)


def test_larger_tables_agree_too_and_most_sets_are_never_counted():
    random = np.random.default_rng(5)
    rows = [tuple(int(x) for x in random.zipf(1.7, 7) % 6) for _ in range(400)]
    codes, counts = coded(rows)
    found = find_sets(codes, counts, max_size=7, threshold=2.0)
    assert sorted(s.columns for s in found.sets) == sorted(
        naive.minimal_sets(rows, max_size=7, threshold=2.0)
    )
    assert found.counted < 2**7 - 1
    assert found.spared > 0


def test_result_does_not_depend_on_threads_or_on_the_order_of_columns_and_rows():
    random = np.random.default_rng(6)
    codes = random.integers(0, 5, (500, 8)).astype(np.int32)
    counts = np.ones(500, dtype=np.int64)
    one = find_sets(codes, counts, max_size=4, threshold=1.0, threads=1)
    two = find_sets(codes, counts, max_size=4, threshold=1.0, threads=2)
    assert one == two
    turned = find_sets(codes[::-1, ::-1], counts, max_size=4, threshold=1.0)
    assert {s.columns for s in one.sets} == {
        tuple(sorted(7 - c for c in s.columns)) for s in turned.sets
    }


def test_a_search_without_time_says_that_it_is_not_complete():
    random = np.random.default_rng(7)
    codes = random.integers(0, 3, (2000, 20)).astype(np.int32)
    found = find_sets(codes, np.ones(2000, np.int64), max_size=10, threshold=0.1, seconds=0)
    assert not found.complete
    assert found.size < 10


def test_a_constant_column_is_in_no_set_and_a_key_is_one_alone():
    codes = np.array([[i, 0, i % 2] for i in range(10)], dtype=np.int32)
    found = find_sets(codes, np.ones(10, np.int64), max_size=3, threshold=0.0)
    assert [s.columns for s in found.sets] == [(0,)]
    assert found.sets[0].separation == 1.0


@pytest.mark.parametrize(
    "options", [{"max_size": 0, "threshold": 1}, {"max_size": 2, "threshold": -1}]
)
def test_options_that_cannot_be_meant_are_refused(options):
    with pytest.raises(MethodError):
        find_sets(np.zeros((1, 1), np.int32), np.ones(1, np.int64), **options)


def test_an_empty_table_has_no_sets():
    found = find_sets(np.zeros((0, 3), np.int32), np.zeros(0, np.int64), max_size=2, threshold=1)
    assert found.sets == ()
    assert found.complete
