"""Laws of labels that are joined: what covers two covers each, whatever the order."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.test_extents import DATES, LEFT, MASKED, NODES, NUMBERS, TIGHT, TREE
from tests.naive import extents as naive


def test_nodes_are_joined_in_their_lowest_ancestor():
    for one, other in product(TREE["labels"], repeat=2):
        found = NODES.join(NODES.read(one), NODES.read(other)).label
        assert found == naive.ancestor(one, other, TREE)
        assert NODES.cost(NODES.read(found)) == naive.height(found, TREE)


def test_masks_are_joined_where_they_begin_alike():
    texts = ["1111", "1112", "1121", "1211", "2111", "111*", "11**", "1***", "2***"]
    for one, other in product(texts, repeat=2):
        found = MASKED.join(MASKED.read(one), MASKED.read(other)).label
        wanted = one if one == other else naive.masked(one, other, "*")
        assert found == wanted
        turned = LEFT.join(LEFT.read(one[::-1]), LEFT.read(other[::-1])).label
        assert turned == wanted[::-1]


@given(*[st.integers(-50, 50)] * 4)
def test_tight_intervals_are_joined_around_both(a, b, c, d):
    one = f"[{min(a, b)}, {max(a, b)}]" if a != b else str(a)
    other = f"[{min(c, d)}, {max(c, d)}]" if c != d else str(c)
    found = TIGHT.join(TIGHT.read(one), TIGHT.read(other))
    if one == other:
        assert found.label == one
    else:
        assert found.label == naive.interval(one, other)
    assert float(found.low) == min(a, b, c, d)
    assert float(found.high) == max(a, b, c, d)


def labels_of(column, chance):
    """Return a label that a release of the column may have, or what is none."""
    if chance.random() < 0.15:
        return chance.choice([None, "*", "", "?", "[", "[1", "[x, y]", "1–", "–", "2020-13"])
    if column is NODES:
        return chance.choice(TREE["labels"])
    if column in (MASKED, LEFT):
        return "".join(chance.choice("12*") for _ in range(4))
    if column is DATES:
        days = sorted(f"20{chance.randrange(18, 23)}-{chance.randrange(1, 13):02d}-15"
                      for _ in range(2))  # fmt: skip
        return DATES.grid.span(*days).label
    low, high = sorted(chance.sample(range(100), 2))
    return NUMBERS.grid.span(str(low), str(high)).label if column is NUMBERS else f"[{low}, {high}]"


COLUMNS = {"numbers": NUMBERS, "tight": TIGHT, "dates": DATES, "nodes": NODES, "masks": MASKED}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_joined_label_covers_each_in_any_order(name):
    column, chance = COLUMNS[name], random.Random(name)
    for _ in range(150):
        one, other = (column.read(labels_of(column, chance)) for _ in range(2))
        both = column.join(one, other)
        assert column.join(other, one).label == both.label
        assert column.join(one, one).label == one.label
        for each in (one, other):
            assert column.join(both, each).label == both.label
            if both.low is not None and each.low is not None:
                assert column.line.key(both.low) <= column.line.key(each.low)
                assert column.line.key(both.high) >= column.line.key(each.high)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_joined_label_costs_no_less_than_each(name):
    column, chance = COLUMNS[name], random.Random(name + "cost")
    for _ in range(150):
        one, other = (column.read(labels_of(column, chance)) for _ in range(2))
        both = column.cost(column.join(one, other))
        assert 0.0 <= both <= 1.0
        if one.label is not None and other.label is not None:
            assert both >= max(column.cost(one), column.cost(other)) - 1e-9


@pytest.mark.parametrize("name", COLUMNS)
def test_a_joined_label_is_read_back_as_what_it_stands_for(name):
    column, chance = COLUMNS[name], random.Random(name + "back")
    for _ in range(80):
        both = column.join(*(column.read(labels_of(column, chance)) for _ in range(2)))
        column.known.clear()
        again = column.read(both.label)
        assert again.label == both.label
        assert again.is_line == both.is_line
        if again.is_line:
            assert column.line.key(again.low) == column.line.key(both.low)
            assert column.line.key(again.high) == column.line.key(both.high)


@settings(max_examples=60)
@given(st.text(max_size=12))
def test_any_text_is_read_as_something_that_joins(text):
    for column in COLUMNS.values():
        found = column.read(text)
        assert column.join(found, column.read("*")).label == "*"
        assert 0.0 <= column.cost(found) <= 1.0


def test_more_labels_are_covered_by_the_join_of_all():
    for one, other, third in combinations_with_replacement(TREE["labels"], 3):
        a, b, c = map(NODES.read, (one, other, third))
        left = NODES.join(NODES.join(a, b), c).label
        assert left == NODES.join(a, NODES.join(b, c)).label
        assert naive.covers([left], [third], [NODES])
