"""One record never adds more than its reach, whatever it holds."""

from __future__ import annotations

from math import comb, inf

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import MethodError
from shoal.dp.records import FINEST, Bins, Bounds, Ladder, Spread, Tally, Total, named_cell

numbers = st.floats(allow_nan=False, allow_infinity=True)


@st.composite
def bounds(draw: st.DrawFn) -> Bounds:
    lower = draw(st.floats(-1e9, 1e9))
    return Bounds(lower, lower + draw(st.floats(1e-3, 1e9)))


def totals(recipe, values: list[float]) -> list[list[int]]:
    frame = pl.DataFrame({"v": values})
    return [frame.select(part.alias("p"))["p"].to_list() for part in recipe.parts(pl.col("v"))]


@settings(max_examples=150, deadline=None)
@given(bounds=bounds(), values=st.lists(numbers, min_size=1, max_size=8), order=st.integers(1, 6))
def test_a_spread_record_adds_at_most_one_unit(bounds: Bounds, values: list[float], order: int):
    for recipe in (Spread(bounds, order=order), Spread(bounds, power=order)):
        for parts in zip(*totals(recipe, values), strict=True):
            assert all(part >= 0 for part in parts)
            assert FINEST - len(parts) <= sum(parts) <= recipe.reach == FINEST


@settings(max_examples=150, deadline=None)
@given(bounds=bounds(), values=st.lists(numbers, min_size=1, max_size=8))
def test_a_summed_record_stays_within_its_reach_and_near_its_value(
    bounds: Bounds, values: list[float]
):
    recipe = Total.over(bounds, whole=False)
    assert recipe.reach <= 2**32
    for value, steps in zip(values, totals(recipe, values)[0], strict=True):
        assert abs(steps) <= recipe.reach
        clamped = min(max(value, bounds.lower), bounds.upper)
        assert abs(float(steps * recipe.step) - clamped) <= 1.001 * float(recipe.step)


@settings(deadline=None)
@given(values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8))
def test_whole_numbers_are_summed_exactly_within_moderate_bounds(values: list[int]):
    recipe = Total.over(Bounds(-1_000_000, 3_000_000), whole=True)
    assert recipe.step == 1
    frame = pl.DataFrame({"v": values}, schema={"v": pl.Int64})
    found = frame.select(recipe.parts(pl.col("v"))[0].alias("p"))["p"].to_list()
    assert found == [min(max(v, -1_000_000), 3_000_000) for v in values]


def test_bernstein_weights_agree_with_their_definition():
    place = 0.3
    found = [row[0] for row in totals(Spread(Bounds(0.0, 10.0), order=4), [10 * place])]
    exact = [comb(4, i) * place**i * (1 - place) ** (4 - i) for i in range(5)]
    assert found == pytest.approx([FINEST * weight for weight in exact], abs=2)


def test_every_record_counts_one():
    assert totals(Tally(), [1.0, -inf, 7.0]) == [[1, 1, 1]]


@settings(max_examples=100, deadline=None)
@given(bounds=bounds(), values=st.lists(numbers, min_size=1, max_size=8))
def test_a_record_stands_on_the_nearest_rung(bounds: Bounds, values: list[float]):
    ladder = Ladder.over(bounds, whole=False)
    frame = pl.DataFrame({"v": values}).select(ladder.rung(pl.col("v")).alias("r"))
    for value, rung in zip(values, frame["r"], strict=True):
        clamped = min(max(value, bounds.lower), bounds.upper)
        assert 0 <= rung < ladder.rungs
        assert abs(ladder.value(rung) - clamped) <= 0.5001 * ladder.step


def test_whole_bounds_of_whole_numbers_have_a_rung_for_each():
    ladder = Ladder.over(Bounds(0, 120), whole=True)
    assert [ladder.value(i) for i in (0, 1, 120)] == [0, 1, 120]
    assert ladder.rungs == 121


def test_bins_are_closed_below_and_nothing_falls_out():
    bins = Bins(Bounds(0.0, 10.0), 2)
    frame = pl.DataFrame({"v": [-inf, -0.1, 0.0, 4.9, 5.0, 10.0, 10.1, inf]})
    cells = frame.select(bins.cell(pl.col("v")).alias("c"))["c"].to_list()
    assert cells == [0, 0, 1, 1, 2, 2, 3, 3]
    assert bins.labels == ("< 0", "[0, 5)", "[5, 10]", "> 10")


def test_a_value_that_was_not_named_falls_into_the_last_cell():
    frame = pl.DataFrame({"t": ["a", None, "c", "b"], "n": [1.0, 2.0, None, 3.0]})
    texts = frame.select(named_cell(pl.col("t"), ["a", "b"], kind=pl.String()).alias("c"))
    assert texts["c"].to_list() == [0, 2, 2, 1]
    numbers_ = frame.select(named_cell(pl.col("n"), ["1", "3.0"], kind=pl.Float64()).alias("c"))
    assert numbers_["c"].to_list() == [0, 2, 2, 1]


@pytest.mark.parametrize(
    ("lower", "upper", "word"),
    [
        (-inf, 1.0, "finite"),
        (0.0, inf, "finite"),
        (0.0, float("nan"), "finite"),
        (1.0, 0.0, "below"),
        (1.0, 1.0, "below"),
        (1e15, 1e15 + 1e-1, "too close"),
        (0.0, 1e200, "beyond"),
    ],
)
def test_bounds_that_cannot_be_meant_are_refused(lower: float, upper: float, word: str):
    with pytest.raises(MethodError, match=word):
        Bounds(lower, upper)


@pytest.mark.parametrize("ends", [(-3, 2), (2, 3), (-3, -2), (0, 5)])
@pytest.mark.parametrize("order", [2, 3])
def test_the_range_of_a_power_holds_every_power(ends: tuple[int, int], order: int):
    found = Bounds(*ends).power(order)
    powers = [v**order for v in (ends[0] + (ends[1] - ends[0]) * i / 60 for i in range(61))]
    assert found.lower == pytest.approx(min(powers), abs=1e-2)
    assert found.upper == pytest.approx(max(powers))
