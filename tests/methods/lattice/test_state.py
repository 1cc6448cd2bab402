"""What a search knows: solutions, and bounds that rule out only what cannot be better."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice.answering import begun
from tests.methods.lattice.cases import PROMISES, people

from shoal.methods.lattice.flash import flash
from shoal.methods.lattice.measures import MEASURES, Tally, measure_of
from shoal.methods.lattice.space import space_of
from shoal.methods.lattice.state import SearchState, Solution, TaggedState, drive


def test_another_engine_can_answer():
    """A search knows nothing of arrays: a dictionary of tallies will do."""
    table = people([21, 22, 23, 41, 42, 43, 55], "fffmmmm")
    space = space_of(table)
    tallied = [
        np.bincount(table.codes[:, j], weights=table.counts, minlength=len(d)).astype(np.int64)
        for j, d in enumerate(table.domains)
    ]
    tagged = TaggedState(space.lattice, measure_of("height", space, tallied), budget=0)
    asked = []

    def answer(nodes):
        asked.extend(nodes)
        return [Tally(node=n, suppressed=7 * (sum(n) < 3), least=7 * (sum(n) < 3)) for n in nodes]

    assert drive(flash(tagged), tagged, answer=answer)
    assert tagged.ranked()[0].node == (2, 1)
    assert len(asked) < space.lattice.size


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32), promise=st.sampled_from(sorted(PROMISES)),
    limit=st.sampled_from([0.0, 0.1, 0.5]), utility=st.sampled_from(MEASURES), data=st.data(),
)  # fmt: skip
def test_no_solution_scores_below_its_bound(seed, promise, limit, utility, data):
    evaluator, state, _ = begun(seed, promise, limit, utility)
    nodes = list(product(*(range(size) for size in state.lattice.shape)))
    counted = data.draw(st.lists(st.sampled_from(nodes), max_size=4, unique=True))
    for node in counted:
        state.learn(evaluator.tally(node))
    for place, node in enumerate(nodes):
        assert state.node(place) == node
        if node in counted:
            assert state.bounds[place] == math.inf
            continue
        tally = evaluator.tally(node)
        if tally.suppressed <= state.budget:
            assert state.bounds[place] <= state.measure.score(tally) * (1 + 1e-9) + 1e-9


def test_solutions_are_ranked_by_loss_then_suppression_then_height():
    found = [
        Solution(0.5, 0, (0, 0)), Solution(0.2, 3, (1, 1)), Solution(0.2, 1, (2, 2)),
        Solution(0.2, 1, (1, 0)), Solution(0.2, 1, (0, 1)),
    ]  # fmt: skip
    ranked = sorted(found, key=lambda solution: solution.rank)
    assert [solution.node for solution in ranked] == [(0, 1), (1, 0), (2, 2), (1, 1), (0, 0)]


def test_a_solution_that_turns_out_worse_is_amended():
    _, tagged, _ = begun(3, "k", 0.5)
    state = SearchState(tagged.lattice, tagged.measure, budget=10)
    first, second = Solution(0.1, 0, (0,)), Solution(0.3, 0, (1,))
    state.solutions, state.best, state.proven = [first, second], 0.1, True
    state.amend(first, Solution(0.4, 2, (0,)))
    assert (state.best, state.proven) == (0.3, False)
    state.amend(second, None)
    assert [solution.score for solution in state.ranked()] == [0.4]
    state.amend(state.solutions[0], None)
    assert state.best == math.inf


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 5))
def test_a_search_that_is_stopped_says_how_good_a_node_may_be(seed, steps):
    evaluator, state, naive = begun(seed, "k", 0.2)
    asked = []

    def answer(nodes):
        asked.extend(nodes)
        return evaluator.tallies(nodes)

    ended = drive(flash(state), state, answer=answer, stop=lambda: len(asked) >= steps)
    assert ended == state.proven or len(asked) >= steps
    solutions = naive.solutions()
    if solutions:
        assert state.measure.value(state.bound) <= naive.best("loss") + 1e-9


@pytest.mark.parametrize("budget", [0, 5])
def test_a_node_is_a_solution_within_the_budget(budget):
    _, tagged, _ = begun(3, "k", 0.5)
    state = SearchState(tagged.lattice, tagged.measure, budget=budget)
    columns = len(tagged.lattice.heights)
    paid = np.zeros((2, columns), dtype=np.int64)
    tally = Tally(node=tagged.lattice.top, suppressed=3, least=0, paid=paid)
    assert state.learn(tally) == (budget >= 3)
    assert state.counted == {tagged.lattice.top: 3}
