"""β-likeness: by its definition, and monotone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import privacy as naive

from shoal.core.errors import PrivacyError
from shoal.privacy import BetaLikeness, EquivalenceClass, Reference

COUNTS = st.lists(st.integers(0, 9), min_size=3, max_size=3)
TWO = st.tuples(COUNTS.filter(any), COUNTS.filter(any), COUNTS)
BETA = st.integers(1, 40).map(lambda tenths: tenths / 8)


def seen(histogram, whole):
    return EquivalenceClass(sum(histogram), histogram, reference=Reference(whole))


@given(TWO, BETA)
def test_the_basic_kind_follows_its_definition(counts, beta):
    one, _, rest = counts
    whole = [a + b for a, b in zip(one, rest, strict=True)]
    assert BetaLikeness(beta).holds(seen(one, whole)) == naive.basic_likeness(one, whole, beta)


@given(TWO, BETA)
def test_the_enhanced_kind_follows_its_definition(counts, beta):
    one, _, rest = counts
    whole = [a + b for a, b in zip(one, rest, strict=True)]
    model = BetaLikeness(beta, enhanced=True)
    assert model.holds(seen(one, whole)) == naive.enhanced_likeness(one, whole, beta)


@given(TWO, BETA, st.booleans())
def test_merging_two_classes_that_hold_gives_one_that_holds(counts, beta, enhanced):
    one, two, rest = counts
    both = [a + b for a, b in zip(one, two, strict=True)]
    whole = [a + b for a, b in zip(both, rest, strict=True)]
    model = BetaLikeness(beta, enhanced=enhanced)
    if model.holds(seen(one, whole)) and model.holds(seen(two, whole)):
        assert model.holds(seen(both, whole))


def test_a_class_as_the_table_has_no_gain():
    assert BetaLikeness(0.1).judge(seen([2, 4], [1, 2])) == (0.0, True)


def test_the_enhanced_kind_is_the_stricter_one():
    assert BetaLikeness(1, enhanced=True).implies(BetaLikeness(1))
    assert not BetaLikeness(1).implies(BetaLikeness(1, enhanced=True))
    assert BetaLikeness(1).implies(BetaLikeness(2))


@pytest.mark.parametrize("given", [{"beta": 0}, {"beta": "1"}, {"beta": 1, "enhanced": 1}])
def test_parameters_with_faults_are_refused(given):
    with pytest.raises(PrivacyError):
        BetaLikeness(**given)
