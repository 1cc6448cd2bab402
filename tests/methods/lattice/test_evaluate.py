"""Counting nodes: a tally is the node's own, whatever was counted before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice.answering import begun
from tests.methods.lattice.cases import PROMISES, people, random_case

from shoal.methods.lattice import evaluate as module
from shoal.methods.lattice.constraint import constraint_of
from shoal.methods.lattice.evaluate import Evaluator
from shoal.methods.lattice.measures import MEASURES, measure_of
from shoal.methods.lattice.space import space_of
from shoal.privacy import KAnonymity


def plain(tally):
    """Return a tally as comparable values."""
    return (
        tally.node, tally.suppressed, tally.least, tally.classes, tally.published, tally.squares,
        tally.published_squares, round(tally.logs, 9), round(tally.published_logs, 9),
        tally.paid.tolist(), [part.tolist() for part in tally.lost],
    )  # fmt: skip


@pytest.mark.parametrize("promise", PROMISES)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), limit=st.sampled_from([0.0, 0.3, 1.0]))
def test_records_are_suppressed_as_brute_force_says(promise, seed, limit):
    evaluator, state, naive = begun(seed, promise, limit, "dm")
    for node in naive.nodes():
        published, suppressed = naive.split(node)
        tally = evaluator.tally(node)
        if len(suppressed) > state.budget:
            assert tally.suppressed > state.budget
            continue
        assert tally.suppressed == len(suppressed)
        assert tally.published == len(published)
        assert tally.published_squares == sum(len(m) ** 2 for m in published.values())


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), utility=st.sampled_from(MEASURES), data=st.data())
def test_a_tally_depends_on_the_node_alone(seed, utility, data):
    space, models, naive = random_case(seed, "distinct", 0.3)
    constraint = constraint_of(models, space.table, limit=0.3)
    nodes = data.draw(st.permutations(list(naive.nodes())[:20]))
    found = []
    for memory, threads, batch in ((0, 1, 1), (500_000_000, 2, 7), (2_000, 1, 3)):
        evaluator = Evaluator(space, constraint, memory=memory, threads=threads)
        evaluator.use(measure_of(utility, space, evaluator.tallied, k=constraint.k))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_WORTH_A_THREAD", 0)
            tallies = [
                tally
                for begin in range(0, len(nodes), batch)
                for tally in evaluator.tallies(nodes[begin : begin + batch])
            ]
        found.append([plain(tally) for tally in tallies])
    assert found[0] == found[1] == found[2]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), promise=st.sampled_from(["k", "distinct", "equal"]))
def test_a_release_has_every_class_judged(seed, promise):
    evaluator, _, naive = begun(seed, promise, 0.0)
    for node in list(naive.nodes())[:8]:
        answer = evaluator.release(node)
        classes = naive.classes(node)
        assert sorted(answer.classes.counts.tolist()) == sorted(map(len, classes.values()))
        published, _ = naive.split(node)
        assert int((answer.due == 0).sum()) == len(published)


def test_rows_that_differ_in_sensitive_values_only_are_one_finest_class():
    table = people([21, 21, 22], "fff", ["flu", "gout", "flu"])
    space = space_of(table)
    evaluator = Evaluator(space, constraint_of([KAnonymity(2)], table, limit=0.0))
    assert evaluator.finest.tolist() == [0, 0, 1]
    assert [counts.sum() for counts in evaluator.tallied] == [3, 3]


def test_work_is_counted_so_that_an_effort_is_the_same_everywhere():
    evaluator, state, _ = begun(9)
    before = evaluator.work
    evaluator.tally(state.lattice.top)
    once = evaluator.work - before
    assert once > 0
    again, state, _ = begun(9)
    again.tally(state.lattice.top)
    assert again.work - before == once


def test_memory_bounds_what_is_kept():
    evaluator, _, naive = begun(21, "k", 1.0)
    small = Evaluator(evaluator.space, evaluator.constraint, memory=400)
    for node in naive.nodes():
        small.tally(node)
    held = sum(part.nbytes for classes in small._kept[1:] for part in classes)
    assert held <= 400
    assert np.array_equal(small._sizes[: len(small._kept)], [len(c.counts) for c in small._kept])
