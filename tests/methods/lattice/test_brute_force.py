"""Every search against brute force over the whole lattice."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import explore, search
from tests.methods.lattice.cases import PROMISES, random_case

from shoal.core.errors import NoSolutionError
from shoal.methods.lattice.measures import MEASURES

OPTIMAL = ("flash", "bfs", "dfs", "incognito", "best-first")
LIMITS = (0.0, 0.05, 0.3, 1.0)


def agree(seed, promise, limit, utilities, aggregate="geometric"):
    space, models, naive = random_case(seed, promise, limit)
    solutions = naive.solutions()
    for utility in utilities:
        expected = naive.best(utility, aggregate=aggregate, solutions=solutions)
        for method in OPTIMAL:
            found = explore(
                space, models, method=method, utility=utility, aggregate=aggregate,
                suppression_limit=limit,
            ).state  # fmt: skip
            ranked = found.ranked()
            assert found.proven
            assert bool(ranked) == bool(solutions), (utility, method)
            if not ranked:
                continue
            value = found.measure.value(ranked[0].score)
            assert value == pytest.approx(expected, abs=1e-9), (utility, method)
            published, suppressed = solutions[ranked[0].node]
            assert len(suppressed) == ranked[0].suppressed
            own = naive.value(utility, ranked[0].node, published, suppressed, aggregate=aggregate)
            assert value == pytest.approx(own, abs=1e-9), (utility, method)


@pytest.mark.parametrize("promise", PROMISES)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), limit=st.sampled_from(LIMITS))
def test_searches_find_what_brute_force_finds(promise, seed, limit):
    agree(seed, promise, limit, ("loss", "dm"))


@pytest.mark.parametrize("utility", MEASURES)
@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    limit=st.sampled_from(LIMITS),
    promise=st.sampled_from(sorted(PROMISES)),
)
def test_every_measure_is_minimized(utility, seed, limit, promise):
    agree(seed, promise, limit, (utility,))


@pytest.mark.parametrize("aggregate", ["arithmetic", "max"])
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    limit=st.sampled_from(LIMITS),
    promise=st.sampled_from(["k", "equal"]),
)
def test_loss_joins_columns_as_asked(aggregate, seed, limit, promise):
    agree(seed, promise, limit, ("loss",), aggregate=aggregate)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    limit=st.sampled_from(LIMITS),
    promise=st.sampled_from(sorted(PROMISES)),
)
def test_datafly_finds_a_solution_where_the_promise_is_monotone(seed, limit, promise):
    space, models, naive = random_case(seed, promise, limit)
    solutions = naive.solutions()
    found = explore(space, models, method="datafly", suppression_limit=limit).state
    assert not found.proven
    for solution in found.solutions:
        assert solution.node in solutions
    if solutions and promise in ("k", "k3", "distinct"):
        assert found.solutions


@pytest.mark.parametrize("method", ["flash", "best-first", "bfs"])
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    limit=st.sampled_from([0.1, 0.3, 0.6, 1.0]),
    promise=st.sampled_from(["equal", "hierarchical", "chi2", "k"]),
)
def test_the_release_is_the_best_that_stands_without_its_suppressed_records(
    method, seed, limit, promise
):
    space, models, naive = random_case(seed, promise, limit)
    solutions = naive.repaired_solutions()
    expected = naive.best("loss", solutions=solutions)
    try:
        found = search(space.table, models, method=method, suppression_limit=limit)
    except NoSolutionError:
        assert not solutions
        return
    assert found.facts["optimal"]
    assert found.facts["loss"] == pytest.approx(expected, abs=1e-9)
    published, suppressed = solutions[tuple(found.facts["levels"].values())]
    assert found.suppressed == len(suppressed)
    assert {tuple(row) for row in found.node.tolist()} == set(published)
