"""Search by boxes: no node is lost between them, and every bound holds."""

from __future__ import annotations

import math
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice.answering import begun, driven
from tests.methods.lattice.cases import PROMISES

from shoal.methods.lattice.best_first import Box, Veto, _not_below, _path, best_first
from shoal.methods.lattice.measures import MEASURES
from shoal.methods.lattice.state import drive

NODES = st.integers(1, 3).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(0, 3), min_size=3, max_size=3).map(sorted),
        min_size=columns, max_size=columns,
    )
)  # fmt: skip


def inside(low, high):
    return set(product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))))


@given(levels=NODES)
def test_boxes_hold_all_nodes_but_those_ruled_out_and_each_once(levels):
    low, pivot, high = (tuple(column[i] for column in levels) for i in range(3))
    box = Box(0.0, 0, low, high)
    found = [inside(a, b) for a, b in _not_below(box, pivot)]
    assert sum(len(nodes) for nodes in found) == len(set().union(*found))
    assert set().union(*found) == inside(low, high) - inside(low, pivot)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_path_climbs_by_single_steps_from_end_to_end(seed):
    _, state, _ = begun(seed, tagged=False)
    box = Box(0.0, 0, state.lattice.bottom, state.lattice.top)
    path = _path(box, state.measure.floors())
    assert (path[0], path[-1]) == (box.low, box.high)
    for before, after in pairwise(path):
        assert after in list(state.lattice.coarser(before))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32), promise=st.sampled_from(sorted(PROMISES)),
    limit=st.sampled_from([0.0, 0.2]), utility=st.sampled_from(MEASURES), data=st.data(),
)  # fmt: skip
def test_what_is_ruled_out_is_no_better_than_the_best(seed, promise, limit, utility, data):
    evaluator, state, _ = begun(seed, promise, limit, utility, tagged=False)
    nodes = list(product(*(range(size) for size in state.lattice.shape)))
    veto = Veto(state.measure, budget=state.budget)
    for node in data.draw(st.lists(st.sampled_from(nodes), max_size=4, unique=True)):
        tally = evaluator.tally(node)
        state.learn(tally)
        veto.learn(tally)
    for low in nodes:
        pivot = veto.rules_out(low, state.best)
        if pivot is None:
            continue
        for node in inside(low, pivot):
            tally = evaluator.tally(node)
            if tally.suppressed <= state.budget:
                assert state.measure.score(tally) >= state.best * (1 - 1e-9) - 1e-9


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), promise=st.sampled_from(sorted(PROMISES)),
       limit=st.sampled_from([0.0, 0.2, 1.0]))  # fmt: skip
def test_it_ends_with_the_best_node(seed, promise, limit):
    evaluator, state, naive = begun(seed, promise, limit, tagged=False)
    asked = [node for batch in driven(best_first(state), evaluator, state) for node in batch]
    assert len(asked) == len(set(asked))
    assert state.proven
    expected = naive.best("loss")
    if expected is None:
        assert state.best == math.inf
    else:
        value = state.measure.value(state.ranked()[0].score)
        assert value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 6))
def test_a_search_that_is_stopped_can_go_on(seed, steps):
    evaluator, state, naive = begun(seed, "k3", 0.2, tagged=False)
    drive(
        best_first(state), state, answer=evaluator.tallies, stop=lambda: len(state.counted) >= steps
    )
    expected = naive.best("loss")
    if expected is not None and state.bound > -math.inf:
        assert state.measure.value(state.bound) <= expected + 1e-9
    driven(best_first(state), evaluator, state)
    assert state.proven
    if expected is not None:
        assert state.measure.value(state.best) == pytest.approx(expected, abs=1e-9)


def test_many_nodes_may_be_remembered():
    evaluator, state, _ = begun(5, "k3", 0.0, tagged=False)
    veto = Veto(state.measure, budget=state.budget)
    tally = evaluator.tally(state.lattice.bottom)
    if tally.least <= state.budget:
        tally.least = state.budget + 1
    for _ in range(600):
        veto.learn(tally)
    assert veto.rules_out(state.lattice.bottom, 0.0) == state.lattice.bottom
