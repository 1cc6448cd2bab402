"""Partners: against looking at everybody in a line, one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import tables
from tests.naive.clustering import Losses

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.losses import packed
from shoal.kernels.clustering.partners import BEST, GROWTH, Line, nearest
from shoal.methods.clustering.clusters import box_losses
from shoal.methods.clustering.space import space_of


def looked(table, lines, looking, side):
    space = space_of(table.domains)
    losses = box_losses(space, table.codes, table.codes)
    numbers = np.stack((table.counts, losses), axis=1)
    boxes = np.concatenate((table.codes, table.codes), axis=1)
    return nearest(packed(space), boxes, numbers, lines, looking, side)


@settings(max_examples=60, deadline=None)
@given(table=tables(most=12, missing=True), side=st.integers(1, 14), data=st.data())
def test_the_first_of_those_that_grow_least(table, side, data):
    every = range(table.rows)
    lines = []
    for _ in range(data.draw(st.integers(1, 3))):
        order = np.array(data.draw(st.permutations(every)), dtype=np.int64)
        lines.append(Line(order, np.argsort(order)))
    found = looked(table, lines, np.arange(table.rows), side)
    twin = Losses(table.domains)

    def loss(rows):
        cells = [[int(table.codes[r, j]) for r in rows] for j in range(len(table.domains))]
        size = sum(int(table.counts[r]) for r in rows)
        return size * sum(twin.column(j, column) for j, column in enumerate(cells))

    for a in every:
        seen = []
        for order, place in lines:
            around = range(max(place[a] - side, 0), min(place[a] + side + 1, table.rows))
            seen += [int(order[at]) for at in around if order[at] != a]
        if not seen:
            assert found[a, BEST] == -1
            continue
        growth = [loss([a, b]) - loss([a]) - loss([b]) for b in seen]
        assert found[a, GROWTH] == min(growth)
        assert found[a, BEST] == seen[growth.index(min(growth))]


def test_compiled_code_checks_no_bounds():
    boxes, numbers = np.zeros((2, 2), dtype=np.int32), np.ones((2, 2), dtype=np.int64)
    one, losses = np.zeros(1, dtype=np.int64), np.zeros(16, dtype=np.int32)
    with pytest.raises(KernelInputError, match="there are not"):
        nearest(losses, boxes, numbers, [Line(np.array([0, 2]), one)], one, 1)
    with pytest.raises(KernelInputError, match="a place for every"):
        nearest(losses, boxes, numbers, [Line(one, one)], one, 1)
    with pytest.raises(KernelInputError, match="int32"):
        nearest(losses, boxes.astype(np.int64), numbers, [Line(one, one)], one, 1)
