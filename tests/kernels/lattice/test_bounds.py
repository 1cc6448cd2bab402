"""Bounds of nodes and greedy paths, against looking at every node."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.lattice.bounds import climb, raise_bounds

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=3)


@settings(max_examples=60, deadline=None)
@given(shape=SHAPES, is_max=st.booleans(), data=st.data())
def test_every_node_below_gets_what_its_columns_score(shape, is_max, data):
    node = [data.draw(st.integers(0, n - 1)) for n in shape]
    scores = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, 9), min_size=4, max_size=4),
                min_size=len(shape), max_size=len(shape),
            )
        ), dtype=np.float64,
    )  # fmt: skip
    bounds = np.full(int(np.prod(shape)), 3.0)
    raise_bounds(bounds, np.array(shape), np.array(node), scores, is_max)
    for place, levels in enumerate(product(*(range(n) for n in shape))):
        mine = [scores[j, level] for j, level in enumerate(levels)]
        wanted = 3.0
        if all(level <= top for level, top in zip(levels, node, strict=True)):
            wanted = max(3.0, max(mine) if is_max else sum(mine))
        assert bounds[place] == wanted


@settings(max_examples=60, deadline=None)
@given(shape=SHAPES, data=st.data())
def test_a_path_goes_up_to_the_lowest_bound_and_ends_at_the_ceiling(shape, data):
    nodes = list(product(*(range(n) for n in shape)))
    bounds = data.draw(st.lists(st.integers(0, 5), min_size=len(nodes), max_size=len(nodes)))
    start = data.draw(st.integers(0, len(nodes) - 1))
    ceiling = data.draw(st.integers(0, 6))
    path = climb(np.array(bounds, np.float64), np.array(shape), start, float(ceiling)).tolist()
    assert path[0] == start
    for here, after in zip(path, [*path[1:], None], strict=True):
        above = [
            nodes.index((*nodes[here][:j], nodes[here][j] + 1, *nodes[here][j + 1 :]))
            for j in range(len(shape)) if nodes[here][j] + 1 < shape[j]
        ]  # fmt: skip
        open_ones = [n for n in above if bounds[n] < ceiling]
        if after is None:
            assert not open_ones
        else:
            assert after in open_ones
            assert bounds[after] == min(bounds[n] for n in open_ones)
