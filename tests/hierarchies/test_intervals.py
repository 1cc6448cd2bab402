"""Intervals and joined ends: labels contain, as they are written, what they cover."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import HierarchyError
from shoal.core.numbers import number_text
from shoal.hierarchies.intervals import Intervals, TopBottom
from shoal.hierarchies.tree import Hierarchy

SECRET = "Alice"
NUMBERS = st.lists(
    st.one_of(
        st.integers(-1000, 1000),
        st.floats(allow_nan=False, allow_infinity=False, width=32),
        st.decimals(-99, 99, places=2).map(float),
    ),
    min_size=1,
    max_size=12,
)


def rows_of(hierarchy: Hierarchy) -> dict[str, tuple[str, ...]]:
    return {row[0]: row for row in hierarchy.to_rows(inner=True)}


def contains(label: str, number: Decimal) -> bool:
    """Judge a label as a reader would, from its text alone."""
    if label == "*":
        return True
    if label.endswith("+"):
        return number >= Decimal(label[:-1])
    for mark, holds in (
        ("<=", number.__le__), (">=", number.__ge__), ("<", number.__lt__), (">", number.__gt__),
    ):  # fmt: skip
        if label.startswith(mark):
            return holds(Decimal(label[len(mark) :]))
    if label[0] not in "[(":
        return number == Decimal(label)
    low, high = map(Decimal, label[1:-1].split(", "))
    return (low <= number if label[0] == "[" else low < number) and (
        number <= high if label[-1] == "]" else number < high
    )


def assert_labels_say_what_they_cover(hierarchy: Hierarchy, values: list[float]) -> None:
    texts = [number_text(value) for value in values]
    assert set(texts) <= set(hierarchy.labels)
    for level in range(hierarchy.levels):
        becomes = {
            text: hierarchy.labels[hierarchy.ancestor(hierarchy.index(text), level)]
            for text in texts
        }
        for label in set(becomes.values()):
            covered = {text for text in texts if becomes[text] == label}
            assert covered == {text for text in texts if contains(label, Decimal(text))}


# --- intervals


def test_a_bound_belongs_to_the_interval_that_starts_there():
    rows = rows_of(Intervals(width=[5, 10, 20]).build("age", ["19", "20", "24", "25"]))
    assert rows["20"] == ("20", "[20, 25)", "[20, 30)", "[20, 40)", "*")
    assert rows["19"][1] == "[15, 20)"
    assert rows["25"][1] == "[25, 30)"


def test_widths_double_when_only_the_first_is_given():
    assert Intervals(width=5, levels=3).build("x", [7]) == (
        Intervals(width=[5, 10, 20]).build("x", [7])
    )


def test_an_origin_moves_the_grid_and_negative_numbers_fall_into_it():
    rows = rows_of(Intervals(width=10, origin=5).build("x", [-6, 4, 5, 15]))
    assert [rows[x][1] for x in ("-6", "4", "5", "15")] == (
        ["[-15, -5)", "[-5, 5)", "[5, 15)", "[15, 25)"]
    )


def test_decimal_widths_are_exact():
    rows = rows_of(Intervals(width=0.1).build("gpa", ["0.3", "0.7", "2.9"]))
    assert [row[1] for value, row in rows.items() if value[0].isdigit()] == (
        ["[0.3, 0.4)", "[0.7, 0.8)", "[2.9, 3)"]
    )


def test_explicit_cuts_leave_the_ends_open():
    rows = rows_of(Intervals(cuts=[18, 65]).build("age", [3, 18, 64, 65, 90]))
    assert [rows[x][1] for x in ("3", "18", "64", "65")] == ["<18", "[18, 65)", "[18, 65)", ">=65"]


def test_the_last_cut_closes_the_last_interval_when_nothing_lies_above():
    spec = Intervals(cuts=[[0, 18, 65, 120], [0, 65, 120], [120]])
    rows = rows_of(spec.build("age", [65, 119, 120]))
    assert rows["120"] == ("120", "[65, 120]", "[65, 120]", "<=120", "*")
    rows = rows_of(spec.build("age", [120, 121]))
    assert rows["120"] == ("120", ">=120", ">=120", ">=120", "*")


def test_equal_count_puts_as_many_values_into_each_interval():
    rows = rows_of(Intervals(count=[4, 2]).build("x", list(range(1, 9))))
    assert [rows[str(i)][1] for i in (1, 3, 5, 8)] == ["[1, 3)", "[3, 5)", "[5, 7)", "[7, 8]"]
    assert [rows[str(i)][2] for i in (1, 4, 5, 8)] == ["[1, 5)", "[1, 5)", "[5, 8]", "[5, 8]"]


def test_equal_count_keeps_equal_numbers_together():
    rows = rows_of(Intervals(count=2).build("x", [1, 5, 5, 5]))
    assert rows["5"][1] == "[5, 5]"
    assert rows["1"][1] == "[1, 5)"


@given(NUMBERS, st.sampled_from([0.1, 0.25, 1, 3, 1000]), st.sampled_from([0, 0.05, -7, 1e6]))
def test_intervals_of_equal_width_contain_what_they_cover(values, width, origin):
    spec = Intervals(width=width, origin=origin, levels=3)
    assert_labels_say_what_they_cover(spec.build("x", values), values)


@given(NUMBERS, st.lists(st.integers(-50, 50), min_size=1, max_size=5, unique=True).map(sorted))
def test_intervals_by_cuts_contain_what_they_cover(values, cuts):
    spec = Intervals(cuts=cuts)
    assert_labels_say_what_they_cover(spec.build("x", [*values, cuts[-1]]), values)


@given(NUMBERS, st.sampled_from([1, 2, 4, 8]))
def test_intervals_of_equal_count_contain_what_they_cover(values, count):
    levels = count.bit_length()
    spec = Intervals(count=count, levels=levels)
    assert_labels_say_what_they_cover(spec.build("x", values), values)


@given(NUMBERS, st.integers(0, 100))
def test_top_and_bottom_codes_contain_what_they_cover(values, top):
    for inner in (
        None,
        Intervals(width=7, levels=2),
        Intervals(cuts=[0, 10, 20]),
        Intervals(count=2),
    ):
        spec = TopBottom(top=top, bottom=top - 30, intervals=inner)
        assert_labels_say_what_they_cover(spec.build("x", values), values)


def test_leaves_stand_in_the_order_of_numbers():
    values = list(range(120))
    random.Random(1).shuffle(values)
    tree = Intervals(width=[5, 10]).build("age", values)
    assert [tree.labels[leaf] for leaf in tree.leaves] == [str(i) for i in range(120)]


@pytest.mark.parametrize("wrong", [SECRET, "nan", "inf", "1_0", "1e999999999", "1e-999999999", ""])
def test_values_that_are_no_numbers_are_counted_not_shown(wrong):
    for spec in (Intervals(width=5), TopBottom(top=9)):
        with pytest.raises(HierarchyError, match="1 of 2 values are not numbers") as caught:
            spec.build("age", ["34", wrong])
        assert SECRET not in str(caught.value)


# --- top and bottom


def test_the_ends_are_coded_and_the_rest_stays():
    rows = rows_of(TopBottom(top=90, bottom=18).build("age", [18, 19, 90, 95, 3]))
    assert rows["95"] == ("95", "90+", "*")
    assert rows["18"] == ("18", "<=18", "*")
    assert rows["19"] == ("19", "19", "*")


def test_intervals_between_the_ends_stop_at_them():
    spec = TopBottom(top=90, bottom=18, intervals=Intervals(width=[20, 40]))
    rows = rows_of(spec.build("age", [18, 19, 85, 93]))
    assert rows["93"] == ("93", "90+", "90+", "90+", "*")
    assert rows["85"] == ("85", "85", "[80, 90)", "[80, 90)", "*")
    assert rows["19"] == ("19", "19", "(18, 20)", "(18, 40)", "*")
