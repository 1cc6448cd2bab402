"""m-uniqueness: by its definition, and not monotone."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import api
from shoal.core.errors import PrivacyError
from shoal.privacy import EquivalenceClass, MUniqueness, from_document


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(1, 4))
def test_it_follows_its_definition(values, m):
    held = Counter(values)
    seen = EquivalenceClass(len(values), [held[value] for value in range(5)])
    expected = len(held) >= m and len(set(held.values())) == 1
    assert MUniqueness(m).holds(seen) == expected


@given(st.integers(1, 4), st.integers(1, 5))
def test_a_class_that_holds_gives_nobody_away_by_more_than_1_in_m(m, layers):
    held = [layers] * m
    assert MUniqueness(m).holds(EquivalenceClass(sum(held), held))
    assert max(held) / sum(held) <= 1 / m


def test_two_classes_that_hold_may_make_one_that_does_not():
    model = MUniqueness(2)
    assert model.holds(EquivalenceClass(2, [1, 1, 0]))
    assert model.holds(EquivalenceClass(2, [1, 0, 1]))
    assert not model.holds(EquivalenceClass(4, [2, 1, 1]))
    assert not model.monotone


def test_it_is_written_in_a_schema_and_judged_by_verify():
    model = from_document({"model": "m-uniqueness", "m": 2, "column": "ill"})
    assert model == MUniqueness(2, column="ill")
    assert MUniqueness(3).implies(MUniqueness(2))
    assert (model.least_records, model.is_void) == (2, False)
    import polars as pl

    table = pl.DataFrame({"age": ["1", "1", "2", "2"], "ill": ["a", "b", "a", "c"]})
    assert api.verify(table, qi=["age"], sensitive=["ill"], k=2, privacy=[MUniqueness(2)]).holds
    assert not api.verify(table, qi=["age"], sensitive=["ill"], k=2, privacy=[MUniqueness(3)]).holds


@pytest.mark.parametrize("m", [0, -1, 1.5, "2", True])
def test_parameters_with_faults_are_refused(m):
    with pytest.raises(PrivacyError):
        MUniqueness(m)
