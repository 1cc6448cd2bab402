"""k-anonymity counts records, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.privacy import (
    AlphaKAnonymity,
    EquivalenceClass,
    KAnonymity,
)


@given(st.integers(1, 9), st.integers(1, 9))
def test_k_anonymity_counts_records(records, k):
    assert KAnonymity(k).measure(EquivalenceClass(records)) == records
    assert KAnonymity(k).holds(EquivalenceClass(records)) == (records >= k)


def test_k_anonymity_takes_no_column():
    with pytest.raises(TypeError):
        KAnonymity(5, column="diagnosis")  # type: ignore[call-arg]
    assert KAnonymity(5).column is None


def test_more_records_are_the_stricter_promise():
    assert KAnonymity(5).implies(KAnonymity(5))
    assert KAnonymity(6).implies(KAnonymity(5))
    assert not KAnonymity(4).implies(KAnonymity(5))
    assert not KAnonymity(9).implies(AlphaKAnonymity(0.5, 2))


def test_a_class_of_one_keeps_only_what_promises_nothing():
    assert KAnonymity(1).is_void
    assert not KAnonymity(2).is_void
    assert (KAnonymity(7).least_records, KAnonymity(7).needs_sensitive) == (7, False)


def test_its_words_on_a_command_line():
    assert KAnonymity.is_asked({"k": 5})
    assert not KAnonymity.is_asked({"l": 5})
    assert KAnonymity.from_flags({"k": 5, "l": 2}) == KAnonymity(5)
    assert KAnonymity(5).words() == "k-anonymity k=5"
