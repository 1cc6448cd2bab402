"""Grouping classes by their new codes, against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.lattice.classes import LEAST, PUBLISHED, SUPPRESSED, nearest, regroup, sum_up


@settings(max_examples=60, deadline=None)
@given(data=st.data(), blocks=st.integers(1, 3), rows=st.integers(1, 30), most=st.integers(1, 40))
def test_classes_that_become_equal_are_one(data, blocks, rows, most):
    chance = np.random.default_rng(data.draw(st.integers(0, 1000)))
    sizes, width = chance.integers(1, 6, blocks), chance.integers(1, 4, blocks)
    codes = np.stack([chance.integers(0, n, rows) for n in sizes]).astype(np.uint32)
    counts = chance.integers(1, 9, rows)
    table = [chance.integers(0, w, n) for n, w in zip(sizes, width, strict=True)]
    start = np.concatenate(([0], np.cumsum(sizes)))
    label, made, records = regroup(
        codes, counts, np.concatenate(table).astype(np.uint32), start, width, most
    )
    new = [tuple(int(table[b][codes[b, g]]) for b in range(blocks)) for g in range(rows)]
    known = list(dict.fromkeys(new))  # in order of appearance
    if len(known) > most:
        assert made.shape[1] == 0
        return
    assert [known[c] for c in label] == new
    assert [tuple(column) for column in made.T.tolist()] == known
    totals = [sum(int(counts[g]) for g in range(rows) if new[g] == key) for key in known]
    assert records.tolist() == totals


def test_the_smallest_finer_node_is_found():
    levels = np.array([[0, 0], [1, 0], [0, 2], [1, 1]])
    sizes = np.array([90, 50, 20, 10])
    assert nearest(levels, sizes, 4, np.array([1, 2])) == 3
    assert nearest(levels, sizes, 4, np.array([0, 2])) == 2
    assert nearest(levels, sizes, 3, np.array([1, 1])) == 1
    assert nearest(levels, sizes, 4, np.array([0, 1])) == 0


def test_what_fails_is_added_up_by_code():
    codes = np.array([[0, 1, 1], [0, 0, 1]], dtype=np.uint32)
    sizes, due = np.array([5, 2, 1]), np.array([0, 2, 1])
    start, cost = np.array([0, 2, 4]), np.array([[1], [2], [3], [4]])
    tally, logs, failed, paid = sum_up(codes, sizes, due, start, cost, 3, True)
    assert [tally[SUPPRESSED], tally[LEAST], tally[PUBLISHED]] == [3, 3, 1]
    assert failed.tolist() == [[0, 3, 2, 1], [0, 3, 2, 1]]
    assert paid[:, :, 0].tolist() == [[6, 10], [6, 10]]
    assert logs[1] == 5 * np.log2(5)
    over = sum_up(codes, sizes, due, start, cost, 2, True)
    assert not over[2].any()  # more is due than the budget allows: nobody asks for its loss
