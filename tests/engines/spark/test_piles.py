"""The arithmetic of piles, trees of cuts and orders, against plain Python; no Spark is started."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.engines.spark.coding import Packing
from shoal.engines.spark.mondrian import Cut, Tree
from shoal.engines.spark.piles import arrays, by_part, joined, part_of, pile, tuple_steps
from shoal.engines.spark.recode import SORTED, Order

LAW = settings(max_examples=60, deadline=None)
SIZES = st.lists(st.sampled_from([1, 2, 5, 2**20, 2**31 - 1]), min_size=1, max_size=6)


@st.composite
def coded(draw):
    sizes = draw(SIZES)
    row = st.tuples(*[st.integers(0, size - 1) for size in sizes])
    few = draw(st.lists(row, min_size=1, max_size=5))
    rows = draw(st.lists(st.sampled_from(few), min_size=1, max_size=20))
    return Packing(tuple(sizes)), rows


@LAW
@given(table=coded())
def test_joined_keys_are_counted_as_by_hand(table):
    packing, rows = table
    keys = packing.pack(np.array(rows, dtype=np.int32))
    found, counts = joined(keys, np.ones(len(rows), dtype=np.int64))
    codes = [tuple(row) for row in packing.unpack(found).tolist()]
    assert dict(zip(codes, counts.tolist(), strict=True)) == Counter(rows)
    assert len(set(codes)) == len(codes)


@LAW
@given(table=coded(), data=st.data())
def test_keys_forget_columns_and_nothing_else(table, data):
    packing, rows = table
    width = data.draw(st.integers(0, len(packing.sizes)))
    keys = packing.pack(np.array(rows, dtype=np.int32))
    steps = tuple_steps(packing, width)
    short = list(zip(*[(k // s).tolist() for k, s in zip(keys, steps, strict=True)], strict=True))
    for one in range(len(rows)):
        for two in range(one):
            same = rows[one][:width] == rows[two][:width]
            assert (short[one] == short[two]) == same


@LAW
@given(table=coded(), parts=st.integers(1, 7))
def test_a_key_has_one_partition_and_a_pile_comes_back(table, parts):
    packing, rows = table
    keys = packing.pack(np.array(rows, dtype=np.int32))
    part = part_of(keys, parts)
    home = {}
    for row, number in zip(rows, part.tolist(), strict=True):
        assert 0 <= number < parts
        assert home.setdefault(row, number) == number
    there = [(number, place) for number, mine in by_part(part) for place in mine.tolist()]
    assert sorted(place for _, place in there) == list(range(len(rows)))
    assert all(part[place] == number for number, place in there)
    named = dict(zip(packing.names, keys, strict=True))
    (back,) = arrays(pile(named), packing.names)
    assert all((a == b).all() for a, b in zip(back, keys, strict=True))


@LAW
@given(data=st.data(), rows=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_a_row_walks_down_the_tree_of_cuts(data, rows):
    tree, boxes = Tree(), {0: [(0, 10), (0, 10)]}  # naive: every block is a box
    for _ in range(data.draw(st.integers(0, 5))):
        block = data.draw(st.sampled_from(sorted(boxes)))
        column = data.draw(st.integers(0, 1))
        low, high = boxes[block][column]
        if high - low < 2:
            continue
        cut = data.draw(st.integers(low + 1, high - 1))
        left, right = tree.grow({block: Cut(column, cut)})
        box = boxes.pop(block)
        boxes[left] = [*box[:column], (low, cut), *box[column + 1 :]]
        boxes[right] = [*box[:column], (cut, high), *box[column + 1 :]]
    codes = np.array(rows, dtype=np.int32).reshape(-1, 2)
    for row, block in zip(rows, tree.block_of(codes).tolist(), strict=True):
        assert all(low <= code < high for code, (low, high) in zip(row, boxes[block], strict=True))


TEXT = st.one_of(st.none(), st.sampled_from(["a", "b", "ä", "10", "9"]))


@LAW
@given(
    classes=st.lists(
        st.tuples(st.tuples(TEXT, TEXT), st.integers(1, SORTED)), min_size=1, max_size=8,
        unique_by=lambda each: each[0],
    ),
    star=st.booleans(),
)  # fmt: skip
def test_classes_are_ordered_by_their_labels_and_dealt_out_in_that_order(classes, star):
    labels = [*(label for label, _ in classes), ("*", "*")]
    sizes = np.array([*(size for _, size in classes), 7 if star else 0], dtype=np.int64)
    texts = pl.DataFrame(labels, schema={"q0": pl.String, "q1": pl.String}, orient="row")
    order = Order.of(texts, sizes, star=star)
    assert (order.places[-1] >= 0) == star
    kept = range(len(labels) if star else len(classes))

    def key(label):
        return [(text is not None, (text or "").encode()) for text in label]

    by_place = sorted(kept, key=lambda i: order.places[i])
    assert by_place == sorted(kept, key=lambda i: key(labels[i]))
    held = Counter()
    for i in by_place:
        part, rank = order.places[i] >> 32, order.places[i] & 0xFFFFFFFF
        cells = order.cells[rank]
        assert tuple(t[int(c)] for t, c in zip(order.texts, cells, strict=True)) == labels[i]
        assert 0 <= part < order.parts
        held[part] += int(sizes[i])
    assert all(size <= 2 * SORTED for size in held.values())
