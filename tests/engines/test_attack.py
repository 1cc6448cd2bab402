"""Attacks carried out on the hospital sample, its releases, and releases broken on purpose."""

import json
from dataclasses import replace

import polars as pl
import pytest
from tests.engines.test_infer import leaks, stays  # noqa: F401

from shoal import api
from shoal.core.errors import InputError
from shoal.engines.local.attack import Attacker
from shoal.engines.local.source import open_source
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Attribute, Role, Schema

pytestmark = pytest.mark.local("attacks")

K = 5
REGISTER = ["patient_id", "birth_date", "sex", "zip"]


@pytest.fixture(scope="session")
def table(stays):  # noqa: F811
    return pl.read_csv(stays.table, infer_schema=False).head(1500)


@pytest.fixture(scope="session")
def schema(stays):  # noqa: F811
    return Schema.load(stays.schema).with_promise(
        [KAnonymity(K)], replace_promise=True, suppression_limit=0.1
    )


@pytest.fixture(scope="session")
def register(table):
    """Return people from outside: half of those in the table, some with an error in the zip."""
    half = table.select(REGISTER).gather_every(2).with_row_index("i")
    wrong = (pl.col("i") % 10) == 0
    return half.with_columns(
        zip=pl.when(wrong).then(pl.lit("99999")).otherwise(pl.col("zip"))
    ).drop("i")


@pytest.fixture(scope="session")
def release(table, schema):
    return api.anonymize(table, schema).table


def attacker(table, release, schema, **more):
    return Attacker(open_source(table), open_source(release), schema, **more)


@pytest.mark.sampled
@pytest.mark.parametrize("method", [method.name for method in api.methods()])
def test_linkage_finds_most_people_before_and_at_most_one_in_k_after(
    method, table, schema, register
):
    few = table.head(400)
    made = api.anonymize(few, schema, method=method).table
    attack = attacker(few, made, schema)
    for errors in (False, True):
        for known in ({}, {"register": open_source(register), "key": "patient_id"}):
            found = attack.linkage(**known, errors=errors)
            assert found.before.success > (0.95 if not known else 0.8)
            assert found.after.success <= 1 / K + 1e-9
    assert attack.singling_out().after.success == 0


def test_who_knows_less_finds_fewer(table, release, schema):
    attack = attacker(table, release, schema)
    few = attack.linkage(columns=["sex"])
    assert few.before.success < 0.01
    assert few.after.success <= few.before.success + 1e-9
    with pytest.raises(InputError, match="knows no quasi-identifier"):
        attack.linkage(columns=["cost"])


def test_a_release_that_breaks_k_is_caught_by_linkage(table, release, schema):
    one = table.head(1).select(release.columns).cast(pl.String)
    broken = pl.concat([release.cast(pl.String), one])
    target = table.head(1)
    attack = attacker(table, broken, schema)
    assert attack.singling_out().after.detail["alone"] == 1
    found = attack.linkage(open_source(target.select(REGISTER)), key="patient_id")
    assert found.after.detail["highest"] > 0
    alone = Attacker(open_source(target), open_source(one), schema).linkage()
    assert alone.after.success == 1.0


def test_a_homogeneous_class_is_caught_by_homogeneity(table, release, schema):
    quasi = list(schema.quasi)
    first = release.select(quasi).row(0)
    inside = pl.all_horizontal(
        [pl.col(name).eq_missing(pl.lit(value)) for name, value in zip(quasi, first, strict=True)]
    )
    broken = release.with_columns(
        diagnosis=pl.when(inside).then(pl.lit("B20")).otherwise(pl.col("diagnosis"))
    )
    size = release.filter(inside).height
    before = attacker(table, release, schema).homogeneity().after.detail["certain_records"]
    after = attacker(table, broken, schema).homogeneity().after.detail["certain_records"]
    assert after >= size
    assert after > before
    assert attacker(table, broken, schema).similarity().after.detail["certain_records"] >= size
    assert attacker(table, broken, schema).skewness().after.detail["largest_gain"] > 0.9


def test_a_kept_order_is_caught_by_order(table, schema):
    options = {"keep_order": True}
    kept = api.anonymize(table, schema, **options).table
    caught = attacker(table, kept, schema).order()
    assert caught.after.advantage > 0.99
    mixed = api.anonymize(table, schema).table
    assert attacker(table, mixed, schema).order().after.advantage < 0.05


def test_minimality_catches_a_class_that_was_joined_for_diversity_alone():
    rows = [("a", "B20")] * 2 + [("b", d) for d in ("J18", "I21", "S72", "K80") * 2]
    original = pl.DataFrame(rows, schema=["x", "diagnosis"], orient="row")
    joined = original.with_columns(x=pl.lit("*"))
    schema = Schema(
        attributes=(
            Attribute(name="x", role=Role.QUASI),
            Attribute(name="diagnosis", role=Role.SENSITIVE),
        ),
        privacy=(KAnonymity(2), LDiversity(4, column="diagnosis")),
    )
    found = attacker(original, joined, schema).minimality()
    assert found.before.targets == 0
    assert found.after.detail["classes_that_say_something"] == 1
    assert found.after.success == 1.0
    assert found.after.baseline == pytest.approx(0.2)


def test_l_diversity_stands_between_the_attacker_and_certainty(table, schema):
    diverse = schema.with_promise([KAnonymity(K), LDiversity(3, column="diagnosis")])
    made = api.anonymize(table, diverse).table
    attack = attacker(table, made, diverse)
    assert attack.homogeneity().after.detail["certain_records"] == 0
    assert attack.background(1).after.detail["certain_records"] == 0
    assert attack.background(2).after.detail["certain_records"] >= 0


def test_three_questions_are_answered_before_and_after(table, release, schema):
    answers = attacker(table, release, schema).three_questions()
    assert [str(a.after.question) for a in answers] == [
        "singling out", "linkability", "inference",
    ]  # fmt: skip
    for answer in answers:
        assert answer.after.success <= answer.before.success
        document = answer.to_document()
        assert {"before", "after", "attack", "question"} == set(document)


def test_the_same_seed_gives_the_same_result_whatever_the_order_of_rows(table, release, schema):
    turned = release.sample(fraction=1, shuffle=True, seed=2)
    one = attacker(table, release, schema, targets=300).linkage()
    two = attacker(table, turned, schema, targets=300).linkage()
    assert one == two


def test_no_output_holds_a_value(table, release, schema, register):
    found = attacker(table, release, schema, targets=300).all(
        open_source(register), key="patient_id"
    )
    text = json.dumps([each.to_document() for each in found]) + repr(found)
    assert leaks(text, table) == []


def test_questions_that_cannot_be_asked(table, release, schema, register):
    with pytest.raises(InputError, match="has no column"):
        attacker(table.drop("zip"), release, schema)
    with pytest.raises(InputError, match="key column"):
        attacker(table, release, schema).linkage(open_source(register))
    strangers = register.with_columns(patient_id=pl.lit("0"))
    with pytest.raises(InputError, match="nobody in it is in the original"):
        attacker(table, release, schema).linkage(open_source(strangers), key="patient_id")
    alone = replace(
        schema, attributes=tuple(a for a in schema.attributes if a.role is not Role.SENSITIVE)
    )
    with pytest.raises(InputError, match="no sensitive column"):
        attacker(table, release, alone).homogeneity()
