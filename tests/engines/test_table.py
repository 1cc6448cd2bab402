"""An open local table: each question goes to the file that answers it, with this table."""

from __future__ import annotations

import polars as pl
import pytest

from shoal import api
from shoal.core.errors import InputError, MethodError
from shoal.core.secret_keys import Keys
from shoal.engines.base import Checks
from shoal.engines.local.engine import LocalEngine
from shoal.engines.local.table import local_source
from shoal.inference.infer import MAX_SIZE, THRESHOLD
from shoal.measures.risk.question import RiskQuestion
from shoal.privacy import KAnonymity, LDiversity, TCloseness
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("the local engine itself")

SCHEMA = Schema.from_document({"columns": {"id": "identifying", "age": "quasi",
                                           "ill": "sensitive"}})  # fmt: skip
FRAME = pl.DataFrame({"id": ["p", "q", "p", "r", "s", "s"], "age": ["1", "1", "2", "2", "3", "3"],
                      "ill": ["flu", "", "flu", "cold", "cold", "flu"]})  # fmt: skip
RELEASE = FRAME.with_columns(pl.Series("age", ["[1, 2]"] * 4 + ["3"] * 2)).drop("id")
QUESTION = RiskQuestion(quasi=("age",))


def compare(table, checks, release=RELEASE, *, centroids, schema=SCHEMA):
    """Compare a release with the records that a schema releases."""
    return table.records(schema, (), Keys()).compare(release, checks, centroids=centroids, seed=1)


@pytest.fixture
def table():
    return LocalEngine().open(FRAME)


def test_it_is_verified_as_it_stands(table):
    assert table.verify(SCHEMA, [KAnonymity(2)]).holds
    assert not table.verify(SCHEMA, [KAnonymity(3)]).holds
    assert table.verify(SCHEMA, [LDiversity(2)]).holds  # a missing value is a value
    assert not table.verify(SCHEMA, [LDiversity(2)], blanked=True).holds  # and a blank is none
    with pytest.raises(MethodError, match="--blanked goes with"):
        table.verify(SCHEMA, [TCloseness(0.5)], blanked=True)


def test_its_people_and_kept_columns_are_counted(table):
    repeats = table.repeats(SCHEMA, 2)
    assert (repeats.column, repeats.k) == ("id", 2)
    assert table.repeats(Schema.from_document({"columns": {"age": "quasi"}}), 2) is None
    assert table.check_kept(["ill"], ["ill"]).waived == ("ill",)


def test_risk_with_and_without_everybody(table):
    assert table.risk(QUESTION).classes == 3
    everybody = pl.concat([FRAME, FRAME])
    found = table.risk(QUESTION, population=everybody)
    assert found.classes == 3
    table.check_risk(QUESTION, population=everybody)
    with pytest.raises(InputError, match="has no column 'none'"):
        table.check_risk(RiskQuestion(quasi=("none",)))
    with pytest.raises((InputError, MethodError)):
        table.check_risk(RiskQuestion(quasi=("age",), sampling_fraction=2.0))


def test_a_release_is_measured_by_its_labels(table):
    found = table.measure(RELEASE, SCHEMA, starred=None, separator=None)
    assert (found["records"], found["classes"], found["suppressed"]) == (6, 2, 0)
    assert 0 < found["utility"]["ncp"] < 1


@pytest.mark.parametrize(("attacks", "more"), [("some", 3), ("all", 12)])
def test_a_release_is_compared_and_attacked(table, attacks, more):
    found = compare(table, Checks(attacks=attacks), centroids=False)
    assert (found.before.classes, found.after.classes) == (3, 2)
    assert len(found.attacks) == more


def test_people_of_a_population_belong_to_the_classes_that_cover_them(table):
    checks = Checks(attacks="some", population=pl.concat([FRAME] * 3))
    found = compare(table, checks, centroids=False)
    hidden = compare(table, checks, centroids=True)
    assert found.after.to_document() != hidden.after.to_document()
    assert found.before.to_document() == hidden.before.to_document()


def test_weights_that_were_not_released_are_left_out_of_the_release_only():
    weighted = FRAME.with_columns(pl.Series("w", [2.0] * 6))
    table = LocalEngine().open(weighted)
    checks = Checks(attacks="some", weights="w")
    found = compare(table, checks, centroids=False)
    released = RELEASE.with_columns(weighted["w"])
    columns = {"id": "identifying", "age": "quasi", "ill": "sensitive", "w": "neutral"}
    schema = Schema.from_document({"columns": columns})
    kept = compare(table, checks, released, centroids=False, schema=schema)
    assert found.after.to_document() != kept.after.to_document()


def test_columns_are_inferred(table):
    found = table.infer(max_size=MAX_SIZE, seconds=None, threshold=THRESHOLD)
    assert set(found.to_document()["columns"]) == {"id", "age", "ill"}


def test_a_model_is_checked_before_anything_is_encoded(table):
    model = api.learn(FRAME, SCHEMA, privacy=[KAnonymity(2)])
    with table.encode(model, on_unseen=None, star=True) as encoding:
        assert encoding.report.records == 0
        assert encoding.notices == ()
        assert encoding.batch.columns == ("age", "ill")
    with pytest.raises(InputError, match="has no column 'age'"):
        LocalEngine().open(FRAME.drop("age")).encode(model, on_unseen=None, star=True).__enter__()


def test_only_a_local_table_keeps_the_order_of_its_records(table):
    assert local_source(table, "--ledger") is table.source
    with pytest.raises(MethodError, match="--ledger needs the local engine"):
        local_source(object(), "--ledger")
