"""A model is tried in columns as it is tried tuple by tuple."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_to_model import flat, flat_schema, learn

import shoal
from shoal.methods import to_model, trial
from shoal.methods.trial import sizes_of, try_model
from shoal.model.batch import Judge
from shoal.privacy import AlphaKAnonymity, BetaLikeness, KAnonymity, LDiversity, TCloseness
from shoal.samples import hospital

PROMISES = [
    [KAnonymity(3)],
    [KAnonymity(2), LDiversity(2, column="ill")],
    [KAnonymity(2), LDiversity(1.7, "entropy", column="ill")],
    [LDiversity(2, "recursive", c=2.0, column="ill")],
    [KAnonymity(3), TCloseness(0.4, "equal", column="ill")],
    [AlphaKAnonymity(0.7, 2, column="ill", values=["x"])],
    [KAnonymity(2), BetaLikeness(1.5, column="ill")],
]


def tried(monkeypatch, learning):
    """Return what was tried while something was learned, and what it came to."""
    calls = []

    def keep(draft, recoding, order):
        calls.append((draft, recoding, order, try_model(draft, recoding, order)))
        return calls[-1][-1]

    monkeypatch.setattr(to_model, "try_model", keep)
    learning()
    return calls


def plainly(draft, recoding):
    """Return the records of each class, and of none, tuple by tuple as devices do it."""
    judge = Judge.of(draft.schema, draft.schema.privacy)
    return trial._tried_plainly(draft, recoding.table, judge)


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), records=st.integers(20, 250))
def test_the_same_records_are_in_each_class(promise, seed, records):
    frame = flat(records, seed)
    if seed % 2:
        frame = frame.with_columns(
            pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise("age").alias("age")
        )
    with pytest.MonkeyPatch.context() as patch:
        try:
            calls = tried(patch, lambda: learn(frame, flat_schema(), promise))
        except shoal.NoSolutionError:
            return
    for draft, recoding, _, (sizes, lost) in calls:
        expected, missed = plainly(draft, recoding)
        assert sizes.tolist() == expected.tolist()
        assert lost == missed
        assert sizes.sum() + lost == records


def test_classes_of_hospital_stays_move_on_until_none_fails(monkeypatch, tmp_path):
    files = hospital(tmp_path / "stays.csv", 3_000)
    closed = []
    close = trial._Rounds._close
    monkeypatch.setattr(
        trial._Rounds, "_close", lambda self, some: closed.append(len(some)) or close(self, some)
    )
    # as on Spark, where the tuples of a partition are not at hand
    monkeypatch.setattr("shoal.jobs.learn._cut", lambda *_: (None, None))
    calls = tried(
        monkeypatch, lambda: shoal.learn(files.table, schema=files.schema, method="mondrian")
    )
    ((draft, recoding, order, (sizes, lost)),) = calls
    expected, missed = plainly(draft, recoding)
    assert (sizes.tolist(), lost) == (expected.tolist(), missed)
    assert closed, "no class failed: nothing was closed"
    # What the classes were found for is a hint; whatever it says, the answer is the same.
    turned = np.roll(order, 7)
    again, also = try_model(draft, recoding, turned)
    assert (again.tolist(), also) == (sizes.tolist(), lost)


def test_persons_are_counted_tuple_by_tuple(monkeypatch, tmp_path):
    frame = flat(400, seed=5).with_columns(who=pl.int_range(pl.len()) // 2)
    schema = flat_schema().with_person(["who"])
    calls = tried(
        monkeypatch,
        lambda: shoal.learn(frame, schema=schema.with_promise([KAnonymity(3)]), method="bestcut"),
    )
    assert calls
    for draft, recoding, _, (sizes, lost) in calls:
        assert recoding.table.persons is not None
        assert sizes.sum() + lost == 400
        assert (sizes.tolist(), lost) == (plainly(draft, recoding)[0].tolist(), lost)


def test_two_classes_that_release_the_same_are_tried_tuple_by_tuple(monkeypatch):
    calls = tried(monkeypatch, lambda: learn(flat(200, 1), flat_schema(), [KAnonymity(5)]))
    draft, recoding, order, (sizes, lost) = calls[0]
    assert not trial._release_the_same(draft)
    doubled = replace(draft, regions=(draft.regions[0], *draft.regions))
    assert trial._release_the_same(doubled)
    again, also = try_model(doubled, recoding, np.append(order[0], order))
    assert also == lost
    assert again.tolist() == [sizes[0], 0, *sizes[1:]]
    assert sizes_of(doubled, {draft.tuples()[0]: 9}).tolist()[:3] == [9, 0, 0]
