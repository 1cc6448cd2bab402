"""The searches of the textbooks: what they ask, in which order, and what they find."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice.answering import begun, driven
from tests.methods.lattice.cases import PROMISES

from shoal.methods.lattice.walks import BATCH, bfs, datafly, dfs, incognito


@pytest.mark.parametrize("search", [bfs, dfs, incognito])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), promise=st.sampled_from(sorted(PROMISES)),
       limit=st.sampled_from([0.0, 0.2, 1.0]))  # fmt: skip
def test_complete_searches_end_with_the_best_node(search, seed, promise, limit):
    evaluator, state, naive = begun(seed, promise, limit)
    asked = [node for batch in driven(search(state), evaluator, state) for node in batch]
    assert len(asked) == len(set(asked))
    assert state.proven
    expected = naive.best("loss")
    assert (expected is None) == (not state.solutions)
    if expected is not None:
        value = state.measure.value(state.ranked()[0].score)
        assert value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_breadth_first_asks_level_by_level_in_batches(seed):
    evaluator, state, _ = begun(seed)
    batches = driven(bfs(state), evaluator, state)
    assert all(1 <= len(batch) <= BATCH for batch in batches)
    heights = [{sum(node) for node in batch} for batch in batches]
    assert all(len(each) == 1 for each in heights)
    assert heights == sorted(heights, key=min)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_depth_first_begins_below_and_climbs(seed):
    evaluator, state, _ = begun(seed)
    asked = [node for batch in driven(dfs(state), evaluator, state) for node in batch]
    if asked:
        assert asked[0] == state.lattice.bottom


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_incognito_asks_about_few_columns_first(seed):
    evaluator, state, _ = begun(seed, "k3", 0.0)
    columns = len(state.lattice.heights)
    if columns < 2 or 0 in state.lattice.heights:
        return
    first = driven(incognito(state), evaluator, state)[0][0]
    lowered = [j for j, level in enumerate(first) if level < state.lattice.heights[j]]
    assert len(lowered) == 1


def distinct_of(state, evaluator):
    return [[len(nodes) for nodes in ladder.nodes] for ladder in evaluator.space.ladders]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), limit=st.sampled_from([0.0, 0.3]))
def test_datafly_raises_the_column_with_the_most_values(seed, limit):
    evaluator, state, _ = begun(seed, "k3", limit, tagged=False)
    distinct = distinct_of(state, evaluator)
    path = [batch[0] for batch in driven(datafly(state, distinct), evaluator, state)]
    assert path[0] == state.lattice.bottom
    for before, after in pairwise(path):
        raised = [j for j, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
        assert len(raised) == 1
        left = [j for j, level in enumerate(before) if level < state.lattice.heights[j]]
        most = max(distinct[j][before[j]] for j in left)
        assert distinct[raised[0]][before[raised[0]]] == most
    assert not state.proven
    assert bool(state.solutions) == (state.counted[path[-1]] <= state.budget)
    assert all(state.counted[node] > state.budget for node in path[:-1])
