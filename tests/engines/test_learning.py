"""Parts of a table to learn from."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.engines.local.learning import FOLDS, FOLDS_OF_FEW, Tables, parts_of, score_fold
from shoal.engines.local.source import open_source
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document(
    {"columns": {"a": {"role": "quasi"}, "c": {"role": "quasi"}, "t": {"role": "sensitive"}}}
)


def test_parts_are_as_even_as_can_be_for_each_value_of_the_target():
    frame = pl.DataFrame({"a": range(103), "c": ["x"] * 103, "t": ["yes"] * 23 + ["no"] * 80})
    parts = parts_of(open_source(frame), SCHEMA, "t", seed=0)
    assert parts.folds == FOLDS_OF_FEW
    for value, count in (("yes", 23), ("no", 80)):
        inside = np.bincount(parts.part[(parts.frame["t"] == value).to_numpy()])
        assert inside.sum() == count
        assert inside.max() - inside.min() <= 1
    train, test = parts.split(2)
    assert train.height + test.height == 103
    large = pl.concat([frame] * 30)
    assert parts_of(open_source(large), SCHEMA, "t", seed=0).folds == FOLDS


def test_values_that_training_has_not_seen_are_no_error():
    train = pl.DataFrame({"a": [1, 2, 3, 4] * 5, "c": ["x", "y"] * 10, "t": ["n", "y"] * 10})
    test = pl.DataFrame({"a": [9, 2], "c": ["z", "x"], "t": ["n", "other"]})
    coded = pl.DataFrame({"a": ["*", "[1, 2]"], "c": ["*", "x"]})
    released = pl.DataFrame({"a": ["[1, 2]", "[3, 4]"] * 10, "c": ["*"] * 20, "t": train["t"]})
    found = score_fold(Tables(train, released, test, coded), SCHEMA, "t", seed=0)
    assert found.majority in (0.0, 0.5)
    for ways in found.models.values():
        assert all(0 <= scores["accuracy"] <= 1 for scores in ways.values())
