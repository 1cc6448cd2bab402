"""Classes that may overlap are found by their cells, as a scan of all of them finds them."""

from __future__ import annotations

import random

import pytest
from tests.model.made import document, numeric
from tests.naive import encode as naive

from shoal.model import cell_index as module
from shoal.model.runtime import Encoder


def overlapping(classes, columns, seed=0):
    """Return a model of random boxes, and tuples to look for."""
    chance = random.Random(seed)
    entries = []
    for j in range(columns):
        cells = []
        for _ in range(40):
            low = chance.randrange(90)
            cells.append({"low": str(low), "high": str(low + chance.randrange(1, 25))})
        cells += [{"any": "*"}, {"missing": True}]
        entries.append({**numeric(*cells), "name": f"x{j}"})
    regions = [[chance.randrange(42) for _ in range(columns)] for _ in range(classes)]
    values = ["", "x", *(str(number) for number in range(0, 100, 3)), "7.5"]
    tuples = [[chance.choice(values) for _ in range(columns)] for _ in range(150)]
    return document(entries, regions), tuples


@pytest.mark.parametrize("classes", [1, 8, 9, 120])
def test_the_first_box_around_a_point_is_found(classes):
    made, tuples = overlapping(classes, 3)
    encoder = Encoder(made)
    assert encoder.index.plain == []
    for values in tuples:
        assert encoder.find(values) == naive.find(made, values)
    assert (len(encoder.index.trees) > 0) == (classes > module.FEW)


def test_some_classes_may_be_left_out():
    made, tuples = overlapping(60, 2, seed=4)
    encoder = Encoder(made)
    closed = dict.fromkeys(range(0, 60, 2), 1)
    for values in tuples:
        assert encoder.index.find(values, closed) == naive.find(made, values, closed)


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "MEMO", 5)
    made, tuples = overlapping(20, 2)
    encoder = Encoder(made)
    for values in tuples:
        encoder.find(values)
        assert all(len(column.memo) <= 5 for column in encoder.index.columns)


def test_without_classes_nothing_is_found():
    assert Encoder(document([numeric({"any": "*"})], [])).find(["1"]) == -1
