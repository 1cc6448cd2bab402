"""Risk of real and small tables."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.test_infer import adult15, leaks, stays  # noqa: F401
from tests.naive import risk as naive
from tests.on_spark import examples

from shoal import api
from shoal.core.errors import InputError, MethodError
from shoal.schema.schema import Attribute, Role, Schema

FIVE = ("age", "sex", "race", "marital-status", "native-country")
EIGHT = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "occupation",
)  # fmt: skip


def schema(*names):
    return Schema(attributes=tuple(Attribute(name=name, role=Role.QUASI) for name in names))


@pytest.mark.parametrize(
    ("columns", "classes", "percent", "below", "weighted"),
    [
        (("occupation", "native-country"), 394, 1.3063, (84, 208, 497), 0.0099312),
        (FIVE, 3426, 11.3587, (2080, 2954, 3912), 0.1918515),
        (EIGHT, 18109, 60.0391, (14021, 18073, 21977), 1.3037627),
    ],
)
def test_adult(adult15, columns, classes, percent, below, weighted):  # noqa: F811
    found = api.risk(adult15, schema(*columns))
    assert found.classes == classes
    assert round(100 * found.global_risk, 4) == percent
    assert tuple(found.below.values()) == below
    assert found.special["records"] == below[0]
    estimated = api.risk(adult15, schema(*columns), weights="fnlwgt")
    assert round(estimated.expected_reidentifications, 7) == weighted


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", None])] * 3), min_size=1, max_size=40))
def test_small_tables_agree_with_sums_over_records(rows):
    frame = pl.DataFrame(rows, schema=["x", "y", "z"], orient="row")
    found = api.risk(frame, schema("x", "y", "z"))
    assert found.global_risk == pytest.approx(naive.global_risk(rows))
    for limit in (2, 3, 5):
        assert found.below[str(limit)] == naive.records_below(rows, limit)
    sets = naive.minimal_uniques(rows)
    assert found.special["records"] == sum(bool(mine) for mine in sets)
    without = [tuple(row[:2]) for row in rows]
    assert found.columns["z"].global_risk_without == pytest.approx(naive.global_risk(without))
    alone = naive.records_below(without, 2)
    assert found.columns["z"].unique_because == found.below["2"] - alone


def test_missing_is_a_value_of_its_own_not_a_wildcard():
    frame = pl.DataFrame({"x": ["a", "a", None], "y": ["1", "1", "1"]})
    found = api.risk(frame, schema("x", "y"))
    assert (found.classes, found.unique) == (2, 1)


def test_a_population_gives_k_map_and_journalist_risk():
    sample = pl.DataFrame({"x": ["a", "b", "b", "c"]})
    people = pl.DataFrame({"x": ["a"] * 10 + ["b"] * 4 + ["c"]})
    found = api.risk(sample, schema("x"), population=people)
    assert found.prosecutor.maximum == 1.0
    assert found.journalist.maximum == 1.0
    assert found.population["smallest_class"] == 1
    assert found.population["population_unique_records"] == 1
    assert found.population["below"] == {"2": 1, "3": 1, "5": 3}
    assert found.global_risk == pytest.approx((1 / 10 + 2 / 4 + 1) / 4)
    assert found.marketer == pytest.approx((1 / 10 + 2 / 4 + 1) / 4)


def test_a_population_that_lacks_a_class_is_noticed_and_never_lowers_the_risk():
    sample = pl.DataFrame({"x": ["a", "b"]})
    people = pl.DataFrame({"x": ["a"] * 10})
    found = api.risk(sample, schema("x"), population=people)
    assert found.journalist.maximum == 1.0
    assert "1 classes have more records" in found.notices[0]


def test_a_sampling_fraction_is_the_weight_of_every_record():
    frame = pl.DataFrame({"x": ["a", "b", "b"], "w": ["20", "20", "20"]})
    by_fraction = api.risk(frame, schema("x"), sampling_fraction=0.05)
    by_weight = api.risk(frame, schema("x"), weights="w")
    assert by_fraction == by_weight
    assert by_fraction.journalist.maximum == pytest.approx(1 / 20)


def test_households_share_their_risk():
    frame = pl.DataFrame(
        {"x": ["a", "a", "b", "b", "b", "b"], "home": ["1", "2", "1", "2", None, None]}
    )
    found = api.risk(frame, schema("x"), household="home").household
    together = 1 - (1 - 1 / 2) * (1 - 1 / 4)
    assert found["households"] == 4
    assert found["maximum"] == pytest.approx(together)
    assert found["expected_reidentifications"] == pytest.approx(4 * together + 2 / 4)


def test_the_gate_lets_pass_what_is_at_or_under_the_limit():
    frame = pl.DataFrame({"x": ["a"] * 11 + ["b"] * 12})
    found = api.risk(frame, schema("x"))
    assert found.within(1 / 11)
    assert not found.within(0.09)
    assert found.within(0.09, measure="average")
    for wrong in ({"max_risk": 2}, {"max_risk": 0.1, "measure": "median"}):
        with pytest.raises(MethodError):
            found.within(**wrong)


def test_bad_questions_are_refused_without_a_value():
    frame = pl.DataFrame({"x": ["a", "b"], "w": ["Qzx", "-3"]})
    with pytest.raises(InputError, match="2 weights are not numbers above 0") as caught:
        api.risk(frame, schema("x"), weights="w")
    assert "Qzx" not in str(caught.value)
    with pytest.raises(InputError, match="no column 'nope'"):
        api.risk(frame, schema("nope"))
    with pytest.raises(MethodError, match="give one of"):
        api.risk(frame, schema("x"), weights="w", sampling_fraction=0.5)
    with pytest.raises(MethodError, match="sampling fraction"):
        api.risk(frame, schema("x"), sampling_fraction=0)
    with pytest.raises(InputError, match="no record"):
        api.risk(frame.clear(), schema("x"))
    with pytest.raises(InputError, match="no quasi-identifier"):
        api.risk(frame, Schema(attributes=(Attribute(name="x", role=Role.NEUTRAL),)))


def test_no_output_holds_a_value(stays):  # noqa: F811
    table = pl.read_csv(stays.table, infer_schema=False)
    names = ("birth_date", "sex", "zip", "insurance")
    found = api.risk(table, schema(*names), household="name")
    assert leaks(json.dumps(found.to_document()) + repr(found), table) == []


def test_the_order_of_records_does_not_matter(adult15):  # noqa: F811
    few = adult15.head(2000)
    turned = few.sample(fraction=1, shuffle=True, seed=4)
    one, two = (api.risk(t, schema(*FIVE), weights="fnlwgt") for t in (few, turned))
    assert one.columns == two.columns
    assert np.isclose(one.expected_reidentifications, two.expected_reidentifications)
