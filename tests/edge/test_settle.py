"""The collector: batches of encoded records are safe, and hardly anything is lost."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.golden.generate import table
from tests.methods.test_cut_tree import made

from shoal import edge
from shoal.core.errors import ModelFormatError, PrivacyError
from shoal.edge.settle import settle
from shoal.model.column import Rejected
from shoal.model.model import RecodingModel
from shoal.privacy import KAnonymity, LDiversity

_, MODEL = made(4)
ENCODER = edge.load(MODEL)


def encoded(records, seed=0):
    chance = random.Random(seed)
    return [ENCODER.encode(chance.choice(table().to_dicts())) for _ in range(records)]


def classes(released):
    return Counter(tuple(row[name] for name in ENCODER.names) for row in released)


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 150), st.integers(0, 99), st.sampled_from([2, 4, 10]))
def test_every_batch_is_safe_and_nothing_is_lost_that_could_be_joined(size, seed, k):
    rows = encoded(size, seed)
    found = settle(rows, MODEL, privacy=[KAnonymity(max(k, 4))])
    assert min(classes(found.released).values(), default=99) >= max(k, 4)
    assert len(found.released) + found.suppressed == size
    roots = tuple(ENCODER.roots)
    starred = classes(rows)[roots]
    assert found.suppressed < starred + 2 * max(k, 4)


def test_each_label_covers_the_one_that_came():
    rows = encoded(200)
    found = settle(rows, MODEL)
    place = {name: ENCODER.names.index(name) for name in ("age", "place")}
    about = MODEL.schema.attribute("place").hierarchy
    left = iter(found.released)
    for row in rows:
        out = next(left)
        assert out["note"] == row["note"]  # the order is kept
        if row["place"] not in (None, out["place"]):
            node, goal = about.index(row["place"]), about.index(out["place"])
            while node not in (goal, -1):
                node = about.parents[node]
            assert node == goal
        if out["age"] != row["age"] and out["age"] != "*" and row["age"]:
            low, high = (float(end) for end in out["age"].strip("[]").split(", "))
            ends = [float(end) for end in row["age"].strip("[]").split(", ")]
            assert low <= min(ends)
            assert max(ends) <= high
    assert place


def test_small_classes_may_wait_for_the_next_batch():
    rows = encoded(300)
    first = settle(rows, MODEL, wait=True)
    assert first.joined == 0
    assert len(first.released) + len(first.waiting) + first.suppressed == 300
    assert set(classes(first.released)).isdisjoint(classes(first.waiting))
    later = settle([*first.waiting, *encoded(300, 1)], MODEL, wait=True)
    assert set(classes(first.waiting)) & set(classes(later.released))
    assert min(classes(later.released).values()) >= 4


def test_too_few_records_are_no_batch():
    found = settle(encoded(3), MODEL)
    assert found.released == []
    assert found.suppressed == 3
    assert found.to_document()["verification"] is None


def test_the_promise_of_sensitive_values_holds_too():
    found = settle(encoded(300), MODEL, privacy=[LDiversity(2, column="illness")])
    values = {}
    for row in found.released:
        values.setdefault(tuple(row[n] for n in ENCODER.names), set()).add(row["illness"])
    assert min(map(len, values.values())) >= 2
    assert found.verification.holds


def test_less_than_the_model_promises_is_refused():
    with pytest.raises(PrivacyError):
        settle(encoded(50), MODEL, privacy=[KAnonymity(2)])


def test_a_record_without_a_quasi_identifier_is_refused_without_its_values():
    with pytest.raises(Rejected, match="a quasi-identifier is not there") as caught:
        settle([{"age": "Alice"}], MODEL)
    assert "Alice" not in str(caught.value)


def test_a_changed_model_is_refused():
    document = MODEL.to_document() | {"records": 401, "suppressed": 1}
    with pytest.raises(ModelFormatError, match="fingerprint"):
        settle(encoded(20), document)
    assert RecodingModel.from_document(document).sealed is False


def test_labels_that_no_class_has_are_taken_as_they_are():
    rows = encoded(100)
    rows[0] = {**rows[0], "place": "Atlantis", "age": "what?"}
    found = settle(rows, MODEL)
    assert "Atlantis" not in {row["place"] for row in found.released}
