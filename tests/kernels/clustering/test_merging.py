"""Which class is merged next, and with which other: against looking at every pair."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import tables
from tests.naive.clustering import Losses

from shoal.kernels.clustering.losses import packed
from shoal.kernels.clustering.merging import Boxes, measure, nearest_class, smallest, widen
from shoal.kernels.helpers import lean_outer
from shoal.methods.clustering.space import space_of


@lean_outer
def choose(losses, k, boxes, live):
    for a in range(boxes.sizes.size):
        measure(losses, boxes, a)
    at = smallest(boxes.sizes, live, live.size)
    return at, nearest_class(losses, k, boxes, live, live.size, live[at])


@lean_outer
def joined(losses, boxes, a, b):
    widen(losses, boxes, a, b)


def boxes_of(table):
    low = table.codes.astype(np.int64)
    return Boxes(low, low.copy(), np.zeros_like(low), table.counts.copy())


@settings(max_examples=40, deadline=None)
@given(table=tables(most=12, missing=True), k=st.integers(2, 9), data=st.data())
def test_the_smallest_is_merged_with_the_least_distorted(table, k, data):
    if table.rows < 2:
        return
    live = np.array(data.draw(st.permutations(range(table.rows))))
    at, nearest = choose(packed(space_of(table.domains)), k, boxes_of(table), live)
    sizes, twin = table.counts, Losses(table.domains)
    a = min(range(table.rows), key=lambda c: (sizes[c], c))
    assert live[at] == a

    def distortion(b):
        moved = k - sizes[a] if sizes[a] + sizes[b] >= 2 * k else sizes[b]
        both = [[int(table.codes[c, j]) for c in (a, b)] for j in range(len(table.domains))]
        return sum(
            sizes[a] * (twin.column(j, pair) - twin.column(j, pair[:1]))
            + moved * (twin.column(j, pair) - twin.column(j, pair[1:]))
            for j, pair in enumerate(both)
        )

    others = [b for b in range(table.rows) if b != a]
    assert live[nearest] == min(others, key=lambda b: (distortion(b), b))


@settings(max_examples=20, deadline=None)
@given(table=tables(most=6))
def test_a_wider_box_covers_both_and_its_losses_are_looked_up_anew(table):
    boxes, twin = boxes_of(table), Losses(table.domains)
    a, b = 0, table.rows - 1
    joined(packed(space_of(table.domains)), boxes, a, b)
    for j in range(len(table.domains)):
        pair = sorted((int(table.codes[a, j]), int(table.codes[b, j])))
        assert [boxes.low[a, j], boxes.high[a, j]] == pair
        assert boxes.loss[a, j] == twin.column(j, range(pair[0], pair[1] + 1))
