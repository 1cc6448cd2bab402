from __future__ import annotations

import random
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import HierarchyError
from shoal.hierarchies.build import (
    BUILDERS,
    Dates,
    Intervals,
    Mask,
    Order,
    TopBottom,
    number_text,
)
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


@given(NUMBERS, st.randoms())
def test_the_order_of_the_input_never_matters(values, rng):
    shuffled = values[:]
    rng.shuffle(shuffled)
    for spec in (Intervals(count=[4, 2]), Intervals(width=3), Mask(), Order(fanout=3)):
        assert spec.build("x", values) == spec.build("x", shuffled)


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


# --- all of them


SPECS = [
    Intervals(cuts=[0, 10]), Intervals(cuts=[[0, 10, 20], [0, 20]]), Intervals(width=2.5, origin=1),
    Intervals(width=[5, 10]), Intervals(count=8, levels=3), Intervals(count=[4, 2]),
    Mask(), Mask(char="x", length=5, direction="left", pad="right", fill="0"),
    Dates(), Dates(levels=["month", "year"]),
    Order(fanout=2), Order(groups=[2, 4], order=["a", "b"]),
    TopBottom(top=90), TopBottom(bottom=1.5, intervals=Intervals(width=5)),
]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_specification_survives_its_document(spec):
    document = spec.to_document()
    assert type(spec).from_document(document) == spec
    assert hash(type(spec).from_document(document)) == hash(spec)
    assert type(spec) in BUILDERS.values()


@pytest.mark.parametrize("spec", SPECS[:10] + SPECS[12:], ids=repr)
def test_no_values_are_refused(spec):
    with pytest.raises(HierarchyError, match="empty"):
        spec.build("x", [])


@pytest.mark.parametrize(
    ("kind", "document", "faults"),
    [
        ("intervals", {}, ["give one of"]),
        ("intervals", {"cuts": [1], "width": 2}, ["give one of"]),
        ("intervals", {"cuts": []}, ["cuts must be a list"]),
        ("intervals", {"cuts": 5}, ["cuts must be a list"]),
        ("intervals", {"cuts": [[1, 2], 3]}, ["cuts must be a list"]),
        ("intervals", {"cuts": ["1"]}, ["cuts must be a list"]),
        ("intervals", {"cuts": [2, 1]}, ["ascend"]),
        ("intervals", {"cuts": [1, 1]}, ["ascend"]),
        ("intervals", {"cuts": [[0, 10], [0, 5]]}, ["some of those"]),
        ("intervals", {"cuts": [[0, 10], [0, 10]]}, ["some of those"]),
        ("intervals", {"cuts": [[0, 10], [0]], "levels": 3}, ["number of levels listed"]),
        ("intervals", {"width": 0}, ["above 0"]),
        ("intervals", {"width": float("nan")}, ["above 0"]),
        ("intervals", {"width": True}, ["above 0"]),
        ("intervals", {"width": []}, ["number of levels listed"]),
        ("intervals", {"width": [5, 12]}, ["multiple"]),
        ("intervals", {"width": [10, 5]}, ["multiple"]),
        ("intervals", {"width": "5", "nope": 1}, ["unknown option 'nope'", "above 0"]),
        ("intervals", {"count": 0}, ["at least 1"]),
        ("intervals", {"count": [4, 3]}, ["a part of the one before"]),
        ("intervals", {"count": 2, "levels": 4}, ["a part of the one before"]),
        ("intervals", {"count": 4, "origin": 1, "levels": 0}, ["origin", "levels"]),
        ("mask", {"char": "", "length": 0, "direction": "up"}, ["char", "length", "direction"]),
        ("mask", {"char": " ", "fill": "ab"}, ["char", "fill"]),
        ("dates", {"levels": []}, ["levels must be"]),
        ("dates", {"levels": ["year", "month"]}, ["in this order"]),
        ("dates", {"levels": ["week"]}, ["levels must be"]),
        ("dates", {"levels": "day"}, ["levels must be"]),
        ("order", {}, ["give one of"]),
        ("order", {"fanout": 1}, ["fanout"]),
        ("order", {"groups": [2, 3]}, ["multiple"]),
        ("order", {"groups": 2}, ["sizes"]),
        ("order", {"fanout": 2, "order": [SECRET, SECRET]}, ["different values"]),
        ("order", {"fanout": 2, "order": [None]}, ["different values"]),
        ("top_bottom", {}, ["give top, bottom"]),
        ("top_bottom", {"top": "90"}, ["numbers"]),
        ("top_bottom", {"top": 1, "bottom": 2}, ["below top"]),
        ("top_bottom", {"top": 1, "intervals": 5}, ["intervals must be"]),
        ("top_bottom", {"intervals": {"width": -1}}, ["give top", "intervals: each width"]),
        ("mask", ["char"], ["mapping"]),
    ],
)
def test_all_faults_of_a_specification_are_told_together(kind, document, faults):
    with pytest.raises(ValueError) as caught:
        BUILDERS[kind].from_document(document)
    for fault in faults:
        assert fault in str(caught.value)
    assert SECRET not in str(caught.value)
