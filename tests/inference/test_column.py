"""Facts of one column: shares, numbers, and how well it tells records apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import infer as naive

from shoal.inference.column import ColumnFacts, identifying_power


def facts(**more):
    usual = {"records": 10, "missing": 4, "distinct": 3, "commonest": 2, "sample": ("Qzx",)}
    return ColumnFacts(name="x", **{**usual, **more})


def test_shares_are_of_the_values_that_are_there():
    assert (facts().present, facts().distinct_share) == (6, 0.5)
    assert facts(records=4, distinct=0).distinct_share == 0.0


@pytest.mark.parametrize(
    ("form", "zeros", "is_number"),
    [
        ("integer", False, True), ("decimal", False, True), ("integer", True, False),
        ("text", False, False), ("date", False, False),
    ],
)  # fmt: skip
def test_codes_with_leading_zeros_are_no_numbers(form, zeros, is_number):
    assert facts(form=form, leading_zeros=zeros).is_number is is_number


def test_no_value_is_shown():
    assert "Qzx" not in repr(facts(lowest=123456.0, highest=654321.0))
    assert "123456" not in repr(facts(lowest=123456.0, highest=654321.0))


@settings(deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30))
def test_power_against_the_definition(values):
    sizes = np.array(list(naive.classes(values, [0]).values()))
    assert identifying_power(sizes) == pytest.approx(naive.measures(values, [0]))


def test_nothing_tells_nobody_apart():
    assert identifying_power(np.zeros(0, dtype=np.int64)) == (0.0, 1.0, 1.0)
    assert identifying_power(np.array([1])) == (0.0, 1.0, 1.0)
