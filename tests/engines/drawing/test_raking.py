"""Weights that meet a marginal, and systematic sampling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import drawing as naive

from shoal.engines.drawing.raking import expected, quotas, rake


@st.composite
def columns(draw):
    """Runs over a few values, their records, pools and what is wanted of each."""
    values = draw(st.integers(1, 7))
    ends = st.integers(0, values - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=6))
    runs = [(min(pair), max(pair) + 1) for pair in pairs]
    sizes = draw(st.lists(st.integers(1, 30), min_size=len(runs), max_size=len(runs)))
    pools = draw(st.integers(1, values))
    pool = [draw(st.integers(0, pools - 1)) for _ in range(values)]
    pool = [sorted(set(pool)).index(p) for p in pool]
    wanted = [float(draw(st.integers(1, 50))) for _ in range(max(pool) + 1)]
    return runs, sizes, pool, wanted


@settings(max_examples=40)
@given(columns())
def test_weights_are_those_of_the_naive_twin(column):
    runs, sizes, pool, wanted = column
    found = rake(*map(np.array, (runs, sizes, pool, wanted)))
    weights, misfit = naive.rake(runs, sizes, pool, wanted, 100)
    assert found.misfit == pytest.approx(misfit, abs=1e-6)
    assert found.misfit == pytest.approx(
        naive.misfit(runs, sizes, pool, wanted, found.weights.tolist()), abs=1e-6
    )
    assert (found.weights > 0).all()
    assert len(weights) == len(found.weights)


@given(columns())
def test_raking_is_no_worse_than_the_marginal_itself(column):
    runs, sizes, pool, wanted = column
    held = [pool.count(p) for p in range(len(wanted))]
    plain = [wanted[p] / held[p] for p in pool]
    found = rake(*map(np.array, (runs, sizes, pool, wanted)))
    assert found.misfit <= naive.misfit(runs, sizes, pool, wanted, plain) + 1e-9


@given(columns())
def test_expected_draws_are_those_of_the_naive_twin_and_add_up(column):
    runs, sizes, pool, _ = column
    weights = np.arange(1.0, len(pool) + 1)
    found = expected(np.array(runs), np.array(sizes), weights)
    assert found.tolist() == pytest.approx(naive.expected(runs, sizes, weights.tolist()))
    assert found.sum() == pytest.approx(sum(sizes))


def test_a_marginal_that_labels_can_meet_is_met():
    # Rare values are those that were generalized: 8 of 0 and 2 of 1 say so, 3 are open.
    runs, sizes = np.array([[0, 1], [0, 3]]), np.array([80, 20])
    found = rake(runs, sizes, np.arange(3), np.array([82.0, 9.0, 9.0]))
    assert found.misfit < 1e-3
    open_ = expected(runs, sizes, found.weights) - np.array([80.0, 0.0, 0.0])
    assert open_.tolist() == pytest.approx([2, 9, 9], abs=0.2)


def test_a_marginal_that_contradicts_the_labels_leaves_a_misfit():
    found = rake(np.array([[0, 1], [1, 2]]), np.array([50, 50]), np.arange(2), np.array([1.0, 99]))
    assert found.misfit == pytest.approx(0.49)


@given(st.lists(st.floats(0.01, 9), min_size=1, max_size=6), st.integers(1, 40), st.floats(0, 0.99))
def test_quotas_are_those_of_the_naive_twin(weights, size, start):
    found = quotas(np.array(weights), size, start)
    shares = np.array(weights) / sum(weights) * size
    assert (abs(np.bincount(found, minlength=len(weights)) - shares) < 1 + 1e-6).all()
    assert abs(np.array(naive.quotas(weights, size, start)) - found).max() <= 1  # ties of floats


def test_nothing_wanted_leaves_even_weights():
    found = rake(np.array([[0, 2]]), np.array([4]), np.array([-1, -1]), np.zeros(0))
    assert found.weights.tolist() == [1.0, 1.0]
