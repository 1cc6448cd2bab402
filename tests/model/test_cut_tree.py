"""Random trees of cuts: every walk ends where a scan of all regions does, and damage is refused."""

from __future__ import annotations

import random

import pytest
from tests.naive import encode as naive

from shoal.core.errors import ModelFormatError
from shoal.model.cut_tree import CutTree, regions_of
from shoal.model.document import checked, explicit_regions
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder

TREE = {
    "labels": ["a", "b", "ab", "c", "d", "cd", "e", "*"],
    "parents": [2, 2, 7, 5, 5, 7, 7, -1],
}


def numbers(name, cuts, *, missing):
    """Return a column of numbers from 0 to 99, without cells."""
    texts = [str(cut) for cut in cuts]
    about = {"role": "quasi", "kind": "numeric"}
    entry = {"name": name, "scale": "number", "root": "*", "cuts": texts, "first": "0",
             "last": "99", "cells": []}  # fmt: skip
    return about, {**entry, "missing": True} if missing else entry


def places(name, cuts):
    """Return a column over the nodes of a hierarchy, without cells."""
    about = {"role": "quasi", "kind": "categorical", "hierarchy": TREE}
    return about, {"name": name, "scale": "text", "root": "*", "cuts": cuts, "cells": []}


def cell_of(entry, low, high):
    """Return what a region between two cuts releases."""
    end = len(entry["cuts"]) + 1
    if entry["scale"] == "text":
        bounds = [0, *entry["cuts"], len(TREE["labels"])]
        inside = set(range(bounds[max(low, 0)], bounds[high]))
        node = min(inside)
        while not inside <= below(node):
            node = TREE["parents"][node]
        what = {"any": "*"} if TREE["parents"][node] < 0 else {"node": node}
    elif entry.get("missing") and low < 0:
        what = {"missing": True} if high == 0 else {"any": "*"}
    elif (low, high) == (-1, end):
        what = {"any": "*"}
    else:
        bounds = ["0", *entry["cuts"], "99"]
        what = {"label": f"{bounds[max(low, 0)]} to {bounds[high]}"}
    return {"cut": [low, high], **what}


def below(node):
    """Return a node and all below it."""
    return {node}.union(*(below(n) for n, above in enumerate(TREE["parents"]) if above == node))


def grown(seed, size=25):
    """Return the document of a random tree, and the boxes of its regions by hand."""
    chance = random.Random(seed)
    cuts = sorted(chance.sample(range(1, 99), chance.randrange(1, 12)))
    made = [numbers("x", cuts, missing=chance.random() < 0.5),
            places("place", sorted(chance.sample(range(1, 8), 3))),
            numbers("y", [10, 50], missing=True)]  # fmt: skip
    chance.shuffle(made)
    entries = [entry for _, entry in made]
    tree = {"cut": [], "left": []}
    boxes = []

    def grow(low, high, many):
        free = []
        for j, entry in enumerate(entries):
            first = max(low[j] + 1, 0 if entry.get("missing") else 1)
            free += [(j, cut) for cut in range(first, high[j])]
        if many <= 1 or not free:
            boxes.append((low, high))
            return 1
        j, cut = chance.choice(free)
        at = len(tree["cut"])
        tree["cut"].append(cut * len(entries) + j)
        tree["left"].append(0)
        left = chance.randrange(1, many)
        tree["left"][at] = grow(low, [*high[:j], cut, *high[j + 1 :]], left)
        return tree["left"][at] + grow([*low[:j], cut, *low[j + 1 :]], high, many - left)

    grow([-1] * 3, [len(entry["cuts"]) + 1 for entry in entries], size)
    for j, entry in enumerate(entries):
        pairs = sorted({(low[j], high[j]) for low, high in boxes})
        entry["cells"] = [cell_of(entry, *pair) for pair in pairs]
    names = [entry["name"] for entry in entries]
    document = {
        "format": "shoal-model", "version": 3, "method": "made", "records": 2 * len(boxes),
        "suppressed": 0, "on_unseen": "suppress", "utility": {}, "removed": [],
        "schema": {"columns": dict(zip(names, (a for a, _ in made), strict=True)),
                   "others": "drop"},
        "released": names, "columns": entries, "tree": tree, "counts": [2] * len(boxes),
    }  # fmt: skip
    return document, boxes


