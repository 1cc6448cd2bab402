"""Classes given as counts: judged as the slow verifier judges rows, and closed until all hold."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.made import document, models_and_tuples, numeric
from tests.naive import encode as naive
from tests.naive.release import judged

from shoal.core.errors import InputError
from shoal.model import batch
from shoal.model.batch import Judge, assign_classes, close_failing, judge_column, supersets
from shoal.model.sets import SetEncoder
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, NTCloseness, TCloseness
from shoal.schema.schema import Schema

QUASI = ("a", "b")
PROMISES = [
    [{"model": "k-anonymity", "k": 3}],
    [{"model": "l-diversity", "l": 2, "column": "s"}],
    [{"model": "l-diversity", "l": 2, "kind": "entropy", "column": "s"}],
    [{"model": "l-diversity", "l": 2, "kind": "recursive", "c": 1.5, "column": "s"}],
    [{"model": "(alpha,k)-anonymity", "alpha": 0.5, "k": 2, "column": "s", "values": ["x"]}],
    [{"model": "t-closeness", "t": 0.3, "column": "s"}],
    [{"model": "(n,t)-closeness", "n": 4, "t": 0.2, "column": "s"}],
    [{"model": "k-anonymity", "k": 2}, {"model": "t-closeness", "t": 0.4, "column": "s"}],
]
rows = st.lists(
    st.fixed_dictionaries(
        {"a": st.sampled_from("01"), "b": st.sampled_from("01"), "s": st.sampled_from("xyz")}
    ),
    min_size=1, max_size=14,
)  # fmt: skip


def judge_of(promise, sensitive=("s",), **entries):
    columns = dict.fromkeys(QUASI, "quasi") | dict.fromkeys(sensitive, "sensitive")
    schema = Schema.from_document({"columns": {**columns, **entries}, "privacy": promise})
    return Judge.of(schema, schema.privacy)


def classes_of(found, judge):
    classes = {}
    for row in found:
        texts = judge.texts(row[name] for name in judge.columns)
        classes.setdefault((row["a"], row["b"]), Counter())[texts] += 1
    return classes


@settings(max_examples=150, deadline=None)
@given(rows, st.sampled_from(PROMISES))
def test_verdicts_are_those_of_the_slow_verifier(found, promise):
    judge = judge_of(promise)
    verdicts, failed = judge.verdicts(classes_of(found, judge))
    wanted = judged(found, QUASI, promise, columns={})
    assert [verdict.value for verdict in verdicts] == [
        pytest.approx(float(value)) for value, _ in wanted
    ]
    assert failed == {key for _, wrong in wanted for key in wrong}
    assert [verdict.model.name for verdict in verdicts] == [model["model"] for model in promise]
    assert all(
        verdict.holds == (not wrong) for verdict, (_, wrong) in zip(verdicts, wanted, strict=True)
    )


@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from([promise for promise in PROMISES if promise[0]["model"][1] != "n"]))
def test_failing_classes_are_those_of_the_verdicts_where_no_supersets_are_tried(found, promise):
    judge = judge_of(promise)
    classes = classes_of(found, judge)
    failed = judge.verdicts(classes)[1]
    assert judge.failing(classes) == failed
    some = set(list(classes)[:2])
    if judge.compares:  # any change touches all classes, so all are looked at
        assert judge.failing(classes, only=some) == failed
    else:
        assert judge.failing(classes, only=some) == failed & some


def test_supersets_save_a_class_only_where_the_whole_batch_is_known():
    judge = judge_of(PROMISES[6])
    near = [{"a": "0", "b": b, "s": s} for b, s in ("0x", "0x", "1y", "1y")]
    away = [{"a": "1", "b": "1", "s": "z"}] * 8
    classes = classes_of([*near, *away], judge)
    wider = [{"a": "0", "b": "2", "s": s} for s in "xxxxxxxxxxxx"]
    assert ("0", "0") in judge.failing(classes)
    with_wider = classes_of([*near, *wider, *away], judge)
    assert ("0", "0") in judge.failing(with_wider)
    assert ("0", "0") not in judge.verdicts(with_wider)[1]


def naive_supersets(position, released, classes, *, least, size):
    own = released[position]
    found = []
    for kept in range(len(own) - 1, 0, -1):
        for keep in combinations(range(len(own)), kept):
            inside = [
                counts
                for key, counts in zip(released, classes, strict=True)
                if [key[i] for i in keep] == [own[i] for i in keep]
            ]
            histogram = [sum(counts.get(place, 0) for counts in inside) for place in range(size)]
            if sum(histogram) >= least:
                found.append((sum(histogram), histogram))
    return found


keys = st.lists(
    st.tuples(*[st.sampled_from([None, "0", "1"])] * 3), min_size=1, max_size=8, unique=True
)


@settings(max_examples=60, deadline=None)
@given(keys, st.data(), st.integers(1, 9))
def test_supersets_agree_on_some_columns(released, data, least):
    counts = st.dictionaries(st.integers(0, 3), st.integers(1, 4), min_size=1)
    classes = [data.draw(counts) for _ in released]
    for position in range(len(released)):
        found = supersets(position, released, classes, least=least, size=4)
        assert found == naive_supersets(position, released, classes, least=least, size=4)


def test_supersets_of_very_many_columns_are_bounded(monkeypatch):
    monkeypatch.setattr(batch, "_MOST_SUBSETS", 5)
    assert len(supersets(0, [tuple("0123456")], [{0: 1}], least=1, size=1)) == 5
    assert supersets(0, [("0",)], [{0: 1}], least=1, size=1) == []  # nothing could be dropped


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.integers(0, 3), st.integers(1, 5), min_size=1), min_size=1, max_size=6
    ),
    st.sampled_from(
        [
            LDiversity(2, column="s"), LDiversity(2, "entropy", column="s"),
            AlphaKAnonymity(0.5, 2, column="s"),
            AlphaKAnonymity(0.6, 1, column="s", values=("v1",)),
            TCloseness(0.3, column="s"), NTCloseness(6, 0.2, column="s"),
        ]
    ),
)  # fmt: skip
def test_places_without_a_record_may_be_left_out(classes, model):
    scale = Judge.of(
        Schema.from_document({"columns": {"q": "quasi", "s": "sensitive"}}), [model]
    ).scales[0]
    values = scale.read(["v0", "v1", "v2", "v3"])
    totals = [sum(counts.get(place, 0) for counts in classes) for place in range(4)]
    reference = values.reference(totals)
    whole = [{place: counts.get(place, 0) for place in range(4)} for counts in classes]
    released = [(str(i), "same") for i in range(len(classes))]
    for known in (None, released):
        sparse = judge_column(model, scale, reference, classes, released=known)
        dense = judge_column(model, scale, reference, whole, released=known)
        assert (sparse, sparse.failing) == (dense, dense.failing)
        assert sparse.model is model  # as it was asked for


def test_texts_that_are_one_value_are_counted_together():
    judge = judge_of(
        [{"model": "l-diversity", "l": 2, "column": "s"}],
        s={"role": "sensitive", "kind": "numeric"},
    )
    classes = {
        ("0", "0"): Counter({("1",): 1, ("1.0",): 1}),
        ("1", "1"): Counter({("1",): 1, ("2",): 1}),
    }
    assert judge.failing(classes) == {("0", "0")}
    assert judge.verdicts(classes)[1] == {("0", "0")}


def test_a_promise_without_a_column_speaks_of_every_sensitive_one():
    judge = judge_of([{"model": "l-diversity", "l": 2}], sensitive=("s", "t"))
    assert judge.columns == ("s", "t")
    classes = {("0", "0"): Counter({("x", "u"): 1, ("y", "u"): 1})}
    verdicts, failed = judge.verdicts(classes)
    assert [(v.model.column, v.holds) for v in verdicts] == [("s", True), ("t", False)]
    assert failed == {("0", "0")}


def test_values_that_do_not_fit_are_refused_without_them():
    judge = judge_of([{"model": "t-closeness", "t": 0.2, "distance": "ordered", "column": "s"}],
                     s={"role": "sensitive", "kind": "numeric"})  # fmt: skip
    assert judge.texts([" 1 "]) == ("1",)
    assert judge.check([["1", "2", None]]) == ()
    with pytest.raises(InputError, match="1 of 2") as caught:
        judge.check([["1", "Alice"]])
    assert "Alice" not in str(caught.value)
    spellings = judge_of([{"model": "l-diversity", "l": 2, "column": "s"}])
    (notice,) = spellings.check([["flu", "Flu"]])
    assert "differ from another one only by case" in notice


def naive_assignment(made, tuples, histograms, judge):
    """Assign all tuples anew in every round; close the finest quarter of what fails."""
    closed, unseen_closed = set(), set()
    while True:
        released, rank, classes = [], {}, {}
        for values, histogram in zip(tuples, histograms, strict=True):
            region = naive.find(made, values, closed)
            key = tuple(naive.labels(made, region)) if region >= 0 else None
            released.append(key)
            if key is not None:
                rank[key] = min(rank.get(key, region), region)
                classes.setdefault(key, Counter()).update(histogram)
        failed = judge.failing(classes) if classes else set()
        if not failed:
            return released
        order = sorted(failed, key=lambda key: (rank[key], [text or "" for text in key]))
        closed |= {rank[key] for key in order[: max(len(order) // 4, 1)]}
        assert closed > unseen_closed, "a round closes something"
        unseen_closed = set(closed)


@settings(max_examples=120, deadline=None)
@given(
    models_and_tuples(tuples=12),
    st.sampled_from([PROMISES[0], PROMISES[1], PROMISES[5], PROMISES[7]]),
    st.data(),
)  # fmt: skip
def test_tuples_are_assigned_as_if_from_scratch_in_every_round(case, promise, data):
    made, tuples = case
    made["regions"] = [list(r) for r in dict.fromkeys(map(tuple, made["regions"]))]
    if len({tuple(naive.labels(made, i)) for i in range(len(made["regions"]))}) < len(
        made["regions"]
    ):
        return  # no two classes of a learned model release the same
    judge = judge_of(promise)
    width = len(judge.columns)
    spread = st.dictionaries(
        st.tuples(*[st.sampled_from("xyz")] * width), st.integers(1, 3), min_size=1
    )
    tuples = list(dict.fromkeys(tuples))
    histograms = [data.draw(spread) for _ in tuples]
    found = assign_classes(SetEncoder(made), tuples, histograms, judge=judge)
    assert found == naive_assignment(made, tuples, histograms, judge)
    classes = {}
    for key, histogram in zip(found, histograms, strict=True):
        if key is not None:
            classes.setdefault(key, Counter()).update(histogram)
    assert not classes or not judge.failing(classes)


def test_records_of_a_closed_class_go_to_the_next_one_that_covers_them():
    cells = ({"low": "1", "high": "1"}, {"low": "1", "high": "3"}, {"any": "*"})
    encoder = SetEncoder(document([numeric(*cells)], [[0], [1], [2]]))
    judge = judge_of([{"model": "k-anonymity", "k": 3}])
    few = [Counter({(): 1}), Counter({(): 2}), Counter({(): 3})]
    found = assign_classes(encoder, [("1",), ("2",), ("9",)], few, judge=judge)
    assert found == [("[1, 3]",), ("[1, 3]",), ("*",)]
    assert assign_classes(encoder, [], [], judge=judge) == []
    assert assign_classes(encoder, [("1",)], [Counter({(): 2})], judge=judge) == [None]


def test_unseen_tuples_that_are_widened_are_a_class_like_any_other():
    tree = {"labels": ["a", "b", "ab", "*"], "parents": [2, 2, 3, -1]}
    column = {
        "name": "place", "scale": "text", "root": "*", "cells": [{"node": 0}],
        "about": {"role": "quasi", "hierarchy": tree},
    }  # fmt: skip
    made = document([numeric({"any": "*"}), column], [[0, 0]])
    tuples = [("1", "a"), ("1", "b")]
    judge = judge_of([{"model": "k-anonymity", "k": 2}])
    both = assign_classes(SetEncoder(made, "nearest"), tuples, [{(): 2}, {(): 2}], judge=judge)
    assert both == [("*", "a"), ("*", "ab")]
    one = assign_classes(SetEncoder(made, "nearest"), tuples, [{(): 2}, {(): 1}], judge=judge)
    assert one == [("*", "a"), None]


class Fixed:
    """Classes whose records are suppressed when they are closed."""

    def __init__(self, classes):
        self.classes = dict(classes)
        self.rank = {key: rank for rank, key in enumerate(classes)}
        self.closed = []

    def close(self, closing, failing):
        assert set(closing) <= set(failing) <= set(self.classes)
        self.closed.append(list(closing))
        for key in closing:
            del self.classes[key]
        return set()


def test_the_finest_quarter_of_the_failing_classes_is_closed_first():
    classes = {(str(i),): {(): 1 if i % 2 else 9} for i in range(20)}
    fixed = Fixed(classes)
    close_failing(fixed, judge_of([{"model": "k-anonymity", "k": 5}]))
    assert fixed.closed[0] == [("1",), ("3",)]
    assert set(fixed.classes) == {(str(i),) for i in range(0, 20, 2)}
    nothing = Fixed({})
    close_failing(nothing, judge_of([{"model": "k-anonymity", "k": 5}]))
    assert nothing.closed == []


def test_a_class_that_holds_once_another_is_closed_stays_open():
    fixed = Fixed({("0",): {("y",): 1}, ("1",): {("x",): 1}, ("2",): {("x",): 1}})
    judge = judge_of([{"model": "t-closeness", "t": 0.3, "column": "s"}])
    assert judge.failing(fixed.classes) == set(fixed.classes)
    close_failing(fixed, judge)
    assert fixed.closed == [[("0",)]]


def test_of_classes_of_one_rank_the_first_by_its_texts_is_closed_first():
    fixed = Fixed({("b", None): {(): 1}, (None, "b"): {(): 1}, ("a", "c"): {(): 1}})
    fixed.rank = dict.fromkeys(fixed.classes, 7)
    close_failing(fixed, judge_of([{"model": "k-anonymity", "k": 2}]))
    assert fixed.closed == [[(None, "b")], [("a", "c")], [("b", None)]]


def test_where_there_is_no_class_none_fails():
    for promise in PROMISES:
        assert judge_of(promise).failing({}) == set()


def test_a_judge_knows_whether_any_change_touches_all_classes():
    schema = Schema.from_document({"columns": {"a": "quasi", "s": "sensitive"}})
    assert not Judge.of(schema, [KAnonymity(2), LDiversity(2)]).compares
    assert Judge.of(schema, [KAnonymity(2), TCloseness(0.2)]).compares
