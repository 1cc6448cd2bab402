"""A tree of cuts by hand: places, walks, and the cells of each region."""

from __future__ import annotations

import pytest
from tests.naive import encode as naive

from shoal.model.cut_tree import CutTree, regions_of
from shoal.model.document import checked
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder
from shoal.model.sets import SetEncoder

AGES = {
    "name": "age",
    "scale": "number",
    "root": "*",
    "cuts": ["20", "40"],
    "first": "0",
    "last": "99",
    "missing": True,
    "cells": [
        {"cut": [-1, 0], "missing": True},
        {"cut": [0, 1], "label": "0–19"},
        {"cut": [1, 3], "label": "20–99"},
        {"cut": [1, 2], "label": "20–39"},
        {"cut": [2, 3], "label": "40–99"},
    ],
}
PLACES = {
    "name": "place",
    "scale": "text",
    "root": "*",
    "cuts": [3],
    "cells": [
        {"cut": [-1, 2], "any": "*"},
        {"cut": [-1, 1], "node": 2},
        {"cut": [1, 2], "node": 3},
    ],
}
TREE = {"labels": ["a", "b", "ab", "c", "d", "*"], "parents": [2, 2, 5, 5, 5, -1]}


def document():
    """Return a model: missing ages; young; then by place: ab, by age again; c."""
    return {
        "format": "shoal-model",
        "version": 3,
        "method": "made",
        "records": 10,
        "suppressed": 0,
        "on_unseen": "suppress",
        "utility": {},
        "schema": {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric"},
                "place": {"role": "quasi", "kind": "categorical", "hierarchy": TREE},
            },
            "others": "drop",
        },
        "released": ["age", "place"],
        "removed": [],
        "columns": [AGES, PLACES],
        # nodes: age|missing, age|20, place|c, age|40 — numbers are cut * 2 + column
        "tree": {"cut": [0 * 2, 1 * 2, 1 * 2 + 1, 2 * 2], "left": [1, 1, 2, 1]},
        "counts": [2, 2, 2, 2, 2],
    }


EXPECTED = [
    ((None, "a"), 0),
    (("", "nowhere"), 0),
    (("0", "a"), 1),
    (("19.999999999999999999", None), 1),
    (("20", "a"), 2),
    (("39", "ab"), 2),
    (("40", "b"), 3),
    (("99", "a"), 3),
    (("99", "c"), 4),
    (("20.0", "c"), 4),
    (("2e1", " c "), 4),
    (("99.1", "c"), -1),
    (("-1", "a"), -1),
    (("x", "a"), -1),
    (("30", "d"), -1),
    (("30", "*"), -1),
    (("30", "nowhere"), -1),
    (("30", None), -1),
]


@pytest.mark.parametrize(("values", "wanted"), EXPECTED)
def test_a_record_walks_to_its_region(values, wanted):
    made = checked(document())
    explicit = {**made, "regions": regions_of(made["columns"], made["tree"])}
    assert naive.find(explicit, values) == wanted
    assert Encoder(made).find(values) == wanted
    assert SetEncoder(made).find(values) == wanted


def test_the_cells_of_every_region():
    made = checked(document())
    regions = [[0, 0], [1, 0], [3, 1], [4, 1], [2, 2]]
    assert regions_of(made["columns"], made["tree"]) == regions
    encoder = Encoder(made)
    assert isinstance(encoder.index, CutTree)
    assert [encoder.region(number) for number in range(5)] == regions
    assert [encoder.labels_of(number) for number in range(5)] == [
        [None, "*"],
        ["0–19", "*"],
        ["20–39", "ab"],
        ["40–99", "ab"],
        ["20–99", "c"],
    ]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (None, 0),
        ("", 0),
        ("0", 1),
        ("19", 1),
        ("20", 2),
        ("39.9", 2),
        ("40", 3),
        ("99", 3),
        ("100", -1),
        ("-0.1", -1),
        ("Alice", -1),
        (20, 2),
        (20.0, 2),
        (True, -1),
    ],
)
def test_places_among_cuts(value, place):
    encoder = Encoder(checked(document()))
    assert encoder.index.columns[0].place(value) == place
    assert encoder.index.columns[0].place(value) == place  # as it is remembered


def test_a_tree_that_does_not_fit_has_no_regions():
    made = checked(document())
    for tree in (
        {"cut": [4], "left": [1]},
        {"cut": [0, 0], "left": [1, 1]},
        {"cut": [0], "left": [2]},
        {"cut": [0], "left": [0]},
    ):
        assert regions_of(made["columns"], tree) is None


def test_it_is_read_and_written_as_it_is():
    model = RecodingModel.from_document(document())
    assert len(model.regions) == 5
    again = model.to_document()
    assert again["tree"] == document()["tree"]
    assert "regions" not in again
    assert again["columns"] == document()["columns"]
    assert model.tuples()[4] == ("20–99", "c")


def test_what_no_region_covers_is_widened_where_that_is_declared():
    encoder = Encoder(checked(document()), "nearest")
    sets = SetEncoder(checked(document()), "nearest")
    for values, wanted in EXPECTED:
        assert encoder.nearest(values) == sets.nearest(values)
        labels, region = encoder.tuple_of(values)
        assert region == wanted
        assert (labels, region) == sets.tuple_of(values)
    # of equals the first: the region of missing ages covers the place, as others cover the age
    assert encoder.encode({"age": "30", "place": "d"}) == {"age": "*", "place": "*"}
    assert encoder.encode({"age": "300", "place": "a"}) == {"age": "*", "place": "*"}
