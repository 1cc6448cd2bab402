"""Laws of joining: each class is in one that holds and covers it; only the hopeless are lost."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_cut_tree import made
from tests.naive import extents as naive

from shoal.model.batch import Judge
from shoal.model.document import checked
from shoal.model.joining import NEAR, extents_of, join_failing, order_of
from shoal.model.runtime import Encoder
from shoal.privacy import KAnonymity, LDiversity

_, MODEL = made(4)
COLUMNS = extents_of(MODEL, Encoder(checked(MODEL.to_document())))
ORDER = order_of(MODEL)
TUPLES = sorted(set(MODEL.tuples()), key=str)
STRANGE = [("*",) * 6, (None,) * 6, ("what?",) * 6, ("[1, 2]", "*", "high", "Malmö", "*", "7****")]


def judge(k, diverse=None):
    """Return who says what holds: k records, and perhaps so many illnesses."""
    promises = [KAnonymity(k)]
    if diverse:
        promises.append(LDiversity(diverse, column="illness"))
    return Judge.of(MODEL.schema, promises)


def histogram(records, illnesses, *, diverse):
    texts = [(f"i{at % illnesses}",) if diverse else () for at in range(records)]
    return Counter(texts)


BATCHES = st.dictionaries(
    st.sampled_from(TUPLES + STRANGE),
    st.tuples(st.integers(1, 9), st.integers(1, 4)),
    max_size=40,
)


def united(given_, answer):
    """Return what is released together: by label, the records and values of it."""
    found = defaultdict(Counter)
    for key, label in answer.items():
        if label is not None:
            found[label] += given_[key]
    return found


@settings(max_examples=40, deadline=None)
@given(BATCHES, st.sampled_from([2, 5, 12]))
def test_all_that_is_released_holds_and_covers_what_came(batch, k):
    classes = {key: histogram(n, 1, diverse=False) for key, (n, _) in batch.items()}
    answer = join_failing(classes, COLUMNS, ORDER, judge(k))
    assert set(answer) == set(classes)
    for label, all_of_it in united(classes, answer).items():
        assert all_of_it.total() >= k
        for key in (key for key, released in answer.items() if released == label):
            # What a device could not have sent is read as the root.
            read = [column.read(text).label for column, text in zip(COLUMNS, key, strict=True)]
            assert naive.covers(label, read, COLUMNS)


@settings(max_examples=40, deadline=None)
@given(BATCHES, st.sampled_from([2, 5, 12]))
def test_all_are_lost_or_none(batch, k):
    """Classes can always be joined, so records are lost only where all together are too few."""
    classes = {key: histogram(n, 1, diverse=False) for key, (n, _) in batch.items()}
    answer = join_failing(classes, COLUMNS, ORDER, judge(k))
    total = sum(counts.total() for counts in classes.values())
    lost = [key for key, label in answer.items() if label is None]
    assert bool(lost) == (0 < total < k)
    assert not lost or len(lost) == len(classes)


@settings(max_examples=25, deadline=None)
@given(BATCHES, st.sampled_from([2, 3]))
def test_values_of_illnesses_count_too(batch, diverse):
    classes = {key: histogram(n, kinds, diverse=True) for key, (n, kinds) in batch.items()}
    answer = join_failing(classes, COLUMNS, ORDER, judge(4, diverse))
    for values in united(classes, answer).values():
        assert values.total() >= 4
        assert len(values) >= diverse


@settings(max_examples=25, deadline=None)
@given(BATCHES)
def test_what_holds_already_is_released_as_it_is_where_nothing_fails(batch):
    classes = {key: histogram(n + 3, 1, diverse=False) for key, (n, _) in batch.items()}
    answer = join_failing(classes, COLUMNS, ORDER, judge(4))
    for key, label in answer.items():
        read = tuple(column.read(text).label for column, text in zip(COLUMNS, key, strict=True))
        assert label == read


def test_joining_twice_changes_nothing_more():
    classes = {key: histogram(1 + at % 5, 1, diverse=False) for at, key in enumerate(TUPLES[:60])}
    answer = join_failing(classes, COLUMNS, ORDER, judge(6))
    once = dict(united(classes, answer))
    again = join_failing(once, COLUMNS, ORDER, judge(6))
    assert again == {label: label for label in once}


@pytest.mark.parametrize("k", [2, 30, 10**6])
def test_a_stricter_promise_joins_more(k):
    classes = {key: histogram(2, 1, diverse=False) for key in TUPLES[:50]}
    answer = join_failing(classes, COLUMNS, ORDER, judge(k))
    left = {label for label in answer.values() if label is not None}
    assert len(left) <= 100 // k if k <= 100 else not left
    assert len(TUPLES) > NEAR
