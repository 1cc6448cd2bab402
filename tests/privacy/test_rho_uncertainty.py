"""rho-uncertainty by its definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import itemsets as naive
from tests.privacy.test_km_anonymity import RECORDS, seen

from shoal.core.errors import PrivacyError
from shoal.privacy import EquivalenceClass, RhoUncertainty, from_document, judge_classes


@given(RECORDS, st.sampled_from([0.2, 0.5, 0.8, 1.0]), st.sampled_from([1, 2, None]))
def test_it_follows_its_definition(records, rho, m):
    sure = max(naive.confidence(records, item, m) for item in "ab")
    verdict = judge_classes(RhoUncertainty(rho, ("a", "b"), m), [seen(records)])
    assert verdict.holds == (sure <= rho + 1e-12)
    assert verdict.value == pytest.approx(sure)
    assert bool(verdict.violating_records) != verdict.holds


def test_it_is_written_and_read_and_shows_no_item():
    model = from_document({"model": "rho-uncertainty", "rho": 0.5, "items": ["secret"], "m": 2})
    assert from_document(model.to_document()) == model
    assert model.shown() == {"rho": 0.5, "sensitive items": 1, "m": 2}
    assert "secret" not in repr(model) + model.words()
    assert RhoUncertainty(1, ("a",)).is_void
    assert RhoUncertainty(0.3, ("a",)).implies(RhoUncertainty(0.4, ("a",)))
    assert not RhoUncertainty(0.3, ("a",)).implies(RhoUncertainty(0.4, ("b",)))


@pytest.mark.parametrize("wrong", [{"rho": 2}, {"items": []}, {"items": "ab"}, {"m": 0}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(PrivacyError, match="rho-uncertainty"):
        from_document({"model": "rho-uncertainty", "rho": 0.5, "items": ["a"], **wrong})


def test_a_class_without_its_sets_is_never_safe():
    with pytest.raises(PrivacyError, match="without the sets"):
        RhoUncertainty(0.5, ("a",)).measure(EquivalenceClass(9))
    assert RhoUncertainty(0.5, ("a",)).violating(EquivalenceClass(9)) == 9
