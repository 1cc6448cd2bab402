"""One column: texts, keys, masks, and the classes that cover a value."""

from __future__ import annotations

from datetime import date, datetime, time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.made import MASK, ORDER, TREE, models_and_tuples
from tests.naive import encode as naive

from shoal.model import column as module
from shoal.model.column import Column, Rejected, hide, label_of, text_of

PLAN = {"absent": {"": 1, "?": 1}, "index": {}, "parents": [], "labels": [], "form": None}


def column(scale, cells, bits=None, **plan):
    mask = plan.pop("mask", None)
    entry = {"name": "x", "scale": scale, "root": "*", "cells": cells}
    if mask:
        entry["mask"] = mask
    return Column(entry, {**PLAN, **plan}, bits or [1 << i for i in range(len(cells))])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None), ("x", "x"), ("", ""), (True, "true"), (False, "false"), (5, "5"),
        (-(10**30), str(-(10**30))), (5.0, "5"), (-0.0, "0"), (0.5, "0.5"), (1e300, "1e+300"),
        (float("nan"), None), (float("inf"), "inf"), (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 12), "2024-02-29T12:00:00"), (time(8, 30), "08:30:00"),
    ],
)  # fmt: skip
def test_values_become_texts(value, text):
    assert text_of(value) == text


@pytest.mark.parametrize("value", [["Alice"], {"Alice": 1}, b"Alice", object()])
def test_what_is_no_plain_value_is_rejected_without_it(value):
    with pytest.raises(Rejected, match="a list or an object") as caught:
        text_of(value)
    assert "Alice" not in str(caught.value)


masks = st.fixed_dictionaries(
    {
        "char": st.sampled_from("*#"), "length": st.integers(1, 5), "fill": st.sampled_from("*0"),
        "direction": st.sampled_from(["left", "right"]), "pad": st.sampled_from(["left", "right"]),
    }
)  # fmt: skip


@given(st.text("0123*", max_size=6), masks, st.integers(1, 4))
def test_masking_hides_character_by_character(text, mask, lost):
    lost = min(lost, mask["length"])
    found = hide(text, mask, lost)
    assert found == naive.masked(text, mask, lost)
    assert found is None or len(found) == mask["length"]


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        ({"missing": True}, None), ({"missing": True, "label": "none"}, "none"),
        ({"any": "*"}, "*"), ({"any": "*", "label": "7"}, "7"), ({"value": "nurse"}, "nurse"),
        ({"values": ["a"], "label": "a … c"}, "a … c"), ({"mask": "7**", "lost": 2}, "7**"),
        ({"node": 2}, "ab"), ({"low": "1", "high": "1"}, "1"),
        ({"low": "1", "high": "2"}, "[1, 2]"),
        ({"low": None, "high": "2", "label": "<=2"}, "<=2"),
    ],
)  # fmt: skip
def test_labels(cell, label):
    assert label_of(cell, TREE["labels"]) == label
    assert naive.label(cell, {"hierarchy": TREE}) == label


def test_keys_of_one_scale_sort_as_its_values_do():
    number = column("number", [])
    assert number.key("2") < number.key("10.0") == number.key("1e1")
    assert number.key("ten") is None
    day = column("date", [], form="%d.%m.%Y")
    assert day.key("31.12.2023") < day.key("01.01.2024") == day.key("2024-01-01")
    assert day.key("99.99.9999") is None
    rank = column("rank", [], index={text: i for i, text in enumerate(ORDER)})
    assert rank.key("middle") < rank.key(" top ")
    assert rank.key("none") is None
    assert column("text", []).key("a") < column("text", []).key("b")


@settings(max_examples=100, deadline=None)
@given(models_and_tuples())
def test_a_cell_covers_what_it_says(case):
    made, tuples = case
    for j, entry in enumerate(made["columns"]):
        about = made["schema"]["columns"][entry["name"]]
        tree = about.get("hierarchy") or {"labels": [], "parents": []}
        known = about.get("order") or tree["labels"]
        line = column(
            entry["scale"], entry["cells"], parents=tree["parents"], mask=entry.get("mask"),
            index={text: i for i, text in enumerate(known)},
        )  # fmt: skip
        for values in tuples:
            wanted = sum(
                1 << i
                for i, cell in enumerate(entry["cells"])
                if naive.covers(cell, values[j], entry, about, ["?"])
            )
            assert line.cover(values[j]) == wanted
            assert line.cover(values[j]) == wanted  # as it is remembered


def test_a_numeric_hierarchy_knows_a_number_however_it_is_written():
    tree = column("number", [{"node": 0}], parents=[1, -1], index={"10": 0, "*": 1, (1, 2, "1"): 0})
    assert [tree.node(text) for text in ("10", " 10", "1e1", "10.0", "11", "ten")] == [
        0, 0, 0, 0, -1, -1,
    ]  # fmt: skip
    assert tree.cover("10.00") == 1


def test_classes_that_no_region_uses_are_left_out():
    line = column("number", [{"low": "1", "high": "2"}, {"any": "*"}], bits=[0, 0])
    assert line.cover("1") == 0
    assert line.ranges == []


def test_several_cells_of_one_value_join_their_classes():
    line = column("text", [{"value": "a"}, {"values": ["a", "b"], "label": "x"}, {"any": "*"}])
    assert (line.cover("a"), line.cover("b"), line.cover("c")) == (0b111, 0b110, 0b100)
    masked = column("text", [{"mask": "7**", "lost": 2}, {"mask": "7**", "lost": 2}], mask=MASK)
    assert (masked.cover("751"), masked.cover("7512")) == (0b11, 0)


def test_only_texts_are_remembered_and_not_too_many(monkeypatch):
    monkeypatch.setattr(module, "MEMO", 3)
    line = column("number", [{"low": "1", "high": "1"}])
    for value in (1, 1.0, True):  # equal to each other, and not the same text
        assert line.cover(value) == (value is not True)
    assert line.memo == {}
    for i in range(10):
        assert line.cover(str(i)) == (i == 1)
        assert len(line.memo) <= 3
