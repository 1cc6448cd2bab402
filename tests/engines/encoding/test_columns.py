"""From the values of a column to numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.engines.test_encode import golden, strange_people

from shoal.engines.encoding.columns import ColumnCoder
from shoal.model.sets import SetEncoder

pytestmark = pytest.mark.local("a part of the local engine itself")


@pytest.fixture(scope="module")
def encoder():
    return SetEncoder(golden("mondrian").to_document(), "suppress")


@pytest.mark.parametrize("kind", ["text", "categorical"])
def test_values_with_the_same_number_are_covered_alike(encoder, kind):
    frame = strange_people(300)
    for place, name in enumerate(encoder.names):
        series = frame[name] if kind == "text" else frame[name].cast(pl.Categorical)
        coder = ColumnCoder(place, encoder)
        codes = coder.codes(series)
        for value, code in zip(frame[name].to_list(), codes.tolist(), strict=True):
            wanted = tuple(block[place].cover(value) for block in encoder.blocks)
            assert coder.sets[code] == wanted
        assert len(coder.sets) == len(set(coder.sets)) == len(coder.values)


def test_a_value_that_stands_for_a_number_is_covered_as_all_that_have_it(encoder):
    coder = ColumnCoder(0, encoder)
    coder.codes(strange_people(200)[encoder.names[0]])
    for value, sets in zip(coder.values, coder.sets, strict=True):
        assert tuple(block[0].cover(value) for block in encoder.blocks) == sets


def test_missing_values_and_numbers_have_numbers_of_their_own(encoder):
    coder = ColumnCoder(0, encoder)
    texts = pl.Series(["30", None, "30"])
    first = coder.codes(texts).tolist()
    assert first[0] == first[2]
    assert coder.codes(pl.Series([30.0, None])).tolist() == first[:2]  # 30.0 means 30
    assert coder.codes(texts.cast(pl.Categorical)).tolist() == first
    assert coder.codes(texts.head(0)).tolist() == []


def test_widened_cells_depend_on_where_a_value_stands_in_its_tree():
    """Values that no region covers have numbers of their own where that decides the label."""
    model = golden("levels").to_document()
    plain, near = SetEncoder(model, "suppress"), SetEncoder(model, "nearest")
    frame = strange_people(400)
    more = 0
    for place, name in enumerate(plain.names):
        coders = ColumnCoder(place, plain), ColumnCoder(place, near)
        counts = [len(np.unique(coder.codes(frame[name]))) for coder in coders]
        assert counts[0] <= counts[1]
        more += counts[1] - counts[0]
    assert more > 0
