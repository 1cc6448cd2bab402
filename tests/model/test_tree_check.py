"""Trees of cuts that are damaged or hostile do not pass."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest

from shoal.core.errors import ModelFormatError
from shoal.model.document import checked, explicit_regions
from shoal.model.runtime import Encoder

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "cuts.model.json"


def made():
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def column(document, name):
    return next(entry for entry in document["columns"] if entry["name"] == name)


def test_the_golden_tree_passes():
    document = checked(made())
    assert len(explicit_regions(document)) == len(document["counts"])


def test_trees_that_are_none():
    for change in (
        {"cut": [], "left": [1]},
        {"cut": "x", "left": []},
        {"cut": [0]},
        [],
        {"cut": [-1], "left": [1]},
        {"cut": [True], "left": [1]},
    ):
        with pytest.raises(ModelFormatError, match=r"its tree|counts"):
            checked({**made(), "tree": change})


@pytest.mark.parametrize("at", [0, 3, -1])
@pytest.mark.parametrize("by", [1, 600_000])
@pytest.mark.parametrize("key", ["cut", "left"])
def test_one_number_of_a_tree_changed_is_seen_or_harmless(key, at, by):
    document = made()
    document["tree"][key][at] += by
    try:
        encoder = Encoder(checked(document))
    except ModelFormatError:
        return
    for number in range(encoder.classes):  # every region has its cells
        assert len(encoder.region(number)) == len(encoder.names)


def test_a_tree_and_regions_are_one_too_many():
    with pytest.raises(ModelFormatError, match="one of them is enough"):
        checked({**made(), "regions": []})


@pytest.mark.parametrize(
    "change",
    [
        {"cuts": None},
        {"cuts": ["x"]},
        {"cuts": [1]},
        {"first": None},
        {"first": "x"},
        {"missing": 1},
        {"variant": 5},
        {"variant": "0"},
        {"last": None},
    ],
)
def test_a_damaged_column_of_numbers(change):
    document = made()
    column(document, "age").update(change)
    with pytest.raises(ModelFormatError):
        checked(document)


@pytest.mark.parametrize(
    "change", [{"cut": None}, {"cut": [0]}, {"cut": [5, 2]}, {"cut": [-2, 1]}, {"variant": 36}]
)
@pytest.mark.parametrize("name", ["age", "place", "zip"])
def test_a_damaged_cell(change, name):
    document = made()
    column(document, name)["cells"][0].update(change)
    with pytest.raises(ModelFormatError):
        checked(document)


def test_cuts_that_are_not_in_order():
    document = made()
    column(document, "place")["cuts"].reverse()
    if len(column(document, "place")["cuts"]) > 1:
        with pytest.raises(ModelFormatError, match="not in order"):
            checked(document)


def test_cuts_without_a_tree():
    document = json.loads((GOLDEN.parent / "levels.model.json").read_text(encoding="utf-8"))
    document["columns"][0]["cuts"] = []
    with pytest.raises(ModelFormatError, match="has cuts, and the model no tree"):
        checked(document)


def test_random_changes_are_refused_or_work():
    chance = random.Random(2)
    base = made()
    for _ in range(150):
        document = copy.deepcopy(base)
        place = document
        while isinstance(place, (dict, list)) and place:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            key = chance.choice(list(keys))
            if not isinstance(place[key], (dict, list)) or chance.random() < 0.2:
                place[key] = chance.choice([None, -1, 0, 7, "x", [], {}, True, 10**9])
                break
            place = place[key]
        try:
            encoder = Encoder(checked(document))
        except ModelFormatError:
            continue
        encoder.find(["17", "1970-01-01", "low", "Malmö", "nurse", "75275"][: len(encoder.names)])
