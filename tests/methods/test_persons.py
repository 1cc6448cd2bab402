"""Repair of classes that have too few persons."""

from __future__ import annotations

import numpy as np

from shoal.methods.persons import hold_persons
from shoal.privacy import KAnonymity
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
