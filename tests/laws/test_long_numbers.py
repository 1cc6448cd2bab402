"""Labels cover their values, however many digits a number has."""

from __future__ import annotations

import json
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import release as naive

import shoal
from shoal import api
from shoal.hierarchies.build import Intervals
from shoal.model.runtime import Encoder
from shoal.schema.schema import Attribute, Kind, Role, Schema

pytestmark = pytest.mark.local("the column's domain is built by the same code on Spark")

digits = st.one_of(
    st.text("0123456789", min_size=1, max_size=60), st.integers(10**28, 10**60 - 1).map(str)
)
wholes = st.builds("{}{}".format, st.sampled_from(["", "-"]), digits)
decimals = st.builds(
    lambda sign, text, at: f"{sign}{text[: at % len(text) + 1]}.{text[at % len(text) + 1 :] or 0}",
    st.sampled_from(["", "-"]), digits, st.integers(0, 59),
)  # fmt: skip
exponents = st.builds("{}e{}".format, st.one_of(wholes, decimals), st.integers(-40, 40))


def _near(base: str, steps: list[int]) -> list[str]:
    """Neighbours of a long number: they differ in its last digits alone."""
    return [str(int(base) * 10 + step) for step in steps]


numbers = st.one_of(
    st.lists(st.one_of(wholes, decimals, exponents), min_size=2, max_size=9),
    st.builds(_near, wholes, st.lists(st.integers(0, 9), min_size=2, max_size=9)),
)


def _schema(hierarchy: object = None) -> Schema:
    column = Attribute(name="q", role=Role.QUASI, kind=Kind.NUMERIC, hierarchy=hierarchy)  # type: ignore[arg-type]
    return Schema(attributes=(column, Attribute(name="id", role=Role.NEUTRAL)), waive=("id",))


@pytest.mark.parametrize("method", ["mondrian", "bestcut", "kmember"])
@settings(max_examples=40, deadline=None)
@given(values=numbers, k=st.integers(1, 2))
def test_a_label_covers_a_number_of_up_to_60_digits(method: str, values: list[str], k: int) -> None:
    frame = pl.DataFrame({"q": values, "id": [f"{value}x" for value in values]})
    made = api.anonymize(frame, _schema(), privacy=[shoal.KAnonymity(k)], method=method).table
    for label, text in made.select("q", "id").rows():
        assert naive.covers(label, text[:-1], {"kind": "numeric"})
    model = api.learn(frame, _schema(), privacy=[shoal.KAnonymity(k)])
    encoder = Encoder(json.loads(model.to_json()))
    for value in values:
        label = encoder.encode({"q": value, "id": "x"})["q"]
        assert naive.covers(label, value, {"kind": "numeric"})


@settings(max_examples=40, deadline=None)
@given(values=numbers, width=st.sampled_from([1, 5, 0.25]))
def test_an_interval_covers_a_number_of_up_to_60_digits(values: list[str], width: float) -> None:
    for row in Intervals(width=width).build("q", values).to_rows():
        low, high = row[1].strip("[)").split(", ")
        assert Fraction(low) <= Fraction(row[0]) < Fraction(high)


def test_a_number_of_30_digits_keeps_its_last_one() -> None:
    values = [str(2**100), str(2**100 + 1)] * 2
    made = api.anonymize(
        pl.DataFrame({"q": values, "id": ["x"] * 4}), _schema(), privacy=[shoal.KAnonymity(2)]
    ).table
    assert set(made["q"]) <= {*values, f"[{2**100}, {2**100 + 1}]"}
