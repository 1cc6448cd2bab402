"""Drift by what devices sent: calm samples are calm, and the column that changed is named."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest

from shoal import api, edge
from shoal.core.errors import InputError
from shoal.engines.local import encoded_drift as module
from shoal.engines.local.drift import holm
from shoal.engines.local.encoded_drift import encoded_drift
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("drift")

COLUMNS = ("a", "b", "c")


def people(records, seed, *, moved=0.0):
    chance = random.Random(seed)
    rows = []
    for _ in range(records):
        row = {name: chance.randrange(20) for name in COLUMNS}
        if moved and chance.random() < 2 * moved:
            row["b"] = chance.randrange(10)  # by `moved` in total variation
        rows.append(row)
    return rows


@pytest.fixture(scope="module")
def model():
    schema = Schema.from_document(
        {
            "columns": {name: {"role": "quasi", "kind": "numeric"} for name in COLUMNS},
            "privacy": [KAnonymity(5).to_document()],
        }
    )
    return api.learn(pl.DataFrame(people(4000, 0)), schema=schema, method="mondrian")


def sent(model, rows):
    encoder = edge.load(model)
    return [encoder.encode(row) for row in rows]


def test_samples_of_the_training_records_are_calm(model):
    training = sent(model, people(4000, 0))
    chance = random.Random(1)
    alarms = sum(encoded_drift(chance.sample(training, 500), model).learn_again for _ in range(10))
    assert alarms <= 1


def test_new_records_of_the_same_people_are_calm(model):
    assert not encoded_drift(sent(model, people(1000, 9)), model).learn_again


def test_the_column_that_moved_is_named_and_no_other(model):
    found = encoded_drift(sent(model, people(1000, 3, moved=0.15)), model)
    assert found.changed == ("b",)
    assert found.learn_again
    assert found.to_document()["changed"] == ["b"]
    assert "column 'b'" in found.why[0]


def test_records_of_no_class_are_a_reason(model):
    found = encoded_drift(sent(model, [{"a": 99, "b": 99, "c": 99}] * 200), model)
    assert found.learn_again
    assert found.unseen == 200
    assert "covered by no class" in " ".join(found.why)


def test_a_few_records_say_nothing(model):
    found = encoded_drift(sent(model, people(10, 1)), model)
    assert not found.learn_again
    assert "too few" in found.why[0]


def test_no_record_or_one_that_is_none_is_refused(model):
    with pytest.raises(InputError, match="no record"):
        encoded_drift([], model)
    with pytest.raises(InputError, match="lacks a quasi-identifier") as caught:
        encoded_drift([{"a": "Alice"}], model)
    assert "Alice" not in str(caught.value)


def test_a_cut_divides_the_classes_that_reach_it(model):
    spans = np.concatenate(module._cuts(model))
    assert len(spans) == len(model.regions) - 1
    assert [0, len(model.regions)] in spans[:, [0, 2]].tolist()
    assert (spans[:, 0] < spans[:, 1]).all()
    assert (spans[:, 1] < spans[:, 2]).all()


def test_holm_counts_all_tests():
    assert holm({"a": 0.01, "b": 0.02, "c": 0.9}, 0.05) == ["a", "b"]
    assert holm({"a": 0.02, "b": 0.02, "c": 0.9}, 0.05) == []
