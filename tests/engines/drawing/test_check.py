"""The checker of drawn releases finds every cell that does not lie in its label."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import drawing as naive

from shoal.core.errors import UnsafeReleaseError
from shoal.engines.coding import code_column
from shoal.engines.drawing.check import check_drawn, lies_in
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.attribute import Attribute, Kind, Role

TREE = {"*": {"north": ["a", "b"], "south": {"deep": ["c", "d"], "e": []}}}
PARENTS = {"a": "north", "b": "north", "c": "deep", "d": "deep", "deep": "south", "e": "south",
           "north": "*", "south": "*"}  # fmt: skip


def domain(values, **words):
    attribute = Attribute(name="x", role=Role.QUASI, **words)
    return code_column(pl.Series("x", values), attribute, marks=()).domain


NUMBERS = domain(["1", "30.5"], kind=Kind.NUMERIC)
PLACES = domain(["a", "c"], kind=Kind.CATEGORICAL, hierarchy=Hierarchy.from_tree("x", TREE))
ORDER = ("low", "mid, or so", "high")
RANKS = domain(list(ORDER), kind=Kind.ORDINAL, order=ORDER)
DAYS = domain(["2020-01-01", "2020-06-01"], kind=Kind.DATE)
CLOCK = domain(["08:00", "10:00"], kind=Kind.DATE)


@given(st.integers(-5, 5), st.integers(-5, 5), st.integers(0, 5))
def test_numbers_lie_in_intervals_as_in_the_naive_twin(cell, low, width):
    label = f"[{low}, {low + width}]"
    assert lies_in(str(cell), label, domain=NUMBERS, form=None) == naive.lies_in(str(cell), label)


@given(st.sampled_from([*PARENTS, "*"]), st.sampled_from([*PARENTS, "*"]))
def test_categories_lie_below_nodes_as_in_the_naive_twin(cell, label):
    said = lies_in(cell, label, domain=PLACES, form=None)
    assert said == naive.lies_in(cell, label, parents=PARENTS)


@pytest.mark.parametrize(
    ("of", "cell", "label", "is_inside"),
    [
        (NUMBERS, "25", "20–29", True),
        (NUMBERS, "30", "20–29", False),
        (NUMBERS, "30.0", "30", True),
        (NUMBERS, "x", "*", False),
        (NUMBERS, None, "*", True),
        (NUMBERS, None, "[1, 3]", False),
        (NUMBERS, "3", None, False),
        (NUMBERS, "0.1000000000000000055", "[0, 0.1]", False),  # floats would say it does
        (PLACES, "z", "north", False),
        (PLACES, "a", "[a, c]", False),
        (RANKS, "mid, or so", "[low, mid, or so]", True),
        (RANKS, "high", "[low, mid, or so]", False),
        (DAYS, "2020-03-31", "2020-Q1", True),
        (DAYS, "2020-04-01", "2020-Q1", False),
        (DAYS, "2020-02-29", "[2020-02-01, 2020-03-01]", True),
        (DAYS, "2020-02-30", "2020", False),
        (CLOCK, "08:30:00", "08:00–08:59", True),
        (CLOCK, "09:00:00", "08:00–08:59", False),
    ],
)
def test_what_lies_where(of, cell, label, is_inside):
    assert lies_in(cell, label, domain=of, form=None) is is_inside


def test_dates_as_they_are_written():
    assert lies_in("05.02.2020", "2020-02", domain=DAYS, form="%d.%m.%Y")
    assert not lies_in("02.05.2020", "2020-02", domain=DAYS, form="%d.%m.%Y")


LABELS = pl.DataFrame({"x": ["[1, 3]", "[1, 3]", "9"], "kept": ["u", None, "w"]})
DRAWN = pl.DataFrame({"x": ["9", "3", "1"], "kept": ["w", "u", None]})
ORDER_OF = np.array([2, 0, 1])


def checked(drawn=DRAWN, order=ORDER_OF):
    check_drawn(drawn, LABELS, order, [NUMBERS], {})


def test_a_good_draw_passes():
    checked()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"drawn": DRAWN.with_columns(x=pl.Series(["9", "3", "4"]))}, "1 of 3 drawn cells of 'x'"),
        ({"drawn": DRAWN.with_columns(kept=pl.Series(["w", "u", "v"]))}, "cells of 'kept'"),
        ({"drawn": DRAWN.with_columns(kept=pl.Series(["w", None, "u"]))}, "cells of 'kept'"),
        ({"drawn": DRAWN.head(2)}, "other records"),
        ({"drawn": DRAWN.select("kept", "x")}, "other columns"),
        ({"order": np.array([2, 0, 0])}, "drawn twice"),
        ({"order": np.array([2, 0])}, "other records"),
    ],
)
def test_whatever_is_wrong_stops_the_release_and_shows_no_value(change, words):
    with pytest.raises(UnsafeReleaseError, match=words) as caught:
        checked(**change)
    assert "nothing was published" in str(caught.value)
    assert "[1, 3]" not in str(caught.value)
