"""Division, balancing and assignment against the naive twin, and what they may never break."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import m_invariance as naive

from shoal.methods.over_time.buckets import NEW, WAITS, Asked, deal, eligible

VALUES = 5
SIGNATURES = st.sets(st.integers(0, VALUES - 1), min_size=2, max_size=4).map(
    lambda found: tuple(sorted(found))
)
NEWCOMERS = st.lists(st.integers(0, 9), min_size=VALUES, max_size=VALUES).map(
    lambda counts: np.array(counts, dtype=np.int64)
)


@st.composite
def owners(draw):
    found = {}
    for signature in draw(st.sets(SIGNATURES, max_size=3)):
        counts = {value: draw(st.integers(0, 5)) for value in signature}
        if any(counts.values()):
            found[signature] = counts
    return found


def fill(owned, new, *, m, k, counterfeits=True):
    """Deal records by their counts, all of one region; return the buckets."""
    signatures = sorted(owned)
    records = [
        (value, place)
        for place, signature in enumerate(signatures)
        for value in spread(owned[signature])
    ]
    records += [(value, NEW) for value in spread(dict(enumerate(new.tolist())))]
    value, own = np.array(records, dtype=np.int64).reshape(-1, 2).T
    return deal(value, own, signatures, Asked(m, k, counterfeits), seed=1).buckets


def spread(counts):
    return [value for value, number in counts.items() for _ in range(number)]


@given(owners(), NEWCOMERS, st.integers(2, 3))
def test_it_agrees_with_the_naive_twin(owned, new, m):
    new = eligible(new, m)
    plain = {signature: spread(counts) for signature, counts in owned.items()}
    real, false, left = naive.fill(plain, spread(dict(enumerate(new.tolist()))), m)
    found = {each.signature: each for each in fill(owned, new, m=m, k=1)}
    assert set(found) == set(real)
    for signature, bucket in found.items():
        counts = Counter(real[signature])
        assert {value: bucket.real(value) for value in signature} == {
            value: counts[value] for value in signature
        }
        assert bucket.counterfeits == len(false[signature])
    taken = sum(sum(each.taken.values()) for each in found.values())
    assert int(new.sum()) - taken == len(left)


@given(owners(), NEWCOMERS, st.integers(2, 3), st.integers(1, 6), st.booleans())
def test_every_bucket_is_balanced_and_strong(owned, new, m, k, counterfeits):
    found = fill(owned, new, m=m, k=k, counterfeits=counterfeits)
    assert len({each.signature for each in found}) == len(found)
    used = np.zeros(VALUES, dtype=np.int64)
    for bucket in found:
        assert bucket.layers >= 1
        assert bucket.strength >= k
        assert len(bucket.signature) >= 2
        assert counterfeits or bucket.counterfeits == 0
        assert set(bucket.taken) <= set(bucket.signature)
        for value, records in bucket.taken.items():
            used[value] += records
    assert (used <= new).all()


@given(NEWCOMERS, st.integers(2, 4))
def test_the_most_eligible_records_are_kept(new, m):
    found = eligible(new, m)
    assert naive.is_eligible(spread(dict(enumerate(found.tolist()))), m)
    more = np.minimum(new, int(found.max(initial=0)) + 1)
    assert (more == found).all() or int(more.max()) * m > int(more.sum())


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 1)), max_size=40),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
)
def test_nobody_is_dealt_to_another_signature(people, k, counterfeits, by_region):
    signatures = [(0, 1), (1, 2, 3)]
    people = [(value, own) for value, own in people if own < 0 or value in signatures[own]]
    value = np.array([value for value, _ in people], dtype=np.int64)
    own = np.array([own for _, own in people], dtype=np.int64)
    region = np.array([number % 3 for number in range(len(people))], dtype=np.int64)
    words = {"seed": 3, "region": region if by_region else None}
    found = deal(value, own, signatures, Asked(2, k, counterfeits), **words)
    for number, bucket in enumerate(found.buckets):
        members = np.flatnonzero(found.bucket == number)
        held = Counter(value[members].tolist())
        assert {each: held[each] for each in bucket.signature} == {
            each: bucket.real(each) for each in bucket.signature
        }
        for member in members.tolist():
            assert own[member] == NEW or signatures[own[member]] == bucket.signature
    assert (found.bucket[own == WAITS] == -1).all()
    again = deal(value, own, signatures, Asked(2, k, counterfeits), **words)
    assert (again.bucket == found.bucket).all()


def test_counterfeits_are_made_only_for_those_who_were_released_before():
    (bucket,) = fill({(0, 1): {0: 3, 1: 1}}, np.array([0, 0, 0]), m=2, k=3)
    assert (bucket.layers, bucket.strength, bucket.counterfeits) == (3, 4, 2)
    (bucket,) = fill({(0, 1): {0: 3, 1: 1}}, np.array([0, 0, 0]), m=2, k=2, counterfeits=False)
    assert (bucket.layers, bucket.strength, bucket.counterfeits) == (1, 2, 0)


@pytest.mark.parametrize("new", [[5, 0, 0], [1, 1, 0], [0, 0, 0]])
def test_new_people_without_partners_wait(new):
    assert fill({}, np.array(new), m=2, k=3) == []
