"""The tree of boxes finds the class that looking at every class finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.encoding.box_tree import box_tree, covering_boxes, first_box

RUNS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=3)
CLASSES = st.lists(st.tuples(RUNS, RUNS), max_size=60)
POINTS = st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), min_size=1, max_size=30)


@settings(max_examples=150, deadline=None)
@given(classes=CLASSES, points=POINTS, data=st.data())
def test_the_lowest_class_that_covers_a_tuple(classes, points, data):
    closed = data.draw(st.sets(st.integers(0, max(len(classes) - 1, 0))))
    shape = (len(classes), 2)
    low, high = np.ones(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
    runs = np.full(shape, -1, dtype=np.int64)
    ends = []
    for c, columns in enumerate(classes):
        for j, mine in enumerate(columns):
            if mine:
                low[c, j] = min(first for first, _ in mine)
                high[c, j] = max(first + more for first, more in mine)
            if len(mine) > 1:
                runs[c, j] = len(ends)
                ends += [*((first, first + more) for first, more in mine), (-1, -1)]
    table = np.array(ends, dtype=np.int32).reshape(-1, 2)
    tree = box_tree(low, high, runs, (table[:, 0].copy(), table[:, 1].copy()))
    allowed = np.array([c not in closed for c in range(len(classes))], dtype=np.bool_)
    codes = np.array(points, dtype=np.int32)
    found = first_box(codes, tree, allowed)
    # Whatever is believed to be near, the answer is the same.
    likely = data.draw(
        st.lists(st.integers(-1, len(classes) - 1), min_size=len(points), max_size=len(points))
    )
    assert (first_box(codes, tree, allowed, np.array(likely)) == found).all()
    for point, place in zip(points, found.tolist(), strict=True):
        covering = [
            c
            for c, columns in enumerate(classes)
            if c not in closed
            and all(
                any(first <= code <= first + more for first, more in mine)
                for code, mine in zip(point, columns, strict=True)
            )
        ]
        assert place == min(covering, default=-1)


@settings(max_examples=100, deadline=None)
@given(
    boxes=st.lists(st.tuples(*[st.integers(0, 9), st.integers(-1, 5)] * 2), max_size=40),
    points=POINTS,
    most=st.integers(1, 5),
)
def test_every_class_that_covers_a_tuple(boxes, points, most):
    low = np.array([(a, b) for a, _, b, _ in boxes], dtype=np.int32).reshape(-1, 2)
    high = np.array([(a + m, b + n) for a, m, b, n in boxes], dtype=np.int32).reshape(-1, 2)
    none = np.zeros(0, dtype=np.int32)
    tree = box_tree(low, high, np.full(low.shape, -1, dtype=np.int64), (none, none))
    starts, found = covering_boxes(np.array(points, dtype=np.int32), tree, most)
    for i, point in enumerate(points):
        covering = {c for c in range(len(boxes)) if ((low[c] <= point) & (point <= high[c])).all()}
        named = found[starts[i] : starts[i + 1]].tolist()
        assert len(named) == min(len(covering), most + 1)
        assert len(set(named)) == len(named)
        assert covering.issuperset(named)
