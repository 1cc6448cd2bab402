"""One column: texts, keys, masks, and what is released."""

from __future__ import annotations

from datetime import date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.made import ORDER, TREE
from tests.naive import encode as naive

from shoal.model.column import Column, Rejected, hide, label_of, text_of

PLAN = {"absent": {"": 1, "?": 1}, "index": {}, "parents": [], "labels": [], "form": None}


def column(scale, cells, **plan):
    mask = plan.pop("mask", None)
    entry = {"name": "x", "scale": scale, "root": "*", "cells": cells}
    if mask:
        entry["mask"] = mask
    return Column(entry, {**PLAN, **plan})


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
