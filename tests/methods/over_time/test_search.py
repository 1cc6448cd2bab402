"""m-invariant classes of coded people."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.over_time.test_cuts import domains

from shoal.core.errors import NoSolutionError
from shoal.methods.over_time.buckets import NEW, WAITS
from shoal.methods.over_time.search import People, search
from shoal.table.frequency import join_rows

SIGNATURES = ((0, 1), (0, 2, 3))
PERSON = st.tuples(
    st.integers(0, 5),
    st.integers(0, 4),
    st.integers(0, 3),
    st.sampled_from([NEW, NEW, 0, 1, WAITS]),
)


def made(found):
    codes = np.array([each[:2] for each in found], dtype=np.int32)
    table, row = join_rows(domains(), codes, np.ones(len(found), dtype=np.int64))
    value = np.array([each[2] for each in found], dtype=np.int64)
    own = [s if s < 0 or v in SIGNATURES[s] else WAITS for _, _, v, s in found]
    return table, People(row, value, np.array(own, dtype=np.int64), SIGNATURES)


@given(
    st.lists(PERSON, min_size=1, max_size=40), st.integers(1, 4), st.booleans(), st.integers(0, 9)
)
def test_every_class_is_balanced_and_everybody_keeps_their_signature(found, k, fake, seed):
    table, people = made(found)
    try:
        invariant = search(table, people, m=2, k=k, counterfeits=fake, seed=seed)
    except NoSolutionError:
        return
    held, persons = defaultdict(Counter), Counter()
    for label, value, own in zip(invariant.label, people.value, people.own, strict=True):
        if label < 0:
            continue
        held[label][value] += 1
        persons[label] += 1
        assert own == NEW or SIGNATURES[own] == invariant.signature[label]
    false = invariant.counterfeits
    for label, value in zip(false.label, false.value, strict=True):
        held[label][value] += 1
    assert fake or not len(false.label)
    for label, counts in held.items():
        assert set(counts) == set(invariant.signature[label])
        assert len(set(counts.values())) == 1
        assert persons[label] >= k
    recoding = invariant.recoding
    assert len(set(zip(recoding.labels(0), recoding.labels(1), strict=True))) == recoding.classes
    assert recoding.sizes.tolist() == [persons[label] for label in range(recoding.classes)]
    assert recoding.suppressed == int((invariant.label < 0).sum())
    inside = invariant.label >= 0
    codes = table.codes[people.row[inside]]
    assert (recoding.low[invariant.label[inside]] <= codes).all()
    assert (recoding.high[invariant.label[inside]] >= codes).all()


def test_the_same_seed_gives_the_same_classes():
    chance = np.random.default_rng(5)
    found = [
        (*chance.integers(0, (6, 5, 4)).tolist(), NEW if chance.random() < 0.7 else 0)
        for _ in range(200)
    ]
    one, other = (search(*made(found), m=2, k=3, seed=8) for _ in range(2))
    assert (one.label == other.label).all()
    assert (one.counterfeits.label == other.counterfeits.label).all()


def test_nobody_who_has_a_partner_is_a_refusal():
    with pytest.raises(NoSolutionError, match="would have to wait"):
        search(*made([(0, 0, 1, NEW)] * 9), m=2, k=2)
