"""A promise that says nothing, and a release with nothing in it, are told as such."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.privacy import (
    AlphaKAnonymity,
    EquivalenceClass,
    KAnonymity,
    LDiversity,
    NTCloseness,
    Promise,
    Reference,
    TCloseness,
)
from shoal.privacy.emptiness import little_left, void_promise

VOID: list[Promise] = [
    KAnonymity(1), LDiversity(1), LDiversity(1, "entropy"), LDiversity(1, "recursive", c=2),
    TCloseness(1.0), TCloseness(1.0, "ordered"), TCloseness(1.0, "chi2"), NTCloseness(1, 1.0),
    AlphaKAnonymity(1.0, 1),
]  # fmt: skip


@pytest.mark.parametrize("model", VOID, ids=lambda model: model.words())
@given(st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any))
def test_what_promises_nothing_is_kept_by_every_class(model: Promise, inside: list[int]) -> None:
    assert model.is_void
    table = Reference([count + 1 for count in inside])
    assert model.holds(EquivalenceClass(sum(inside), inside, reference=table))


@pytest.mark.parametrize(
    "model",
    [KAnonymity(2), LDiversity(2), LDiversity(1.5, "entropy"), LDiversity(1, "recursive", c=1),
     TCloseness(0.9), NTCloseness(5, 0.9), AlphaKAnonymity(0.9, 1), AlphaKAnonymity(1.0, 2)],
    ids=lambda model: model.words(),
)  # fmt: skip
def test_what_promises_something_is_not_void(model: Promise) -> None:
    assert not model.is_void
    assert void_promise([KAnonymity(1), model]) == ()


def test_k_1_alone_is_told() -> None:
    (text,) = void_promise([KAnonymity(1)])
    assert "k-anonymity k=1" in text
    assert void_promise([]) == ()


def test_little_left_is_told_from_a_half_on() -> None:
    assert little_left(records=10, suppressed=4, ncp=0.9) == ()
    assert len(little_left(records=10, suppressed=5, ncp=0.9)) == 1
    assert len(little_left(records=10, suppressed=9, ncp=1.0)) == 2
    assert little_left(records=10, suppressed=0, ncp=1.0, sse_loss=40.0) == ()
    assert len(little_left(records=10, suppressed=0, ncp=0.3, sse_loss=100.0)) == 1
    assert little_left(records=0, suppressed=0) == ()
