"""The lattice of a table: levels, blocks, and what a step up does to packed codes."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import search
from tests.methods.lattice.cases import people, random_case

from shoal.core.errors import KernelInputError, UnknownValueError
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.lattice import space as module
from shoal.methods.lattice.space import Lattice, space_of
from shoal.privacy import KAnonymity
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import from_codes


def test_lattice_counts_without_being_built():
    assert Lattice((3,) * 30).size == 4**30
    assert list(Lattice((1, 1)).finer((1, 1))) == [(0, 1), (1, 0)]


def test_a_column_without_a_hierarchy_is_raw_or_root():
    height = line_domain("height", Kind.NUMERIC, [None, "1.5", "1.8"], [float("nan"), 1.5, 1.8])
    codes = np.array([[0], [0], [1], [1], [2]], dtype=np.int32)
    table = from_codes((height,), codes, np.ones(5, dtype=np.int64))
    kept = search(table, [KAnonymity(2)], suppression_limit=0.2)
    assert kept.facts["levels"] == {"height": 0}
    assert kept.labels(0) == [None, "1.5"]
    assert search(table, [KAnonymity(2)]).labels(0) == ["*"]


def test_numbers_are_found_in_a_hierarchy_that_writes_them_otherwise():
    tree = Hierarchy.from_rows(
        "x", [("1.0", "low", "*"), ("2.0", "low", "*"), ("9.0", "high", "*")]
    )
    x = line_domain("x", Kind.NUMERIC, ["1", "2", "9"], [1.0, 2.0, 9.0], ladder=tree)
    codes = np.array([[0], [1], [2]], dtype=np.int32)
    table = from_codes((x,), codes, np.full(3, 2, dtype=np.int64))
    assert search(table, [KAnonymity(3)], suppression_limit=0.4).labels(0) == ["low"]


def test_a_hierarchy_may_list_its_values_in_any_order():
    rows = [("9", "high", "*"), ("2", "low", "*"), ("5", "high", "*"), ("1", "low", "*")]
    tree = Hierarchy.from_rows("x", rows)
    x = line_domain("x", Kind.NUMERIC, ["1", "2", "5", "9"], [1.0, 2.0, 5.0, 9.0], ladder=tree)
    codes = np.array([[0], [1], [2], [3]], dtype=np.int32)
    table = from_codes((x,), codes, np.array([3, 1, 1, 2], dtype=np.int64))
    raised = search(table, [KAnonymity(3)])
    assert sorted(zip(raised.labels(0), raised.sizes.tolist(), strict=True)) == [
        ("high", 3),
        ("low", 4),
    ]
    raw = search(table, [KAnonymity(2)], suppression_limit=0.3)
    assert sorted(zip(raw.labels(0), raw.sizes.tolist(), strict=True)) == [("1", 3), ("9", 2)]


def test_a_value_outside_its_hierarchy_is_refused_without_showing_it():
    tree = Hierarchy.from_rows("x", [("1", "*"), ("2", "*")])
    x = line_domain("x", Kind.NUMERIC, ["1", "777"], [1.0, 777.0], ladder=tree)
    table = from_codes((x,), np.array([[0], [1]], dtype=np.int32), np.ones(2, dtype=np.int64))
    with pytest.raises(UnknownValueError, match="1 of 2") as caught:
        search(table, [KAnonymity(2)])
    assert "777" not in str(caught.value)


@pytest.mark.parametrize(
    ("leaf", "value"),
    [("9007199254740992", "9007199254740993"), ("1e999", "inf"), ("0.1", "0.1000000000000000055")],
)
def test_a_number_that_no_float_tells_from_a_leaf_is_not_that_leaf(leaf, value):
    tree = Hierarchy.from_rows("x", [("1", "*"), (leaf, "*")])
    x = line_domain("x", Kind.NUMERIC, ["1.0", value], [1.0, 2.0], ladder=tree)
    table = from_codes((x,), np.array([[0], [1]], dtype=np.int32), np.ones(2, dtype=np.int64))
    with pytest.raises(UnknownValueError, match="1 of 2"):
        search(table, [KAnonymity(2)])


@given(heights=st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple))
def test_neighbours_are_one_step_away_and_know_each_other(heights):
    lattice = Lattice(heights)
    nodes = list(product(*(range(height + 1) for height in heights)))
    assert lattice.size == len(nodes)
    assert (lattice.bottom, lattice.top) == (nodes[0], nodes[-1])
    for node in nodes:
        above = list(lattice.coarser(node))
        assert all(sum(up) == sum(node) + 1 and node in lattice.finer(up) for up in above)
        assert len(above) == sum(a < b for a, b in zip(node, heights, strict=True))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_every_level_releases_what_the_hierarchy_says(seed):
    space, _, naive = random_case(seed, "k", 0.0)
    for ladder, column in zip(space.ladders, naive.columns, strict=True):
        assert ladder.height == column.height
        for level, (codes, nodes) in enumerate(zip(ladder.codes, ladder.nodes, strict=True)):
            found = nodes[codes].tolist()
            assert found == [column.released(code, level) for code in range(len(ladder.domain))]


@pytest.mark.parametrize("largest", [1, 8, 1 << 16])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_a_step_packs_the_steps_of_its_columns(largest, seed, data):
    space, _, _ = random_case(seed, "k", 0.0)
    high = tuple(data.draw(st.integers(0, h)) for h in space.lattice.heights)
    low = tuple(data.draw(st.integers(0, h)) for h in high)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", largest)
        space = replace(space)
        blocks = space.blocks
        assert [j for block in blocks for j in block] == list(range(len(high)))
        for block in blocks:
            step = space.step(block, low, high)
            assert len(step) == math.prod(space.cards(block, low))
            values = product(*(range(len(space.ladders[j].domain)) for j in block))
            for codes in values:
                assert step[pack(space, block, low, codes)] == pack(space, block, high, codes)


def pack(space, block, node, codes):
    """Return the number that some codes of a block's columns have together at a node."""
    total = 0
    for j, card, code in zip(block, space.cards(block, node), codes, strict=True):
        total = total * card + int(space.ladders[j].codes[node[j]][code])
    return total


def test_a_value_called_like_the_root_is_told_apart():
    x = line_domain("x", Kind.NUMERIC, ["*", "2"], [1.0, 2.0])
    table = from_codes((x,), np.array([[0], [1]], dtype=np.int32), np.ones(2, dtype=np.int64))
    (ladder,) = space_of(table).ladders
    assert ladder.tree.labels[ladder.tree.root] == "**"
    assert ladder.levels == 2


def test_a_table_without_columns_or_rows_has_no_lattice():
    nothing = np.zeros((1, 0), dtype=np.int32)
    with pytest.raises(KernelInputError, match="a quasi-identifier and a record"):
        space_of(from_codes((), nothing, np.ones(1, dtype=np.int64)))
    table = people([21], "f")
    empty = from_codes(table.domains, table.codes[:0], table.counts[:0])
    with pytest.raises(KernelInputError, match="a quasi-identifier and a record"):
        space_of(empty)


def test_a_space_shows_no_value_when_it_is_printed():
    space = space_of(people([21, 35], "fm"))
    assert "20s" not in repr(space) + repr(space.ladders)
