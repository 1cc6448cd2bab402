"""What a node loses, and bounds on what finer and coarser ones lose, against the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice.answering import begun
from tests.methods.lattice.cases import PROMISES, random_case

from shoal.core.errors import MethodError
from shoal.methods.lattice.constraint import constraint_of
from shoal.methods.lattice.evaluate import Evaluator
from shoal.methods.lattice.measures import (
    ALIASES,
    MEASURES,
    SuppressionMeasure,
    Tally,
    measure_of,
)

CASES = {
    "seed": st.integers(0, 2**32),
    "promise": st.sampled_from(sorted(PROMISES)),
    "limit": st.sampled_from([0.0, 0.3, 1.0]),
}


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=12, deadline=None)
@given(**CASES)
def test_the_value_of_every_solution_is_that_of_the_definition(name, seed, promise, limit):
    evaluator, state, naive = begun(seed, promise, limit, name)
    for node, (published, suppressed) in naive.solutions().items():
        tally = evaluator.tally(node)
        assert tally.suppressed == len(suppressed)
        found = state.measure.value(state.measure.score(tally))
        assert found == pytest.approx(naive.value(name, node, published, suppressed), abs=1e-9)


@pytest.mark.parametrize("aggregate", ["geometric", "arithmetic", "max"])
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_loss_joins_the_columns_in_three_ways(aggregate, seed):
    space, models, naive = random_case(seed, "k", 0.3)
    evaluator = Evaluator(space, constraint_of(models, space.table, limit=0.3))
    measure = measure_of("loss", space, evaluator.tallied, aggregate=aggregate)
    evaluator.use(measure)
    for node, parts in naive.solutions().items():
        found = measure.value(measure.score(evaluator.tally(node)))
        assert found == pytest.approx(
            naive.value("loss", node, *parts, aggregate=aggregate), abs=1e-9
        )


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=10, deadline=None)
@given(**CASES)
def test_bounds_lie_below_every_finer_and_coarser_solution(name, seed, promise, limit):
    evaluator, state, naive = begun(seed, promise, limit, name)
    measure = state.measure
    scores = {node: measure.score(evaluator.tally(node)) for node in naive.solutions()}
    for node in list(naive.nodes())[:12]:
        tally = evaluator.tally(node)
        if tally.least > state.budget:
            continue  # nothing finer is a solution at all
        finer, coarser = measure.finer(tally), measure.coarser(tally)
        for other, score in scores.items():
            pairs = list(zip(other, node, strict=True))
            if all(a <= b for a, b in pairs):
                assert joined(measure, finer, other) <= score * (1 + 1e-9) + 1e-9
            if all(a >= b for a, b in pairs):
                assert coarser <= score * (1 + 1e-9) + 1e-9


def joined(measure, bound, node):
    """Return a bound of one node, from one number or from one a column."""
    if isinstance(bound, float):
        return bound
    own = [bound[j, level] for j, level in enumerate(node)]
    return max(own) if measure.takes_max else sum(own)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(MEASURES))
def test_generalization_alone_costs_no_less_on_higher_levels(seed, name):
    _, state, _ = begun(seed, "k", 0.0, name)
    floors = state.measure.floors()
    for j, height in enumerate(state.lattice.heights):
        own = floors[j, : height + 1]
        assert (np.diff(own) >= -1e-12).all()


def test_suppression_itself_can_be_minimized():
    space, _, _ = random_case(4, "k", 0.5)
    measure = SuppressionMeasure("suppression", space, k=2)
    tally = Tally(node=space.lattice.bottom, suppressed=7, least=3)
    assert (measure.score(tally), measure.finer(tally)) == (7.0, 3.0)
    assert measure.coarser(tally) == -math.inf


def test_old_names_mean_what_they_meant():
    space, models, _ = random_case(4, "k", 0.5)
    tallied = Evaluator(space, constraint_of(models, space.table, limit=0.5)).tallied
    for old, new in ALIASES.items():
        assert measure_of(old, space, tallied).name == new
    with pytest.raises(MethodError, match="no utility measure 'magic'; there are loss, dm"):
        measure_of("magic", space, tallied)
