"""Attacks on persons agree with the definitions, and with those on records where it is the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import person_attacks as naive

from shoal.core.errors import KernelInputError
from shoal.measures.attacks import by_person, singling_out, spread
from shoal.measures.attacks import linkage as by_record
from shoal.measures.attacks.linkage import Knowledge

RECORD = st.tuples(
    st.integers(0, 3), st.sampled_from([None, "p", "q", "r", "s", "t"]), st.integers(0, 2)
)


def holdings(records):
    """Return records as the measures take them, with classes 0 … 3 and persons numbered."""
    number = {person: i for i, person in enumerate(naive.people(records))}
    cells = {}
    for name, person, value in records:
        key = (name, number.get(person, -1), value)
        cells[key] = cells.get(key, 0) + 1
    columns = [np.array(each, dtype=np.int64) for each in zip(*cells, strict=True)]
    count = np.array(list(cells.values()), dtype=np.int64)
    return by_person.Holdings(*columns, count, 4), number


@settings(max_examples=200, deadline=None)
@given(records=st.lists(RECORD, min_size=1, max_size=12))
def test_singling_out_and_inference_agree_with_the_definitions(records):
    if not naive.people(records):
        return
    held, _ = holdings(records)
    alone = by_person.singling_out(held)
    assert alone.success == pytest.approx(float(naive.singled_out(records)))
    assert alone.targets == len(naive.people(records))
    right, guess = naive.named(records)
    found = by_person.homogeneity(held)
    assert found.success == pytest.approx(float(right))
    assert found.baseline == pytest.approx(float(guess))


@settings(max_examples=200, deadline=None)
@given(
    records=st.lists(RECORD, min_size=1, max_size=12), chance=st.randoms(use_true_random=False),
    covers=st.lists(st.booleans(), min_size=16, max_size=16),
)  # fmt: skip
def test_linkage_agrees_with_the_definition(records, chance, covers):
    if not naive.people(records):
        return
    held, number = holdings(records)
    covers = np.array(covers).reshape(4, 4) | np.eye(4, dtype=bool)
    targets = [(person, chance.randrange(4)) for person in number]
    known = Knowledge(
        fits=[np.where(covers, 0, 1).astype(np.float32)],
        values=np.array([value for _, value in targets])[:, None],
    )
    found = by_person.linkage(
        known, np.array([number[person] for person, _ in targets]),
        np.arange(4, dtype=np.int64)[:, None], held=held,
    )  # fmt: skip
    wanted = naive.linked(records, targets, lambda value, name: covers[value, name])
    assert found.success == pytest.approx(float(wanted))
    assert found.baseline == 1 / len(number)


@settings(max_examples=100, deadline=None)
@given(records=st.lists(RECORD, min_size=1, max_size=12))
def test_a_person_a_record_is_the_attack_on_records(records):
    single = [(name, f"p{i}", value) for i, (name, _, value) in enumerate(records)]
    held, _ = holdings(single)
    alone = singling_out.singling_out(held.records[held.records > 0])
    mine = by_person.singling_out(held)
    assert (mine.success, mine.targets, mine.detail) == (alone.success, alone.targets, alone.detail)
    pairs = sorted({(name, value) for name, _, value in single})
    cells = spread.Cells(
        *(np.array(each, dtype=np.int64) for each in zip(*pairs, strict=True)),
        np.array([sum(r[0] == n and r[2] == v for r in single) for n, v in pairs]),
    )
    usual, found = spread.homogeneity(cells), by_person.homogeneity(held)
    assert found.success == pytest.approx(usual.success)
    assert found.baseline == pytest.approx(usual.baseline)
    assert found.detail["certain_persons"] == usual.detail["certain_records"]
    classes = np.arange(4, dtype=np.int64)[:, None]
    known = Knowledge(
        fits=[1 - np.eye(4, dtype=np.float32)], values=np.array([r[0] for r in single])[:, None]
    )
    order = np.array([int(person[1:]) for person in naive.people(single)]).argsort()
    mine = by_person.linkage(known, order, classes, held=held)
    theirs = by_record.linkage(known, known, classes, sizes=held.records)
    assert mine.success == pytest.approx(theirs.success)
    assert mine.baseline == theirs.baseline
    assert mine.detail["found_for_certain"] == theirs.detail["found_for_certain"]


def test_who_has_most_records_of_a_class_is_found_more_often_than_one_in_five():
    records = [(0, "p", 0)] * 16 + [(0, person, 0) for person in "qrst"]
    held, number = holdings(records)
    known = Knowledge(fits=[np.zeros((1, 4), np.float32)], values=np.zeros((1, 1), np.int64))
    classes = np.arange(4, dtype=np.int64)[:, None]
    found = by_person.linkage(known, np.array([number["p"]]), classes, held=held)
    assert found.success == found.detail["highest"] == 0.8


def test_arrays_that_do_not_fit_are_refused():
    one = np.zeros(1, dtype=np.int64)
    with pytest.raises(KernelInputError, match="do not fit"):
        by_person.Holdings(one, one, one, np.zeros(2, dtype=np.int64), 1)
    held = by_person.Holdings(one, one, one, one + 1, 1)
    known = Knowledge(fits=[np.zeros((1, 1), np.float32)], values=one[:, None])
    with pytest.raises(KernelInputError, match="do not fit"):
        by_person.linkage(known, np.zeros(2, dtype=np.int64), one[:, None], held=held)
