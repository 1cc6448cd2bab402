"""Drift: the same people do not call for learning again, other people do."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.golden.generate import table

import shoal
from shoal import api
from shoal.core.errors import InputError, MethodError
from shoal.engines.local.drift import FEWEST, Limits, Trials, drift
from shoal.engines.local.source import open_source
from shoal.model.model import RecodingModel

pytestmark = pytest.mark.local("drift")

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def golden(name):
    return RecodingModel.load(GOLDEN / f"{name}.model.json")


@pytest.mark.parametrize("name", ["mondrian", "clusters", "levels", "rules", "masks"])
def test_the_training_records_have_not_moved(name):
    found = drift(open_source(table()), golden(name))
    model = golden(name)
    assert not found.learn_again
    assert found.records == 400
    assert found.distance == pytest.approx(0, abs=1e-9)
    assert all(column.distance == pytest.approx(0, abs=1e-9) for column in found.columns.values())
    assert found.unseen == model.suppressed
    document = found.to_document()
    assert document["learn_again"] is False
    assert len(document["why"]) == 1
    assert set(document["columns"]) == set(model.schema.quasi)


def test_values_never_seen_call_for_learning_again():
    moved = table().with_columns(age=pl.lit("-99"))
    found = drift(open_source(moved), golden("mondrian"))
    assert found.learn_again
    assert found.columns["age"].unseen == 400
    assert found.columns["job"].unseen == 0
    assert found.unseen == found.suppressed == 400
    assert any("covered by no class" in reason for reason in found.why)


def test_a_column_that_moved_is_named():
    young = table().filter(pl.col("age").is_in(["-5", "0"]))
    found = drift(open_source(pl.concat([young] * 5)), golden("rules"))
    assert found.learn_again
    assert any("column 'age' is distributed differently" in reason for reason in found.why)
    assert found.columns["age"].distance > 0.5


def test_the_suppression_is_that_of_encode_safe():
    part = table().head(60)
    found = drift(open_source(part), golden("mondrian"))
    assert found.suppressed == api.encode(part, golden("mondrian"), safe=True).report.suppressed
    assert not found.learn_again
    assert any("encode-safe would suppress" in reason for reason in found.why)


def test_too_few_records_tell_nothing():
    found = drift(open_source(table().head(FEWEST - 1)), golden("mondrian"))
    assert not found.learn_again
    assert "too few" in found.why[0]
    with pytest.raises(InputError, match="no record"):
        drift(open_source(table().head(0)), golden("mondrian"))


def test_no_reason_holds_a_value():
    found = drift(open_source(table().with_columns(job=pl.lit("Alice"))), golden("mondrian"))
    assert "Alice" not in str(found.to_document())


NO_MARGIN = Limits(unseen=0, suppressed=0, distance=0)


@pytest.fixture
def drawn_once(monkeypatch):
    """Draw what chance does once for each size: it depends on the model and the size alone."""
    plain = Trials.draw

    @cache
    def kept(trials, before, way):
        return list(plain(trials, np.array(before), way))

    def draw(self, before, way="people"):
        return iter(kept(self, tuple(before.tolist()), way))

    monkeypatch.setattr(Trials, "draw", draw)


def alarms(records, model, *, size, samples, putting_back, seed):
    chance = np.random.default_rng(seed)
    found = 0
    for _ in range(samples):
        rows = chance.choice(records.height, size, replace=putting_back)
        found += drift(open_source(records[rows]), model, limits=NO_MARGIN).learn_again
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("putting_back", [True, False])
@pytest.mark.parametrize("size", [1, 30, 75, 150, 300, 400, 1500])
@pytest.mark.parametrize("name", ["mondrian", "levels"])
def test_false_alarms_on_samples_of_the_training_data_are_as_rare_as_stated(
    drawn_once, name, size, putting_back
):
    if size > 400 and not putting_back:
        pytest.skip("there are not so many")
    samples = 60
    wrong = alarms(
        table(), golden(name), size=size, samples=samples, putting_back=putting_back, seed=size
    )
    assert wrong <= 0.05 * samples + 3 * math.sqrt(0.05 * 0.95 * samples)


@pytest.mark.slow
@pytest.mark.parametrize("each", [12, pytest.param(60, marks=pytest.mark.nightly)])
def test_false_alarms_over_all_samples_together_are_at_most_five_percent(drawn_once, each):
    samples, wrong = 0, 0
    for name in ("mondrian", "levels", "clusters", "rules"):
        for size in (40, 100, 250, 400):
            for back in (True, False):
                samples += each
                wrong += alarms(
                    table(), golden(name), size=size, samples=each, putting_back=back, seed=7 * size
                )
    assert wrong <= 0.05 * samples + 3 * math.sqrt(0.05 * 0.95 * samples)


@pytest.fixture(scope="module")
def hospital():
    """Return 6,000 patients and a model of the first 5,000."""
    chance = np.random.default_rng(3)
    people = pl.DataFrame(
        {
            "age": chance.normal(50, 18, 6000).clip(0, 99).astype(int),
            "sex": chance.choice(["female", "male"], 6000),
            "zip": chance.integers(10, 40, 6000).astype(str),
            "diagnosis": chance.choice(list("abcdefgh"), 6000),
        }
    )
    schema = shoal.Schema.from_document(
        {"columns": {"age": {"role": "quasi", "kind": "numeric"}, "sex": "quasi", "zip": "quasi",
                     "diagnosis": "sensitive"}}
    )  # fmt: skip
    promise = [shoal.KAnonymity(5), shoal.LDiversity(2)]
    return people, shoal.learn(people.head(5000), schema, privacy=promise, method="mondrian")


def test_drift_on_1000_rows_of_the_training_data_itself_does_not_say_learn_again(hospital):
    people, model = hospital
    for seed in range(3):
        part = people.head(5000).sample(1000, seed=seed)
        found = shoal.drift(part, model)
        assert not found.learn_again, found.why
        assert found.in_small_classes.found > 0.1  # so few fill fewer classes
        safe = api.encode(part, model, safe=True, suppressed="remove").report
        assert found.suppressed == safe.suppressed  # which are joined
        assert found.suppressed < 0.02 * 1000
    later = shoal.drift(people.tail(1000), model)  # the same hospital: nothing moved
    assert not any("is distributed differently" in reason for reason in later.why)
    assert not later.learn_again, later.why


def test_real_drift_is_still_found(hospital):
    people, model = hospital
    older = people.with_columns(age=pl.col("age").clip(60)).sample(1000, seed=1)
    found = shoal.drift(older, model)
    assert found.learn_again
    assert any("column 'age'" in reason for reason in found.why)
    assert not any("column 'sex'" in reason for reason in found.why)
    elsewhere = people.with_columns(zip=pl.lit("99999")).sample(200, seed=1)
    assert any("no class" in reason for reason in shoal.drift(elsewhere, model).why)


def test_many_records_do_not_make_a_small_difference_an_alarm(hospital):
    people, model = hospital
    some = people.with_columns(sex=pl.when(pl.int_range(pl.len()) % 25 == 0).then(
        pl.lit("female")).otherwise(pl.col("sex")))  # fmt: skip
    found = shoal.drift(pl.concat([some] * 5), model)
    assert not found.learn_again


def test_the_rate_of_false_alarms_is_an_option_and_is_reported():
    records = table()
    assert drift(open_source(records), golden("levels")).to_document()["false_alarm"] == 0.05
    strict = shoal.drift(records, golden("levels"), false_alarm=0.001)
    assert strict.to_document()["false_alarm"] == 0.001
    for rate in (0, 1, -0.5, float("nan")):
        with pytest.raises(MethodError, match="false-alarm"):
            shoal.drift(records, golden("levels"), false_alarm=rate)


def test_a_model_without_counts_is_asked_for_unseen_records_only():
    from dataclasses import replace

    old = replace(golden("mondrian"), counts=None)
    assert not drift(open_source(table()), old).learn_again
    found = drift(open_source(table().with_columns(age=pl.lit("-99"))), old)
    assert found.learn_again
    assert found.columns["age"].p_value is None
    assert found.to_document()["small_class_share"] is None
