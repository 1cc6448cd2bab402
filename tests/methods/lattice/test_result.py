"""From a node to a recoding: labels, boxes, and closeness to the records that are left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.methods.lattice.answering import begun
from tests.methods.lattice.cases import PROMISES

from shoal.methods.lattice.result import boxes_at, closeness_of, codes_at, recoding_at, repair

COMPARING = [name for name, models in PROMISES.items() if any(m.compares for m in models())]


@pytest.mark.parametrize("promise", COMPARING)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
@example(seed=112)  # a value of suppressed records alone: the order has one place fewer
def test_repair_leaves_classes_that_hold_among_the_records_left(promise, seed):
    evaluator, _, naive = begun(seed, promise, 1.0)
    for node in list(naive.nodes())[:6]:
        answer = repair(evaluator.release(node), evaluator)
        published, suppressed = naive.repaired(node)
        assert int((answer.due == 0).sum()) == len(published)
        lost = answer.classes.counts[answer.due > 0].sum()
        assert lost == len(suppressed)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), promise=st.sampled_from(["k", "distinct"]))
def test_what_compares_with_nothing_needs_no_repair(seed, promise):
    evaluator, state, _ = begun(seed, promise, 1.0)
    answer = evaluator.release(state.lattice.bottom)
    assert repair(answer, evaluator) is answer
    assert closeness_of(evaluator.constraint) == []


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), promise=st.sampled_from(["k", "distinct", "alpha"]))
def test_a_recoding_releases_the_classes_of_its_node(seed, promise):
    evaluator, _, naive = begun(seed, promise, 1.0)
    space = evaluator.space
    for node in list(naive.nodes())[:6]:
        found = recoding_at(
            space, node, evaluator.release(node), evaluator.finest, facts={"here": 1}
        )
        published, suppressed = naive.split(node)
        assert {tuple(row) for row in found.node.tolist()} == set(published)
        sizes = {tuple(row): n for row, n in zip(found.node.tolist(), found.sizes, strict=True)}
        assert sizes == {key: len(members) for key, members in published.items()}
        assert found.suppressed == len(suppressed)
        assert found.facts == {"here": 1}
        for row, label in zip(found.row, found.label, strict=True):
            if label >= 0:
                codes = space.table.codes[row]
                assert (found.low[label] <= codes).all()
                assert (codes <= found.high[label]).all()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_boxes_stand_in_an_order_that_no_search_decides(seed):
    evaluator, _, naive = begun(seed, "k", 1.0)
    space = evaluator.space
    for node in list(naive.nodes())[:6]:
        packed = evaluator.release(node).classes.codes
        codes = codes_at(space, node, packed)
        boxes, order = boxes_at(space, node, codes)
        other, _ = boxes_at(space, node, codes[::-1])
        assert all(np.array_equal(a, b) for a, b in zip(boxes, other, strict=True))
        assert sorted(order.tolist()) == list(range(len(codes)))
        assert (boxes.low <= boxes.high).all()
