"""A small table with a column of every kind, and values that files like to spoil."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl
import pytest
from tests.engines.open_job import open_job
from tests.laws.test_release_laws import KINDS

import shoal

SECRETS = ["flu", "cold", "a, b", 'c"d', " x ", "", None]


def frame(records=240, seed=3):
    chance = random.Random(seed)
    rows = []
    for number in range(records):
        row = {kind: chance.choice([*values, None]) for kind, (_, values) in KINDS.items()}
        row |= {
            "s": chance.choice(SECRETS),
            "a.b": chance.choice(["1", "2", "10"]),
            "Note, or so": f"n{number % 7}",
            "name": f"person {number}",
        }
        rows.append(row)
    return pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))


def schema(quasi=("whole", "flat", "tree", "steps", "days"), **more):
    columns = {name: {"role": "quasi", **KINDS[name][0]} for name in quasi}
    columns |= {name: {"role": "neutral"} for name in KINDS if name not in quasi}
    columns["s"] = {"role": "sensitive", "kind": "categorical"}
    columns |= {"a.b": {"role": "neutral"}, "Note, or so": {"role": "neutral"}}
    columns["name"] = {"role": "identifying"}
    return shoal.Schema.from_document({"columns": columns, "suppression_limit": 0.1, **more})


def measured_on_spark(document):
    """Return what Spark says where the local engine measured a release: all but its fidelity."""
    notes = {**document["notes"]}
    notes["fidelity"] = "needs the tuples of the table on this machine (--engine local)"
    assert document["fidelity"]
    return {**document, "fidelity": None, "notes": notes}


def near(value):
    """Return a document to compare with: its floats may differ in their last digits."""
    if isinstance(value, dict):
        return {key: near(each) for key, each in value.items()}
    if isinstance(value, list):
        return [near(each) for each in value]
    return pytest.approx(value) if isinstance(value, float) else value


@contextmanager
def without_cuts() -> Iterator[None]:
    """Learn boxes, as Spark does where the driver does not take the tuples."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.jobs.learn.cut_regions", lambda *given: None)
        yield


PROMISE = [shoal.KAnonymity(3), shoal.LDiversity(2)]
FEW = ("flat", "tree", "steps")
CLOSE = [shoal.KAnonymity(2), shoal.TCloseness(0.3, column="s")]


def counted(quasi=FEW, models=PROMISE):
    """Return the frequency table of the table, as the local engine counts it."""
    return open_job(frame(), schema(quasi), models).counts.table
