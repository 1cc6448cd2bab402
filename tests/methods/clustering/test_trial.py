"""Which beginning ends best is tried on whole clusters of neighbours."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tests.methods.clustering.test_laws import numbers

from shoal.kernels.clustering.losses import packed
from shoal.methods.arrays import promise_of
from shoal.methods.clustering import trial
from shoal.methods.clustering.begin import Task, cut, grown, merged
from shoal.methods.clustering.rounds import plan_of
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity


def task_of(table, k):
    space = space_of(table.domains)
    return Task(space, packed(space), promise_of([KAnonymity(k)], table))


def plan(table, k=4):
    return plan_of("normal", table.rows, k=k, seed=0, stop=None, threads=1)


def test_a_sample_is_whole_clusters_and_knows_the_whole_table():
    table = numbers(900, 3, 40)
    some = trial.sampled(table, task_of(table, 5), 200)
    assert 150 <= some.rows <= 250
    clusters = cut(table, task_of(table, 5), np.arange(table.rows))
    names = {tuple(codes) for codes in some.codes.tolist()}
    is_in = np.array([tuple(codes) in names for codes in table.codes[clusters.row].tolist()])
    shares = np.bincount(clusters.label, weights=is_in) / np.bincount(clusters.label)
    assert set(shares.tolist()) == {0.0, 1.0}
    assert some.whole == ()


def test_a_small_table_tries_everything_and_a_large_one_what_ends_best(monkeypatch):
    table = numbers(900, 3, 40)
    starts = (cut, grown, merged)
    task = task_of(table, 4)
    assert trial.tried(table, task, starts, plan(table), None) == starts
    monkeypatch.setattr(trial, "SAMPLE", 300)
    some = trial.sampled(table, task, 300)
    ends = {each: trial._ends(some, task, trial.start(some, task, each), plan(table))
            for each in starts}  # fmt: skip
    chosen = trial.tried(table, task, starts, plan(table), None)
    assert min(ends, key=ends.get) in chosen
    assert all(ends[each] <= min(ends.values()) * (1 + trial.CLOSE) for each in chosen)
    monkeypatch.setattr(trial, "CLOSE", 1.0)
    assert list(trial.tried(table, task, starts, plan(table), None)) == list(starts)


@pytest.mark.parametrize("seconds", [0.5, 60.0])
def test_with_hardly_any_time_nothing_is_tried(monkeypatch, seconds):
    table = numbers(600, 3, 40)
    monkeypatch.setattr(trial, "SAMPLE", 100)
    stop = time.perf_counter() + seconds
    chosen = trial.tried(table, task_of(table, 4), (cut, grown), plan(table), stop)
    assert len(chosen) == 1
    assert seconds > trial.LEAST or chosen[0] is cut
