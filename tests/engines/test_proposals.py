"""Hierarchies proposed while a column is coded."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.engines.coding import coder_of
from shoal.engines.proposals import proposed
from shoal.hierarchies.build import Dates, Intervals, Mask
from shoal.schema.attribute import Attribute, Kind, Proposals, Role
from shoal.schema.schema import Schema

ZIPS = pl.Series("zip", ["75275", "75201", "10115", "10117", "20095"])
DAYS = pl.Series(
    "born", ["1950-03-01", "1961-12-24", None, "1999-01-31", "2001-07-07", "1944-05-05"]
)
SALARIES = pl.Series("salary", [1200, 3400, 560, 7800, 4300, 12900])


def quasi(name, **words):
    return Attribute(name=name, role=Role.QUASI, **words)


def coded(series, wanted, **words):
    schema = Schema(attributes=(quasi(series.name, **words),), proposals=wanted)
    return coder_of(series.unique(), schema, series.name)


def test_codes_are_masked_although_they_look_like_numbers():
    coder = coded(ZIPS, Proposals.TREES)
    assert coder.found == quasi("zip", kind=Kind.CATEGORICAL, hierarchy=Mask())
    assert "752**" in coder.domain.tree
    assert coded(ZIPS, Proposals.NONE).domain.kind is Kind.NUMERIC


def test_texts_that_are_dates_become_dates_and_get_levels_where_levels_are_chosen():
    assert coded(DAYS, Proposals.TREES).found == quasi("born", kind=Kind.DATE)
    found = coded(DAYS, Proposals.LEVELS)
    assert isinstance(found.found.hierarchy, Dates)
    assert found.domain.ladder.get("1950s") is not None


def test_numbers_get_rounded_intervals_where_levels_are_chosen():
    assert proposed(SALARIES, quasi("salary"), Proposals.TREES) is None
    found = coded(SALARIES, Proposals.LEVELS)
    assert found.found.hierarchy == Intervals(width=1000, levels=3)
    assert found.domain.ladder.get("[1000, 2000)") is not None


@pytest.mark.parametrize("wanted", [Proposals.TREES, Proposals.LEVELS])
def test_what_the_schema_says_is_kept(wanted):
    own = quasi("zip", hierarchy=Mask(char="#"))
    assert proposed(ZIPS, own, wanted) is None
    assert proposed(ZIPS, Attribute(name="zip", role=Role.NEUTRAL), wanted) is None
    ordered = quasi("zip", kind=Kind.ORDINAL, order=tuple(ZIPS))
    assert proposed(ZIPS, ordered, wanted) is None
    number = proposed(ZIPS, quasi("zip", kind=Kind.NUMERIC), wanted)
    assert number is None or isinstance(number.hierarchy, Intervals)


def test_days_that_may_be_months_are_left_alone():
    unclear = pl.Series(
        "born", ["01/02/1950", "03/04/1961", "05/06/1970", "07/08/1980", "02/01/1999"]
    )
    assert proposed(unclear, quasi("born"), Proposals.LEVELS) is None
    assert coded(unclear, Proposals.LEVELS).domain.kind is Kind.CATEGORICAL


def test_a_column_that_is_not_all_what_it_seems_is_coded_as_before():
    """30 February passes for a date by its form; "?" is missing to infer and a text to a schema."""
    days = pl.Series("born", [*DAYS, "1950-02-30"])
    ages = pl.Series("age", ["34", "40", "51", "?", "62", "77"])
    for series in (days, ages):
        found = coded(series, Proposals.LEVELS)
        assert found.found is None
        assert found.domain.kind is Kind.CATEGORICAL


def test_empty_columns_and_columns_of_nulls_are_coded():
    for series in (pl.Series("zip", [], dtype=pl.String), pl.Series("zip", [None, None])):
        assert len(coded(series.cast(pl.String), Proposals.LEVELS).domain) <= 1
