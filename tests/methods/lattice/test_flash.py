"""Flash: binary searches on greedy paths until no node is open."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice.answering import begun, driven
from tests.methods.lattice.cases import PROMISES

from shoal.methods.lattice.flash import flash
from shoal.methods.lattice.state import drive


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), promise=st.sampled_from(sorted(PROMISES)),
       limit=st.sampled_from([0.0, 0.2, 1.0]))  # fmt: skip
def test_it_ends_with_the_best_node_and_asks_about_none_twice(seed, promise, limit):
    evaluator, state, naive = begun(seed, promise, limit)
    asked = [node for batch in driven(flash(state), evaluator, state) for node in batch]
    assert len(asked) == len(set(asked)) <= state.lattice.size
    assert state.proven
    expected = naive.best("loss")
    assert (expected is None) == (not state.solutions)
    if expected is not None:
        best = state.ranked()[0]
        assert state.measure.value(best.score) == pytest.approx(expected, abs=1e-9)
        assert state.bound == best.score


def test_it_asks_for_one_node_at_a_time():
    evaluator, state, _ = begun(7)
    assert all(len(batch) == 1 for batch in driven(flash(state), evaluator, state))


def test_a_search_that_is_done_asks_for_nothing_more():
    evaluator, state, _ = begun(7)
    driven(flash(state), evaluator, state)
    assert driven(flash(state), evaluator, state) == []


def test_it_goes_on_after_the_best_solution_was_amended():
    evaluator, state, naive = begun(11, limit=0.3)
    driven(flash(state), evaluator, state)
    first = state.ranked()[0]
    state.amend(first, None)
    assert drive(flash(state), state, answer=evaluator.tallies)
    left = {node: parts for node, parts in naive.solutions().items() if node != first.node}
    if left:
        value = state.measure.value(state.ranked()[0].score)
        assert value == pytest.approx(naive.best("loss", solutions=left), abs=1e-9)
