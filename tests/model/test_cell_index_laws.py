"""Classes that overlap, of any columns together: with some of them closed, and as a stream."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.made import ORDER, TREE, document, models_and_tuples, numeric
from tests.naive import encode as naive

from shoal.model import cell_index as module
from shoal.model.runtime import Encoder


def mixed(seed, classes):
    """Return a model of texts, nodes, ranks and ranges in one, and tuples to look for."""
    chance = random.Random(seed)
    ranges = [
        {"low": str(low), "high": str(low + chance.randrange(1, 30))}
        for low in range(0, 90, 3)
    ]  # fmt: skip
    entries = [
        {**numeric(*ranges, {"any": "*"}), "name": "x"},
        {"name": "place", "scale": "text", "root": "*",
         "cells": [*({"node": node} for node in range(7)), {"missing": True}],
         "about": {"role": "quasi", "hierarchy": TREE}},
        {"name": "job", "scale": "text", "root": "*",
         "cells": [{"value": "nurse"}, {"values": ["nurse", "cook"], "label": "both"},
                   {"any": "*"}]},
        {"name": "grade", "scale": "rank", "root": "*",
         "cells": [{"low": a, "high": b, "label": f"{a}-{b}"}
                   for i, a in enumerate(ORDER) for b in ORDER[i:]],
         "about": {"role": "quasi", "order": ORDER}},
    ]  # fmt: skip
    chance.shuffle(entries)
    sizes = [len(entry["cells"]) for entry in entries]
    regions = [[chance.randrange(size) for size in sizes] for _ in range(classes)]
    values = {
        "x": ["", None, "x", *map(str, range(0, 120, 7))],
        "place": [*TREE["labels"], None, "nowhere"],
        "job": ["nurse", "cook", " cook ", "pilot", None],
        "grade": [*ORDER, "lowest", None],
    }
    names = [entry["name"] for entry in entries]
    tuples = [[chance.choice(values[name]) for name in names] for _ in range(150)]
    return document(entries, regions), tuples


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [3, 40, 300])
def test_columns_of_all_kinds_together(seed, classes):
    made, tuples = mixed(seed, classes)
    encoder = Encoder(made)
    found = [encoder.find(values) for values in tuples]
    assert found == [naive.find(made, values) for values in tuples]
    assert any(at >= 0 for at in found) or classes == 3


@pytest.mark.parametrize("seed", range(3))
def test_the_next_class_is_found_where_finer_ones_are_closed(seed):
    made, tuples = mixed(seed, 200)
    encoder = Encoder(made)
    for values in tuples[:40]:
        closed, before = {}, -1
        while (at := encoder.index.find(values, closed)) >= 0:
            assert at > before  # one after the other, in the order of preference
            assert at == naive.find(made, values, closed)
            closed[at] = 1
            before = at
        assert naive.find(made, values, closed) == -1


@settings(max_examples=40, deadline=None)
@given(models_and_tuples(), st.sets(st.integers(0, 4)))
def test_any_model_with_any_classes_closed(case, closed):
    made, tuples = case
    encoder = Encoder(made)
    shut = dict.fromkeys(closed, 1)
    for values in tuples:
        assert encoder.index.find(values, shut) == naive.find(made, values, shut)


def test_a_stream_leaves_nothing_behind(monkeypatch):
    monkeypatch.setattr(module, "MEMO", 16)
    made, _ = mixed(1, 120)
    encoder = Encoder(made)
    names = encoder.names
    for number in range(600):
        values = [f"{number}.{at}" for at, _ in enumerate(names)]
        encoder.find(values)
    for column in encoder.index.columns:
        assert len(column.memo) <= 16
        assert len(column.found) <= 16
    groups = encoder.index.groups
    assert sorted(number for group in groups for number in group) == list(range(120))


def test_classes_of_equal_cells_are_one_group_and_the_first_wins():
    made, _ = mixed(2, 30)
    made["regions"] = [made["regions"][0]] * 20
    encoder = Encoder(made)
    assert [len(group) for group in encoder.index.groups] == [20]
    values = next(v for v in mixed(2, 30)[1])
    assert encoder.find(values) in (0, -1)
