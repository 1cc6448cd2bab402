"""Classes that are alike are found as looking at each pair would find them."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.methods import alike
from shoal.methods.alike import Histograms, for_all, reads_places
from shoal.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    EquivalenceClass,
    KAnonymity,
    LDiversity,
    NTCloseness,
    TCloseness,
    judge_classes,
)

CLASSES = 6
ENTRIES = st.lists(
    st.tuples(st.integers(0, CLASSES - 1), st.integers(0, 4), st.integers(1, 3)), max_size=30
)


def naive(entries):
    """Return the histogram of each class, from every entry by itself."""
    found = [Counter() for _ in range(CLASSES)]
    for label, place, count in entries:
        found[label][place] += count
    return found


def histograms(entries):
    label, place, count = (
        np.array([entry[i] for entry in entries], dtype=np.int64) for i in range(3)
    )
    return Histograms.of(label, place, count, CLASSES)


@settings(max_examples=80, deadline=None)
@given(entries=ENTRIES)
def test_records_of_a_class_at_one_place_are_added_up(entries):
    found = histograms(entries)
    assert [found.of_class(c) for c in range(CLASSES)] == naive(entries)
    ordered = found.by_count()
    assert [ordered.counts_of(c) for c in range(CLASSES)] == [
        sorted(own.values(), reverse=True) for own in naive(entries)
    ]


@pytest.mark.parametrize("many", [64, 1])
@settings(max_examples=80, deadline=None)
@given(entries=ENTRIES)
def test_classes_are_alike_where_their_histograms_are_equal(entries, many):
    expected = naive(entries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alike, "MANY", many)
        first, which = histograms(entries).alike()
        plain, kinds = histograms(entries).by_count().alike()
    assert [expected[first[kind]] for kind in which] == expected
    assert [sorted(expected[plain[kind]].values()) for kind in kinds] == [
        sorted(own.values()) for own in expected
    ]
    if many == 64:
        kinds_of = defaultdict(set)
        for own, kind in zip(expected, which.tolist(), strict=True):
            kinds_of[frozenset(own.items())].add(kind)
        assert all(len(kinds) == 1 for kinds in kinds_of.values())
        assert len(first) == len(kinds_of)


@settings(max_examples=60, deadline=None)
@given(entries=ENTRIES.filter(bool), limit=st.integers(1, 3))
def test_the_verdict_on_all_is_that_on_one_of_each(entries, limit):
    promise = LDiversity(limit, column="s")
    every = [own for own in naive(entries) if own]
    present = sorted({label for label, _, _ in entries})
    renumbered = [(present.index(label), place, count) for label, place, count in entries]
    label, place, count = (
        np.array([entry[i] for entry in renumbered], dtype=np.int64) for i in range(3)
    )
    found = Histograms.of(label, place, count, len(present)).by_count()
    first, which = found.alike()
    kinds = [EquivalenceClass(sum(found.counts_of(c)), found.counts_of(c)) for c in first.tolist()]
    verdict = for_all(judge_classes(promise, kinds, times=np.bincount(which).tolist()), which)
    plain = judge_classes(
        promise, [EquivalenceClass(own.total(), list(own.values())) for own in every]
    )
    assert verdict == plain
    assert verdict.failing == plain.failing


def test_only_some_promises_ask_which_value_has_how_many_records():
    asks = [
        TCloseness(0.2, column="s"), NTCloseness(5, 0.2, column="s"), BetaLikeness(1, column="s"),
        AlphaKAnonymity(0.5, 2, column="s", values=["x"]),
    ]  # fmt: skip
    asks_not = [KAnonymity(2), LDiversity(2, column="s"), AlphaKAnonymity(0.5, 2, column="s")]
    assert all(map(reads_places, asks))
    assert not any(map(reads_places, asks_not))
