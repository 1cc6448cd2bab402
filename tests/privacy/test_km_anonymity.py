"""k^m-anonymity by its definition, and what its words mean beside other promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import itemsets as naive

from shoal.core.errors import PrivacyError
from shoal.engines.itemsets import CountedSets
from shoal.privacy import EquivalenceClass, KmAnonymity, from_document, judge_classes
from shoal.table.baskets import Baskets

RECORDS = st.lists(st.frozensets(st.sampled_from("abcde"), max_size=4), min_size=1, max_size=9)


def seen(records):
    found = Baskets.of([sorted(record) for record in records])
    covers = {item: (code,) for code, item in enumerate(found.items)}
    sets = CountedSets(found.starts, found.codes, len(found.items), covers)
    return EquivalenceClass(len(records), itemsets=sets)


@given(RECORDS, st.integers(1, 4), st.sampled_from([1, 2, 3, None]))
def test_it_follows_its_definition(records, k, m):
    rarest = naive.rarest(records, m)
    expected = len(records) >= k and (rarest == 0 or rarest >= k)
    verdict = judge_classes(KmAnonymity(k, m), [seen(records)])
    assert verdict.holds == expected
    if not expected:
        small = len(records) < k
        violating = len(records) if small else naive.rare_records(records, k, m)
        assert verdict.violating_records == violating


@given(RECORDS, st.integers(1, 4), st.integers(1, 3))
def test_what_implies_another_is_stricter(records, k, m):
    one = seen(records)
    for strict in (KmAnonymity(k + 1, m), KmAnonymity(k, m + 1), KmAnonymity(k)):
        assert strict.implies(KmAnonymity(k, m))
        assert not KmAnonymity(k, m).implies(strict)
        assert not strict.holds(one) or KmAnonymity(k, m).holds(one)


def test_it_is_written_and_read_and_says_nothing_of_items():
    model = from_document({"model": "km-anonymity", "k": 5, "m": 2})
    assert model == KmAnonymity(5, 2)
    assert model.to_document() == {"model": "km-anonymity", "k": 5, "m": 2}
    assert KmAnonymity(3).to_document() == {"model": "km-anonymity", "k": 3}
    assert model.words() == "km-anonymity k=5, m=2"
    assert KmAnonymity(1, 2).is_void
    assert KmAnonymity(4).least_records == 4


@pytest.mark.parametrize("wrong", [{"k": 0}, {"k": 2, "m": 0}, {"k": "x"}, {"k": 2, "m": 1.5}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(PrivacyError, match="km-anonymity"):
        from_document({"model": "km-anonymity", **wrong})


def test_a_class_without_its_sets_is_never_safe():
    with pytest.raises(PrivacyError, match="without the sets"):
        KmAnonymity(1, 1).measure(EquivalenceClass(9))
    assert KmAnonymity(1, 1).violating(EquivalenceClass(9)) == 9
