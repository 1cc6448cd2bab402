"""Recoding for a target: what it keeps, what it gives away, and that promises stand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.core.errors import ShoalError
from shoal.methods.informed import WEIGHTS


def people(n=800):
    rng = np.random.default_rng(1)
    age, job = rng.integers(18, 80, n), rng.choice(list("abcdefgh"), n)
    rich = (age > 45) & np.isin(job, list("aceg")) ^ (rng.random(n) < 0.1)
    return pl.DataFrame(
        {
            "age": age,
            "job": [None if i % 50 == 0 else v for i, v in enumerate(job)],
            "noise": rng.integers(0, 1000, n),
            "rich": np.where(rich, "yes", "no"),
        }
    )


WORDS = {"qi": ["age", "job", "noise"], "k": 10, "utility": "information", "target": "rich",
         "method": "bestcut", "attacks": False}  # fmt: skip


def sure(table):
    """Return the share of records whose class's commonest value is theirs."""
    held = table.group_by("age", "job", "noise", "rich").len()
    most = held.group_by("age", "job", "noise").agg(pl.col("len").max())
    return most["len"].sum() / table.height


@pytest.mark.parametrize("role", ["sensitive", "neutral"])
def test_classes_say_more_of_the_target_than_others(role):
    asked = shoal.anonymize(people(), **{role: ["rich"]}, **WORDS)
    other = shoal.anonymize(people(), **{role: ["rich"]}, **{**WORDS, "utility": "ncp"})
    assert sure(asked.table) > sure(other.table)
    told = asked.report.facts["for"]
    assert told["target"] == "rich"
    assert told["weight"] in WEIGHTS
    held = asked.table.group_by("age", "job", "noise").agg(
        pl.len(), pl.col("rich").n_unique().alias("values")
    )
    alone = held.filter(pl.col("values") == 1)["len"].sum() / 800
    assert told["one_value"] == pytest.approx(alone, abs=1e-6)
    assert held["len"].min() >= 10
    assert any("one value of 'rich'" in text for text in asked.report.warnings)


def test_a_promise_about_the_target_stands():
    made = shoal.anonymize(people(), sensitive=["rich"], l=2, **WORDS)
    assert made.report.facts["for"]["one_value"] == 0
    assert all(verdict.holds for verdict in made.report.privacy)
    close = shoal.anonymize(people(), sensitive=["rich"], t=0.3, **WORDS)
    assert all(verdict.holds for verdict in close.report.privacy)


@pytest.mark.parametrize("method", ["auto", "refine"])
def test_other_names_of_it(method):
    one = shoal.anonymize(people(), sensitive=["rich"], **WORDS)
    other = shoal.anonymize(people(), sensitive=["rich"], **{**WORDS, "method": method})
    assert one.table.equals(other.table)


def test_drawn_values_say_it_too():
    made = shoal.anonymize(people(), sensitive=["rich"], release="draw", **WORDS)
    old = made.table.filter((pl.col("age") > 45) & pl.col("job").is_in(list("aceg")))
    assert (old["rich"] == "yes").mean() > 0.6
    assert made.table.schema["age"] == pl.Int64


@pytest.mark.parametrize("words", [
    {"target": "age"}, {"target": "no"}, {"target": None}, {"target": "noise", "qi": ["age"]},
])  # fmt: skip
def test_a_target_that_is_none_is_refused(words):
    with pytest.raises(ShoalError):
        shoal.anonymize(people(), sensitive=["rich"], **{**WORDS, **words})


def test_a_table_of_one_class():
    made = shoal.anonymize(people(12), sensitive=["rich"], **WORDS)
    assert made.report.classes == 1
