"""Numbers as texts: one way to write each, exact, and no text that is not a number."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.numbers import number_label, number_text


@pytest.mark.parametrize(
    ("number", "text"),
    [(34, "34"), (34.0, "34"), (0.1, "0.1"), (-0.0, "0"), (1e17, "1" + "0" * 17), (-2.5, "-2.5")],
)
def test_a_number_has_one_text(number, text):
    assert number_text(number) == text


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6), st.sampled_from("+ 0"))
def test_a_number_is_written_in_one_way(number, sign):
    label = number_label(str(number))
    assert label is not None
    assert number == type(number)(label)
    assert number_label(label) == label
    if not str(number).startswith("-"):
        assert number_label(sign.strip() + str(number)) == label


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_float_reads_back_as_the_same_float(number):
    assert float(number_text(number)) == number


@given(st.integers())
def test_a_whole_number_keeps_all_of_its_digits(number):
    assert int(number_text(number)) == number


def test_numbers_without_a_value_have_a_text_too():
    assert [number_text(x) for x in (math.inf, -math.inf, math.nan)] == ["inf", "-inf", "nan"]
    assert number_text(True) == "1"  # a Boolean is a whole number


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("1e3", "1000"),
        ("00.10", "0.1"),
        ("-0", "0"),
        ("-12.50", "-12.5"),
        (" +5 ", "5"),
        ("1e30", "1e30"),
        ("123e30", "1.23e32"),
        ("1e-30", "1e-30"),
        ("-1e-30", "-1e-30"),
    ],
)
def test_spellings_of_a_number_have_one_label(text, label):
    assert number_label(text) == label
    assert number_label(label) == label


@pytest.mark.parametrize("text", ["", "-", "1,5", "1_0", "0x1", "nan", "inf", "1e400", "9" * 700])
def test_what_is_no_number_has_no_label(text):
    assert number_label(text) is None
