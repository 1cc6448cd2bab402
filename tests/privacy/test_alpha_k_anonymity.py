"""(alpha,k)-anonymity: shares of all values, or of named ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.naive import privacy as naive
from tests.privacy.classes import HISTOGRAMS, class_of

from shoal.privacy import (
    AlphaKAnonymity,
    Reference,
)


@given(HISTOGRAMS, st.integers(1, 10), st.integers(1, 20))
def test_alpha_k_follows_its_definition(histogram, tenths, k):
    model = AlphaKAnonymity(tenths / 10, k)
    assert model.holds(class_of(histogram)) == naive.alpha_k(histogram, tenths / 10, k)


def test_alpha_bounds_only_the_named_values():
    table = Reference([9, 3, 1], values=["flu", "hiv", None])
    summary = class_of([3, 1, 0], table)
    assert not AlphaKAnonymity(0.5, 2).holds(summary)
    assert AlphaKAnonymity(0.5, 2, values=["hiv"]).holds(summary)
    assert AlphaKAnonymity(0.5, 2, values=["hiv"]).measure(summary) == 0.25
    assert not AlphaKAnonymity(0.2, 2, values=["hiv"]).holds(summary)
    assert AlphaKAnonymity(0.2, 2, values=["plague"]).measure(summary) == 0


def test_alpha_k_needs_both():
    assert AlphaKAnonymity(0.5, 2).holds(class_of([1, 1]))
    assert not AlphaKAnonymity(0.5, 3).holds(class_of([1, 1]))


def test_check_finds_misspelt_values_and_does_not_repeat_them():
    model = AlphaKAnonymity(0.5, 4, values=["flu", "hvi"])
    assert model.check({"diagnosis": "categorical"}) == []
    (fault,) = model.check({"diagnosis": "categorical"}, values={"diagnosis": ["flu", "hiv"]})
    assert "1 of 2 named values" in fault
    assert "hvi" not in fault
    assert "hvi" not in repr(model)


def test_bounding_more_values_is_stricter():
    everything = AlphaKAnonymity(0.5, 4)
    two = AlphaKAnonymity(0.5, 4, values=["a", "b"])
    one = AlphaKAnonymity(0.5, 4, values=["a"])
    assert everything.implies(two)
    assert two.implies(one)
    assert not one.implies(two)
    assert not two.implies(everything)
    assert not one.implies(AlphaKAnonymity(0.4, 4, values=["a"]))
    assert not one.implies(AlphaKAnonymity(0.5, 5, values=["a"]))


def test_named_values_are_kept_once_and_in_their_order():
    model = AlphaKAnonymity(0.5, 4, values=["b", "a", "b"])
    assert model.values == ("b", "a")
    assert model.to_document()["values"] == ["b", "a"]
    assert model.words() == "(alpha,k)-anonymity alpha=0.5, k=4"


def test_no_share_exceeds_one():
    assert AlphaKAnonymity(1, 1).is_void
    assert not AlphaKAnonymity(1, 2).is_void
    assert AlphaKAnonymity(0.5, 7).least_records == 7
