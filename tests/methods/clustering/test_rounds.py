"""Rounds: as many as an effort has turns for, and by the clock."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.methods.clustering.rounds import (
    BLOCK,
    COOLS,
    EFFORTS,
    LESS,
    LONG,
    TURNS,
    WARM,
    _edges,
    _renumbered,
    _some,
    plan_of,
)


def plan(effort, members, **more):
    return plan_of(effort, members, **{"k": 5, "seed": 0, "stop": None, "threads": 1} | more)


def test_a_small_table_has_all_rounds_and_a_large_one_a_share_of_its_clusters():
    for effort, (rounds, _) in EFFORTS.items():
        assert plan(effort, 1_000).rounds == rounds
        large = plan(effort, 10 * TURNS[effort])
        assert (large.rounds, large.loose) == (1, 0.0)
        assert large.share == 0.1
    assert plan("normal", 30_000, k=100).rounds < plan("normal", 30_000, k=5).rounds


def test_no_step_may_lose_at_the_end():
    found = plan("best", 1_000)
    warmth = [found.warmth(done) for done in range(found.rounds + 1)]
    assert warmth == sorted(warmth, reverse=True)
    assert warmth[0] == 1.0
    assert warmth[-1] == 0.0


def test_by_the_clock_there_is_one_round_at_least():
    past = plan("normal", 1_000, stop=time.perf_counter() - 1)
    assert past.goes_on(0)
    assert not past.goes_on(1)


@given(st.sampled_from([*EFFORTS]), st.integers(1, 5_000_000), st.integers(1, 200))
def test_every_plan_has_a_round_and_looks_at_something(effort, members, k):
    found = plan(effort, members, k=k)
    assert 1 <= found.rounds <= EFFORTS[effort][0]
    assert 0 < found.share <= 1
    assert found.goes_on(0)
    assert not found.goes_on(found.rounds)
    assert found.rounds >= COOLS or found.loose == 0.0  # with few rounds no step may lose


@given(st.integers(1, 5_000_000), st.integers(1, 200))
def test_more_effort_never_plans_less(members, k):
    plans = [plan(effort, members, k=k) for effort in EFFORTS]
    turns = [each.rounds * each.share for each in plans]
    assert turns[0] <= turns[1] + 1 <= turns[2] + 2  # fast rounds up
    for effort, less in LESS.items():
        assert effort not in less
        assert [*less] == [*EFFORTS][: len(less)]


def test_only_brief_searches_say_how_many_rounds_are_thorough():
    assert plan("fast", 1_000, k=LONG).thorough == 2
    assert plan("fast", 1_000, k=LONG + 1).thorough == 1
    assert plan("fast", 1_000, stop=time.perf_counter() + 9).thorough is None
    assert plan("normal", 1_000).thorough is None
    fast = plan("fast", 1_000, k=LONG)
    assert [fast.is_thorough(done) for done in range(3)] == [True, True, False]
    normal = plan("normal", 1_000)
    assert [normal.is_thorough(done) for done in range(4)] == [True, False, True, False]


@pytest.mark.parametrize(("effort", "loose"), [("fast", 0.0), ("normal", WARM), ("best", WARM)])
def test_by_the_clock_all_clusters_are_looked_at(effort, loose):
    found = plan(effort, 9_000_000, stop=time.perf_counter() + 60)
    assert (found.share, found.loose) == (1.0, loose)
    assert 0 < found.seconds <= 60
    assert 0.9 < found.warmth(0) <= 1.0
    assert found.goes_on(10_000)


@given(st.lists(st.integers(1, 3 * BLOCK), min_size=1, max_size=8))
def test_blocks_begin_with_a_cluster_and_together_are_everything(sizes):
    label = np.repeat(np.arange(len(sizes)), sizes)
    edges = _edges(label)
    assert edges[0] == 0
    assert edges[-1] == len(label)
    assert edges == sorted(set(edges))
    for edge in edges[1:-1]:
        assert label[edge] != label[edge - 1]


@given(st.integers(1, 50), st.floats(0.001, 1.0), st.integers(0, 9))
def test_a_share_of_the_blocks_is_at_least_one_in_their_order(number, share, seed):
    blocks = [*range(number)]
    some = _some(blocks, share, np.random.default_rng(seed))
    assert len(some) == max(1, round(share * number))
    assert some == sorted(set(some))
    assert set(some) <= set(blocks)
    assert some == _some(blocks, share, np.random.default_rng(seed))


def test_labels_have_no_gaps_and_clusters_of_other_blocks_stay_together():
    label = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    blocks = [(np.array([2, 3, 4, 5]), np.array([7, 7, 7, 7]))]
    found = _renumbered(label, blocks)
    assert found.tolist() == [0, 0, 2, 2, 2, 2, 1, 1]
    assert _renumbered(label, []).tolist() == label.tolist()
    every = [(np.arange(4), np.array([1, 0, 1, 0])), (np.arange(4, 8), np.array([0, 0, 5, 5]))]
    assert _renumbered(label, every).tolist() == [1, 0, 1, 0, 2, 2, 3, 3]
