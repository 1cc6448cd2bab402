"""Searches driven by hand: what they ask, and what they come to know."""

from __future__ import annotations

from tests.methods.lattice.cases import random_case

from shoal.methods.lattice.constraint import constraint_of
from shoal.methods.lattice.evaluate import Evaluator
from shoal.methods.lattice.measures import measure_of
from shoal.methods.lattice.state import SearchState, TaggedState, drive


def begun(seed, promise="k", limit=0.2, utility="loss", *, tagged=True):
    """Return an evaluator, a state of the search, and the naive twin."""
    space, models, naive = random_case(seed, promise, limit)
    constraint = constraint_of(models, space.table, limit=limit)
    evaluator = Evaluator(space, constraint)
    measure = measure_of(utility, space, evaluator.tallied, k=constraint.k)
    evaluator.use(measure)
    kind = TaggedState if tagged else SearchState
    return evaluator, kind(space.lattice, measure, budget=constraint.budget), naive


def driven(search, evaluator, state):
    """Let a search ask to its end; return the batches that it asked for."""
    asked = []

    def answer(nodes):
        asked.append(tuple(nodes))
        return evaluator.tallies(nodes)

    assert drive(search, state, answer=answer)
    return asked
