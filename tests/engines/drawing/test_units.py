"""The steps of a line, and how its values are written."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from shoal.engines.coding import code_column
from shoal.engines.drawing.units import units_of
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.attribute import Attribute, Kind, Role


def column(values, **words):
    attribute = Attribute(name="x", role=Role.QUASI, **words)
    coder = code_column(pl.Series("x", values), attribute, marks=())
    return coder.domain, coder.found or attribute


CASES = {
    "whole numbers": (["3", "7"], {"kind": Kind.NUMERIC}, "5"),
    "decimals": (["0.25", "3"], {"kind": Kind.NUMERIC}, "1.62"),
    "negative": (["-4", "-2"], {"kind": Kind.NUMERIC}, "-3"),
    "days": (["2020-01-01", "2020-03-01"], {"kind": Kind.DATE}, "2020-01-31"),
    "German days": (["01.01.2020", "31.03.2020"],
                    {"kind": Kind.DATE, "date_format": "%d.%m.%Y", "dates": "same"}, "15.02.2020"),
    "moments": (["2020-01-01 10:00", "2020-01-01 10:04"], {"kind": Kind.DATE},
                "2020-01-01 10:02:00"),
    "clock": (["08:00", "09:00"], {"kind": Kind.DATE}, "08:30:00"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_value_between_two_is_written_and_placed_as_the_column_does(name):
    values, words, between = CASES[name]
    domain, attribute = column(values, **words)
    units = units_of(domain, attribute)
    low, high = units.known
    middle = low + (high - low) // 2 // units.step * units.step
    assert units.text(middle) == between
    again, _ = column([*values, between], **words)
    assert again.labels[1] == units.text(middle)
    assert units.place(middle) == pytest.approx(float(again.position[1]), abs=1e-9)
    assert [units.text(unit) for unit in units.known] == list(domain.labels)


def test_what_has_no_steps_has_none():
    tree = Hierarchy.from_tree("x", {"*": ["1", "2"]})
    for values, words in (
        (["a", "b"], {"kind": Kind.CATEGORICAL}),
        (["low", "high"], {"kind": Kind.ORDINAL, "order": ("low", "high")}),
        (["1", "2"], {"kind": Kind.NUMERIC, "hierarchy": tree}),
        (["1e-200", "2"], {"kind": Kind.NUMERIC}),
        ([None, None], {"kind": Kind.NUMERIC}),
    ):
        domain, attribute = column(pl.Series("x", values, dtype=pl.String), **words)
        assert units_of(domain, attribute) is None


def test_days_of_a_typed_column_have_steps_too():
    domain, attribute = column([date(2020, 1, 1), date(2020, 1, 4)])
    assert units_of(domain, attribute).step == 86_400


def test_units_between_two_places_lie_between_them():
    domain, attribute = column(["0.25", "3"], kind=Kind.NUMERIC)
    units = units_of(domain, attribute)
    assert [units.text(unit) for unit in units.between(0.295, 0.325)] == ["0.3", "0.31", "0.32"]
    domain, attribute = column(["2020-01-01", "2020-03-01"], kind=Kind.DATE)
    units = units_of(domain, attribute)
    low, high = date(2020, 1, 30).toordinal(), date(2020, 2, 1).toordinal()
    named = [units.text(unit) for unit in units.between(low, high)]
    assert named == ["2020-01-30", "2020-01-31", "2020-02-01"]
