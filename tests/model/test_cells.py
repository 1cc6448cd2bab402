"""Cells of rules: the label of a value covers it, and no value of another label."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import encode as naive

from shoal.core.errors import MethodError
from shoal.hierarchies.build import Dates, Intervals, Mask, Order, TopBottom
from shoal.model.cells import date_cell, interval_cell, mask_of, masked_cell, order_cell

numbers = st.lists(
    st.decimals(-50, 150, allow_nan=False, places=1).map(str),
    min_size=1,
    max_size=8,
    unique_by=Decimal,
)


def check(hierarchy, values, cell_of, entry):
    """A cell of every label below the root covers exactly the values whose label it is."""
    rows = {row[0]: row[1:-1] for row in hierarchy.to_rows()}
    for level in range(max(map(len, rows.values()), default=0)):
        for value in values:
            label = rows[value][level]
            if label in values or label == "*":
                continue
            cell = cell_of(label, value)
            for other in values:
                wanted = rows[other][level] == label
                assert naive.covers(cell, other, entry, {}) == wanted, (level, cell)
            assert naive.label(cell, {}) == label


@settings(max_examples=60, deadline=None)
@given(numbers, st.sampled_from([{"width": 10, "levels": 3}, {"cuts": [[-10, 0, 18, 65], [0]]}]))
def test_intervals(values, rule):
    tree = Intervals(**rule).build("age", values)
    check(tree, values, lambda label, _: interval_cell(label), {"scale": "number"})


@settings(max_examples=40, deadline=None)
@given(numbers)
def test_top_and_bottom_codes(values):
    tree = TopBottom(bottom=0, top=90, intervals=Intervals(width=10)).build("age", values)
    check(tree, values, lambda label, _: interval_cell(label), {"scale": "number"})


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.datetimes().map(lambda moment: moment.isoformat(" ")),
        min_size=1,
        max_size=6,
        unique=True,
    )
)
def test_dates(values):
    tree = Dates().build("born", values)
    # A cell covers the whole calendar, so neighbours of no value in the table are in it, too.
    check(tree, values, lambda label, _: date_cell(label), {"scale": "date"})


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text("0123456789", min_size=1, max_size=5), min_size=1, max_size=6, unique=True),
    st.sampled_from(["left", "right"]), st.sampled_from([None, "left", "right"]),
    st.sampled_from([None, "0"]),
)  # fmt: skip
def test_masks(values, direction, pad, fill):
    rule = Mask(direction=direction, pad=pad, fill=fill)
    mask = mask_of(rule, values)
    assert mask["length"] == max(map(len, values))
    rows = {row[0]: row[1:-1] for row in rule.build("zip", values).to_rows()}
    for value in values:
        for label in rows[value]:
            if label in values or label == "*":
                continue
            cell = masked_cell(value, label, mask)
            assert naive.covers(cell, value, {"mask": mask}, {})
            assert naive.label(cell, {}) == label


@pytest.mark.parametrize("scale", ["text", "rank", "number"])
def test_groups_of_neighbours(scale):
    order = ["1", "2", "3", "4", "5"]
    rule = Order(groups=[2], order=order)
    tree = rule.build("grade", order)
    cells = {label: order_cell(rule, label, order, scale=scale) for label in ("1 … 2", "3 … 4")}
    covered = (
        {"values": ["1", "2"], "label": "1 … 2"},
        {"low": "1", "high": "2", "label": "1 … 2"},
    )
    assert cells["1 … 2"] == covered[scale == "number"]
    check(tree, order, lambda label, _: cells[label], {"scale": scale})


def test_a_group_without_a_declared_order_names_its_ends_only():
    values = ["a", "b … c", "d", None]
    cell = order_cell(Order(fanout=2), "a … b … c", values, scale="text")
    assert cell == {"low": "a", "high": "b … c", "label": "a … b … c"}


def test_spans_of_intervals_and_of_the_calendar():
    assert interval_cell("(1, 2]") == {"low": "1", "high": "2", "open": "low", "label": "(1, 2]"}
    assert list(interval_cell("(1, 2)")) == ["low", "high", "open", "label"]  # as files have it
    assert interval_cell("<=18") == {"low": None, "high": "18", "label": "<=18"}
    assert interval_cell(">5") == {"low": "5", "high": None, "label": ">5", "open": "low"}
    assert list(interval_cell("<5")) == ["low", "high", "label", "open"]
    spans = {
        "2024": ("2024-01-01", "2024-12-31"), "2020s": ("2020-01-01", "2029-12-31"),
        "2024-02": ("2024-02-01", "2024-02-29"), "2023-Q4": ("2023-10-01", "2023-12-31"),
        "2024-03-17": ("2024-03-17", "2024-03-17"),
    }  # fmt: skip
    for label, (low, high) in spans.items():
        cell = date_cell(label)
        assert (cell["low"], cell["high"]) == (low, f"{high} 23:59:59.999999")


def test_a_label_that_the_rule_does_not_make_is_refused_without_it():
    mask = mask_of(Mask(), ["Alice"])
    for make in (
        lambda: interval_cell("Alice"),
        lambda: masked_cell("Alice", "Bob**", mask),
        lambda: order_cell(Order(fanout=2), "Alice … Bob", ["x"], scale="text"),
    ):
        with pytest.raises(MethodError, match="is not one that the rule makes") as caught:
            make()
        assert "Alice" not in str(caught.value)


def test_the_first_decade_begins_with_the_calendar():
    cell = date_cell("0000s")
    assert (cell["low"], cell["label"]) == ("0001-01-01", "0000s")
    assert naive.covers(cell, "0009-12-31", {"scale": "date"}, {})
    assert not naive.covers(cell, "0010-01-01", {"scale": "date"}, {})


def test_a_mask_without_texts_has_a_length():
    assert mask_of(Mask(char="#", fill="0"), []) == {
        "char": "#", "length": 1, "direction": "right", "pad": "right", "fill": "0",
    }  # fmt: skip
