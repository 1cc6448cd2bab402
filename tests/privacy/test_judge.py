"""The one loop over classes, and the law of its verdicts."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st
from tests.privacy.classes import MONOTONE, THREE, TREE, class_of

from shoal.privacy import (
    EquivalenceClass,
    KAnonymity,
    LDiversity,
    NTCloseness,
    Reference,
    TCloseness,
    Verdict,
    judge_classes,
    judge_counts,
    judge_sizes,
)

HISTOGRAMS = st.lists(
    st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any), min_size=1, max_size=6
)
PROMISES = [KAnonymity(4), LDiversity(2), LDiversity(2, "recursive", c=2.0), TCloseness(0.3)]


def classes_of(histograms):
    whole = Reference([sum(column) for column in zip(*histograms, strict=True)])
    return [EquivalenceClass(sum(each), each, reference=whole) for each in histograms]


@given(HISTOGRAMS, st.sampled_from(PROMISES), st.integers(0, 6))
def test_parts_merge_to_the_verdict_on_all(histograms, promise, cut):
    classes = classes_of(histograms)
    parts = [judge_classes(promise, part) for part in (classes[:cut], classes[cut:])]
    assert reduce(Verdict.merge, parts) == judge_classes(promise, classes)
    assert reduce(Verdict.merge, reversed(parts)) == judge_classes(promise, classes)


@given(HISTOGRAMS, st.sampled_from(PROMISES))
def test_failing_classes_are_those_that_do_not_hold(histograms, promise):
    classes = classes_of(histograms)
    verdict = judge_classes(promise, classes)
    wrong = [place for place, each in enumerate(classes) if not promise.holds(each)]
    assert list(verdict.failing) == wrong
    assert verdict.holds == (not wrong)
    assert verdict.violating_records == sum(classes[place].records for place in wrong)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=9), st.integers(1, 6))
def test_sizes_alone_are_judged_as_classes_are(sizes, k):
    verdict = judge_sizes(KAnonymity(k), sizes)
    slow = judge_classes(KAnonymity(k), map(EquivalenceClass, sizes))
    assert verdict == slow
    assert verdict.failing == slow.failing


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(1, 6))
def test_alike_classes_count_as_often_as_they_are(sizes, k):
    twice = judge_classes(KAnonymity(k), map(EquivalenceClass, sizes), times=[2] * len(sizes))
    assert twice == judge_classes(KAnonymity(k), map(EquivalenceClass, [*sizes, *sizes]))


def test_sets_around_a_class_are_asked_for_only_where_it_fails():
    whole = Reference([6, 6])
    classes = [
        EquivalenceClass(2, [2, 0], reference=whole),
        EquivalenceClass(2, [1, 1], reference=whole),
    ]
    asked = []

    def widen(place):
        asked.append(place)
        return EquivalenceClass(2, [2, 0], reference=whole, supersets=[(5, [5, 0])])

    assert judge_classes(NTCloseness(5, 0.1), classes, widen=widen).holds
    assert asked == [0]


@given(st.lists(THREE, min_size=1, max_size=6))
def test_worst_is_the_worst_of_all_classes(histograms):
    table = Reference([sum(column) + 1 for column in zip(*histograms, strict=True)], **TREE)
    classes = [class_of(histogram, table) for histogram in histograms]
    for model in MONOTONE:
        verdict = judge_classes(model, iter(classes))
        failing = [c for c in classes if not model.holds(c)]
        pick = min if model.better == "high" else max
        assert verdict.holds == (not failing)
        assert verdict.value == pick(model.measure(c) for c in classes)
        assert verdict.violating_records == sum(c.records for c in failing)


def test_worst_of_no_class_has_no_value():
    verdict = judge_classes(KAnonymity(2), [])
    assert (verdict.holds, verdict.value, verdict.violating_records) == (True, None, 0)


def test_classes_with_the_same_counts_are_judged_as_each_alone():
    classes = [{0: 3, 1: 1}, {2: 1, 5: 3}, {0: 4}, {1: 2, 2: 2}, {3: 4}]
    for promise in (LDiversity(2, column="s"), LDiversity(3, column="s")):
        seen = [EquivalenceClass(sum(c.values()), list(c.values())) for c in classes]
        wanted = judge_classes(promise, seen)
        assert judge_counts(promise, classes) == wanted
