"""Sets of classes: the first of those that all columns share."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.made import MASK, document, models_and_tuples, numeric
from tests.naive import encode as naive

from shoal.model import sets as module
from shoal.model.sets import SetColumn, SetEncoder, block_size, lowest

PLAN = {"absent": {"": 1, "?": 1}, "index": {}, "parents": [], "labels": [], "form": None}


def column(scale, cells, bits=None, **plan):
    mask = plan.pop("mask", None)
    entry = {"name": "x", "scale": scale, "root": "*", "cells": cells}
    if mask:
        entry["mask"] = mask
    return SetColumn(entry, {**PLAN, **plan}, bits or [1 << i for i in range(len(cells))])


@given(st.integers(1, 2**200))
def test_the_lowest_bit(members):
    assert lowest(members) == bin(members)[::-1].index("1")


def test_one_set_holds_all_classes_where_the_sets_of_all_cells_fit():
    assert block_size(10, 10) == 131072
    assert block_size(100_000, 40_000) == 8192
    assert block_size(10**9, 10**9) == 2048


@settings(max_examples=80, deadline=None)
@given(models_and_tuples(), st.sets(st.integers(0, 4)))
def test_classes_may_be_closed(case, closed):
    made, tuples = case
    encoder = SetEncoder(made)
    members = sum(1 << i for i in range(len(made["regions"])) if i not in closed)
    for values in tuples:
        assert encoder.find(values, [members]) == naive.find(made, values, closed)


@settings(max_examples=80, deadline=None)
@given(models_and_tuples(), st.sampled_from([1, 2]))
def test_the_nearest_class_is_the_first_that_misses_fewest_columns(case, size):
    made, tuples = case
    with pytest.MonkeyPatch.context() as patch:  # also where the classes stand in many blocks
        patch.setattr(module, "block_size", lambda classes, cells: size)
        encoder = SetEncoder(made, "nearest")
    assert len(encoder.blocks) == -(-len(made["regions"]) // size)
    for values in tuples:
        assert encoder.nearest(values) == naive.nearest(made, values)
        assert encoder.find(values) == naive.find(made, values)


def test_many_classes_are_found_in_blocks(monkeypatch):
    cells = [{"low": str(i), "high": str(i)} for i in range(5000)] + [{"any": "*"}]
    made = document([numeric(*cells)], [[i] for i in range(5001)])
    wanted = {0: "0", 2047: "2047", 2048: "2048", 4999: "4999", 5000: "*"}
    whole = SetEncoder(made)
    monkeypatch.setattr(module, "ROOM", 1000)
    parts = SetEncoder(made)
    assert (len(whole.blocks), len(parts.blocks)) == (1, 3)
    for encoder in (whole, parts):
        assert {x: encoder.encode({"x": x})["x"] for x in wanted} == wanted
        assert encoder.nearest(["2050"]) == (2050, [])


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
    monkeypatch.setattr(module, "SETS_MEMO", 3)
    line = column("number", [{"low": "1", "high": "1"}])
    for value in (1, 1.0, True):  # equal to each other, and not the same text
        assert line.cover(value) == (value is not True)
    assert line.sets == {}
    for i in range(10):
        assert line.cover(str(i)) == (i == 1)
        assert len(line.sets) <= 3