def tuples(names, seed, many=120):
    """Yield values of all kinds: at cuts, beside them, missing, and such as nobody may have."""
    chance = random.Random(seed)
    odd = ["", None, "?", "-1", "99.5", "1e1", " 50 ", "x", "*", "nowhere"]
    for _ in range(many):
        yield [
            chance.choice(odd) if chance.random() < 0.2
            else chance.choice(TREE["labels"]) if name == "place"
            else str(chance.choice([chance.randrange(100), chance.randrange(100) + 0.5]))
            for name in names
        ]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_a_walk_finds_what_a_scan_of_all_regions_finds(seed):
    document, _ = grown(seed)
    made = checked(document)
    explicit = {**made, "regions": explicit_regions(made)}
    encoder = Encoder(made)
    assert isinstance(encoder.index, CutTree)
    for values in tuples(encoder.names, seed):
        assert encoder.find(values) == naive.find(explicit, values)


@pytest.mark.parametrize("seed", range(12))
def test_regions_are_the_boxes_between_their_cuts(seed):
    document, boxes = grown(seed)
    encoder = Encoder(checked(document))
    regions = regions_of(document["columns"], document["tree"])
    assert len(regions) == len(boxes) == encoder.classes
    for number, (low, high) in enumerate(boxes):
        cells = [c["cells"][i] for c, i in zip(document["columns"], regions[number], strict=True)]
        assert [cell["cut"] for cell in cells] == [list(p) for p in zip(low, high, strict=True)]
        assert encoder.region(number) == regions[number]


@pytest.mark.parametrize("seed", range(12))
def test_every_value_of_the_domain_is_in_exactly_one_region(seed):
    document, boxes = grown(seed)
    encoder = Encoder(checked(document))
    columns = encoder.index.columns
    for values in tuples(encoder.names, seed + 100):
        at = [column.place(value) for column, value in zip(columns, values, strict=True)]
        around = [
            number for number, (low, high) in enumerate(boxes)
            if all(a < p <= b for a, p, b in zip(low, at, high, strict=True))
        ]  # fmt: skip
        assert len(around) == (-1 not in at)
        if -1 not in at:  # a value without a place may be one that nobody asks for
            assert encoder.find(values) in [*around, -1]  # a label may be finer than its region


@pytest.mark.parametrize("seed", range(6))
def test_trees_are_written_and_read_as_they_are(seed):
    document, _ = grown(seed)
    model = RecodingModel.from_document(document)
    again = model.to_document()
    assert again["tree"] == document["tree"]
    assert RecodingModel.from_document(again).fingerprint == model.fingerprint
    assert "regions" not in again


@pytest.mark.parametrize("seed", range(6))
def test_a_model_without_one_of_its_cells_is_refused(seed):
    document, _ = grown(seed)
    entry = document["columns"][seed % 3]
    del entry["cells"][seed % len(entry["cells"])]
    with pytest.raises(ModelFormatError):
        checked(document)


@pytest.mark.parametrize("change", ["longer", "shorter", "turned", "same cut"])
def test_a_tree_that_was_changed_is_refused(change):
    document, _ = grown(3)
    tree = document["tree"]
    if change == "longer":
        tree["cut"].append(tree["cut"][-1])
        tree["left"].append(1)
    elif change == "shorter":
        tree["cut"].pop()
    elif change == "turned":
        tree["left"] = [len(tree["left"]) + 1 - left for left in tree["left"]]
    else:
        tree["cut"] = [tree["cut"][0]] * len(tree["cut"])
    with pytest.raises(ModelFormatError):
        checked(document)


def test_one_region_covers_everything():
    document, boxes = grown(1, size=1)
    assert len(boxes) == 1
    encoder = Encoder(checked(document))
    for values in tuples(encoder.names, 5):
        assert encoder.find(values) == naive.find({**document, "regions": [[0, 0, 0]]}, values)
