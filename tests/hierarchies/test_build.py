"""Masks, dates and groups: each level joins what it should, and no value is shown in a fault."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import HierarchyError
from shoal.hierarchies.build import Dates, Mask, Order
from shoal.hierarchies.tree import Hierarchy

SECRET = "Alice"


def rows_of(hierarchy: Hierarchy) -> dict[str, tuple[str, ...]]:
    return {row[0]: row for row in hierarchy.to_rows(inner=True)}


# --- masks


def test_a_mask_goes_from_right_to_left_and_ends_in_one_root():
    tree = Mask().build("zip", ["75275", "75201", "10001"])
    assert rows_of(tree)["75275"] == ("75275", "7527*", "752**", "75***", "7****", "*")
    assert tree.labels[tree.lca([tree.index("75275"), tree.index("75201")])] == "752**"


def test_a_mask_may_go_from_left_to_right():
    rows = rows_of(Mask(direction="left", char="#").build("phone", ["123"]))
    assert rows["123"] == ("123", "#23", "##3", "*")


def test_shorter_values_count_as_masked_already_or_are_filled_up():
    rows = rows_of(Mask().build("code", ["123", "12"]))
    assert rows["12"] == ("12", "12*", "1**", "*")
    assert rows["123"] == ("123", "12*", "1**", "*")
    rows = rows_of(Mask(length=5, pad="left", fill="0").build("zip", [2134]))
    assert rows["2134"] == ("2134", "0213*", "021**", "02***", "0****", "*")


def test_values_longer_than_declared_are_counted_not_shown():
    with pytest.raises(HierarchyError, match="1 of 2 values are longer than 3") as caught:
        Mask(length=3).build("zip", [SECRET, "abc"])
    assert SECRET not in str(caught.value)


@given(st.lists(st.text("01ab*", min_size=1, max_size=5), min_size=1, max_size=8))
def test_a_mask_shows_a_prefix_of_each_value_it_covers(values):
    tree = Mask().build("x", values)
    for value in values:
        for level in range(tree.levels):
            label = tree.labels[tree.ancestor(tree.index(value), level)]
            assert value.startswith(label.rstrip("*"))


# --- dates


def test_dates_are_joined_by_calendar():
    rows = rows_of(Dates().build("birth", ["2024-03-17", "1999-12-31", "0987-05-01"]))
    assert rows["1999-12-31"] == ("1999-12-31", "1999-12", "1999-Q4", "1999", "1990s", "*")
    assert rows["0987-05-01"] == ("0987-05-01", "0987-05", "0987-Q2", "0987", "0980s", "*")


def test_times_get_a_level_for_the_day():
    values = ["2024-03-17T10:00:00", "2024-03-17 09:00:00.5+02:00", "2024-03-17"]
    rows = rows_of(Dates(levels=["day", "year"]).build("visit", values))
    assert {rows[value][1:] for value in values} == {("2024-03-17", "2024", "*")}


def test_leaves_stand_in_the_order_of_time():
    values = ["2024-03-17", "1999-12-31", "2024-01-01"]
    tree = Dates().build("x", values)
    assert [tree.labels[leaf] for leaf in tree.leaves] == sorted(values)


@pytest.mark.parametrize("wrong", [SECRET, "2024-02-30", "17.03.2024", ""])
def test_values_that_are_no_dates_are_counted_not_shown(wrong):
    with pytest.raises(HierarchyError, match="1 of 2 values are not dates") as caught:
        Dates().build("birth", ["2024-03-17", wrong])
    assert SECRET not in str(caught.value)


# --- order


def test_neighbours_are_joined_in_the_given_order():
    order = ["none", "school", "bachelor", "master", "doctor"]
    rows = rows_of(Order(groups=[2, 4], order=order).build("degree", ["master", "none"]))
    assert rows["none"] == ("none", "none … school", "none … master", "*")
    assert rows["master"] == ("master", "bachelor … master", "none … master", "*")
    assert rows["doctor"] == ("doctor", "doctor", "doctor", "*")


def test_numbers_are_ordered_by_size_and_texts_by_alphabet():
    assert Order(fanout=2).build("x", ["10", "9", "1"]).labels[:3] == ("1", "9", "1 … 9")
    assert Order(fanout=2).build("x", ["b", "10", "a"]).labels[:3] == ("10", "a", "10 … a")


def test_a_fanout_joins_until_one_group_would_be_left():
    tree = Order(fanout=3).build("x", list(range(20)))
    assert tree.to_rows()[0] == ("0", "0 … 2", "0 … 8", "*")
    assert Order(fanout=2).build("x", ["a"]).labels == ("a", "*")


def test_values_outside_the_given_order_are_counted_not_shown():
    spec = Order(fanout=2, order=["a", "b"])
    with pytest.raises(HierarchyError, match="1 of 2 values are not in the given order") as caught:
        spec.build("x", ["a", SECRET])
    assert SECRET not in str(caught.value)
    assert repr(spec) == "Order(groups=None, fanout=2)"
