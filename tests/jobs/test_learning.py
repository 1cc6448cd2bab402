"""Models trained on a release: what is held out stays out, and what cannot be asked is refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.core.errors import InputError, SchemaError
from shoal.engines.local import learning as engine
from shoal.jobs import release as release_job
from shoal.jobs.learning import WAYS

WORDS = {"qi": ["age", "town"], "sensitive": ["bought"], "k": 3, "method": "mondrian"}


@pytest.fixture(autouse=True)
def _few_parts(monkeypatch):
    """Part tables in three: five take longer and show no more."""
    monkeypatch.setattr(engine, "FOLDS_OF_FEW", 3)


def people(records=240, seed=0):
    """Return made-up people; who buys depends on age and town."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 80, records), rng.integers(0, 4, records)
    bought = (age + 15 * (town == 2) + rng.normal(0, 6, records) > 50).astype(int)
    return pl.DataFrame({"age": age, "town": [f"t{n}" for n in town], "bought": bought})


def learned(frame, **words):
    """Return what the report of a release says of models trained on it."""
    return shoal.anonymize(frame, learn="bought", **{**WORDS, **words}).to_dict()["learning"]


def test_every_model_in_every_way_beside_the_commonest_value():
    found = learned(people())
    assert found["folds"] == 3
    assert found["records"] == found["of"] == 240
    assert len(found["models"]) == 3
    for ways in found["models"].values():
        assert set(ways) == set(WAYS)
        for scores in ways.values():
            for score in scores.values():
                assert 0 <= score["least"] <= score["mean"] <= score["most"] <= 1
        assert ways["raw"]["auc"]["mean"] > 0.85
        assert ways["release"]["auc"]["mean"] > 0.7
    assert 0.4 < found["majority"]["mean"] < 0.7


def test_the_same_request_has_the_same_figures_and_rows_do_not_matter_to_the_release():
    frame = people(60)
    first = learned(frame)
    assert first == learned(frame)
    assert first != learned(frame, seed=1)


def test_held_out_records_are_seen_by_nothing_that_is_trained(monkeypatch):
    seen = []
    whole = engine.score_fold

    def look(tables, schema, target, *, seed):
        seen.append(tables)
        return whole(tables, schema, target, seed=seed)

    monkeypatch.setattr("shoal.jobs.learning.score_fold", look)
    frame = people(100).with_columns(number=pl.int_range(100).cast(pl.String))
    learned(frame, neutral=["number"], waive=["number"])
    every = []
    for tables in seen:
        train, test = set(tables.train["number"]), set(tables.test["number"])
        assert not train & test
        assert len(train | test) == 100
        assert set(tables.released["number"]) <= train
        assert tables.encoded.height == tables.test.height
        assert (tables.encoded["number"] == tables.test["number"]).all()
        every += list(test)
    assert len(every) == len(set(every)) == 100


def test_a_target_of_pure_chance_is_not_learned():
    rng = np.random.default_rng(1)
    frame = people(400).with_columns(bought=pl.Series(rng.integers(0, 2, 400)))
    for ways in learned(frame)["models"].values():
        for scores in ways.values():
            assert 0.35 < scores["auc"]["mean"] < 0.65


def test_all_records_of_a_person_are_in_one_part(monkeypatch):
    seen = []
    whole = engine.score_fold

    def look(tables, schema, target, *, seed):
        seen.append((tables.train, tables.test))
        return whole(tables, schema, target, seed=seed)

    monkeypatch.setattr("shoal.jobs.learning.score_fold", look)
    frame = people(150).with_columns(who=pl.Series([f"p{n // 3}" for n in range(150)]))
    learned(frame, person=["who"])
    assert seen
    for train, test in seen:
        assert not set(train["who"]) & set(test["who"])


def test_records_without_a_target_are_left_out_and_counted():
    frame = people(100).with_columns(
        bought=pl.when(pl.int_range(100) < 10).then(None).otherwise(pl.col("bought"))
    )
    found = learned(frame)
    assert (found["records"], found["without_target"]) == (90, 10)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"learn": "nothing"}, "no column 'nothing'"),
        ({"learn": "age"}, "must be released as it is"),
    ],
)
def test_a_target_that_is_not_released_is_refused_before_the_work(words, problem, monkeypatch):
    monkeypatch.setattr(release_job, "account", None)  # would be called after the search
    with pytest.raises(SchemaError, match=problem):
        shoal.anonymize(people(), **{**WORDS, **words})


@pytest.mark.parametrize("values", [["x"] * 60, [str(n) for n in range(60)]])
def test_a_target_of_one_value_or_too_many_is_refused(values):
    frame = people(60).with_columns(bought=pl.Series(values))
    with pytest.raises(InputError, match="different values"):
        learned(frame, waive=["bought"])


def test_too_many_values_are_refused_before_anything_is_written(tmp_path):
    people(60).with_columns(bought=pl.Series(map(str, range(60)))).write_csv(tmp_path / "t.csv")
    words = {**WORDS, "learn": "bought", "waive": ["bought"]}
    with pytest.raises(InputError, match="different values"):
        shoal.anonymize(tmp_path / "t.csv", out=tmp_path / "r.csv", **words)
    assert not (tmp_path / "r.csv").exists()


def test_of_a_large_table_a_sample_is_learned_from(monkeypatch):
    monkeypatch.setattr(engine, "RECORDS", 100)
    found = learned(people(300))
    assert (found["records"], found["of"]) == (100, 300)


def test_models_of_drawn_values_are_tested_on_values():
    found = learned(people(), method="bestcut", release="draw")
    for scores in found["models"].values():
        assert scores["raw_on_release"] == scores["raw"]
        assert scores["release"]["accuracy"]["mean"] > 0.5
