"""Repair of classes that have too few persons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import of_persons
from tests.naive import persons as naive

from shoal.methods.persons import hold_persons
from shoal.methods.registry import METHODS
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, TCloseness
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import NOBODY, ONCE, join_rows
from shoal.table.recoding import recoding_of


def recoding(codes, persons, label):
    codes, label = np.array(codes, dtype=np.int32)[:, None], np.array(label, dtype=np.int64)
    domain = line_domain("a", Kind.NUMERIC, [str(i) for i in range(10)], list(range(10)))
    counts = np.ones(len(codes), dtype=np.int64)
    table, row = join_rows((domain,), codes, counts, persons=np.array(persons, dtype=np.int32))
    low = np.array([codes[label == c].min(axis=0) for c in range(label.max() + 1)])
    high = np.array([codes[label == c].max(axis=0) for c in range(label.max() + 1)])
    return recoding_of(table, low, high, (row, label, counts))


def test_persons_of_a_class_are_counted_once():
    found = recoding([0, 0, 1, 5, 6], [0, 0, 0, ONCE, NOBODY], [0, 0, 0, 1, 1])
    assert found.persons.tolist() == [1, 1]
    assert found.table.people == 2


def test_a_class_of_one_person_is_merged_with_the_nearest():
    found = recoding([0, 1, 4, 4, 8, 8], [0, 0, ONCE, ONCE, ONCE, ONCE], [0, 0, 1, 1, 2, 2])
    held = hold_persons(found, [KAnonymity(2)])
    assert held.persons.tolist() == [3, 2]
    assert held.low[:, 0].tolist() == [0, 8]


def test_what_cannot_be_repaired_is_suppressed():
    found = recoding([0, 1, 4], [0, 0, 0], [0, 0, 1])
    held = hold_persons(found, [KAnonymity(2)])
    assert (held.classes, held.suppressed) == (0, 3)


def test_a_short_class_borrows_from_one_that_can_spare():
    codes = [0, 0, 1, 1, 2, 8, 8]
    found = recoding(codes, [0, 0, 1, ONCE, ONCE, ONCE, ONCE], [0, 0, 1, 1, 1, 2, 2])
    held = hold_persons(found, [KAnonymity(2)], borrow=True)
    assert held.persons.tolist() == [2, 2, 2]
    assert (held.low[:, 0].tolist(), held.high[:, 0].tolist()) == ([0, 1, 8], [1, 2, 8])


def test_clusters_borrow_and_regions_are_merged():
    makes = {name: kind.family for name, kind in METHODS.items() if kind().makes_clusters}
    assert set(makes.values()) == {"clustering", "microaggregation"}
    assert "mondrian" not in makes


def pairs_of(held):
    """Return the records of each class as (person, value) pairs, for the naive judge."""
    table, found = held.table, {}
    for i, (row, label, count) in enumerate(
        zip(held.row.tolist(), held.label.tolist(), held.count.tolist(), strict=True)
    ):
        who = int(table.persons[row])
        for n in range(count if label >= 0 else 0):
            person = None if who == NOBODY else (i, n) if who == ONCE else who
            found.setdefault(label, []).append((person, int(table.sensitive[row, 0])))
    return found


MODELS = [
    ({"model": "k-anonymity", "k": 3}, KAnonymity(3)),
    ({"model": "l-diversity", "l": 2}, LDiversity(2, column="disease")),
    ({"model": "t-closeness", "t": 0.4}, TCloseness(0.4, column="disease")),
    (
        {"model": "(alpha,k)-anonymity", "alpha": 0.7, "k": 2},
        AlphaKAnonymity(0.7, 2, column="disease"),
    ),
]


@pytest.mark.parametrize("model", MODELS, ids=[each["model"] for each, _ in MODELS])
@settings(max_examples=60, deadline=None)
@given(table=of_persons(sensitive=True), seed=st.integers(0, 99), k=st.integers(1, 3))
def test_what_borrowed_keeps_every_promise_by_pairs(model, table, seed, k):
    words, promise = model
    label = np.unique(
        np.random.default_rng(seed).integers(0, 4, table.rows), return_inverse=True
    )[1].astype(np.int64)  # fmt: skip
    low = np.array([table.codes[label == c].min(axis=0) for c in range(label.max() + 1)])
    high = np.array([table.codes[label == c].max(axis=0) for c in range(label.max() + 1)])
    members = (np.arange(table.rows), label, table.counts)
    found = recoding_of(table, low, high, members)
    held = hold_persons(found, [KAnonymity(k), promise], borrow=True)
    assert np.bincount(held.row, weights=held.count).tolist() == table.counts.tolist()
    classes = pairs_of(held)
    assert not naive.failing(classes, {"model": "k-anonymity", "k": k})
    assert not naive.failing(classes, words)
    for row, group in zip(held.row.tolist(), held.label.tolist(), strict=True):
        if group >= 0:
            assert (held.low[group] <= table.codes[row]).all()
            assert (table.codes[row] <= held.high[group]).all()
