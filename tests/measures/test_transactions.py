"""Measures of sets, from their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.methods.transactions.tables import baskets, records_of

from shoal.measures.transactions import frequent_sets, measures_of, query_error, supports
from shoal.table.baskets import Baskets, SetRecoding

TABLE = Baskets.of([["a", "b"], ["a"], ["b", "c"], ["c"], ["d"]])


def released(recoding):
    starts, codes = recoding.released()
    labels = Baskets(tuple(map(str, range(len(recoding.labels)))), starts, codes)
    items = recoding.baskets.items
    return labels, [frozenset(items[item] for item in label) for label in recoding.labels]


def merged(table, head):
    return SetRecoding.of_partition(table, np.array(head, dtype=np.int32))


@settings(deadline=None)
@given(baskets())
def test_of_a_partition_the_loss_is_exact(table):
    items = len(table.items)
    recoding = merged(table, [n - n % 2 for n in range(items)])
    found = measures_of(table, *released(recoding))
    assert found["ncp"] == pytest.approx(recoding.ncp())
    assert found["occurrences"] == sum(map(len, records_of(table)))
    assert found["suppressed_occurrences"] == 0


def test_occurrences_that_no_label_covers_are_suppressed():
    recoding = SetRecoding.of_items(TABLE)
    choice = np.where(TABLE.codes == 0, -1, recoding.choice).astype(np.int32)
    found = measures_of(TABLE, *released(SetRecoding(TABLE, recoding.labels, choice)))
    assert found["suppressed_occurrences"] == pytest.approx(2 / 7)
    assert found["ncp"] == pytest.approx(2 / 7)
    assert (found["kept_items"], found["suppressed_items"]) == (4, 0)  # a label without records


def test_utility_loss_weighs_subsets_by_records():
    found = measures_of(TABLE, *released(merged(TABLE, [0, 0, 2, 3])))
    expected = (3 * 3 + 1 * 2 + 1 * 1) / (2**4 - 1) / 5
    assert found["utility_loss"] == pytest.approx(expected)
    assert (found["items"], found["labels"], found["kept_items"]) == (4, 3, 2)


@settings(deadline=None)
@given(baskets())
def test_supports_are_those_of_the_definition(table):
    records = records_of(table)
    sets = [frozenset(c) for n in (1, 2) for c in combinations(range(len(table.items)), n)]
    counted = {tuple(sorted(each)): sum(each <= r for r in records) for each in sets}
    found = supports(table, range(len(table.items)), 2)
    assert found == {each: number for each, number in counted.items() if number >= 2}


def test_frequent_sets_that_are_lost_are_not_recalled():
    same = frequent_sets(TABLE, TABLE, [0, 1, 2, 3])
    assert set(same.values()) == {1.0}
    labels, _ = released(merged(TABLE, [0, 0, 2, 3]))
    lost = frequent_sets(TABLE, labels, [-1, 2, 3])
    assert lost["frequent_precision"] == 1.0
    assert lost["frequent_recall"] < 1
    nothing = Baskets.of([[]])
    assert set(frequent_sets(nothing, nothing, []).values()) == {None}


def test_queries_of_items_as_they_are_have_no_error():
    labels, stands = released(SetRecoding.of_items(TABLE))
    code = {item: n for n, item in enumerate(TABLE.items)}
    plain = [[code[item] for item in each] for each in stands]
    assert query_error(TABLE, labels, plain) == 0
    labels, _ = released(merged(TABLE, [0, 0, 0, 0]))
    assert query_error(TABLE, labels, [[0, 1, 2, 3]]) > 0
    assert query_error(Baskets.of([["a"]]), Baskets.of([["a"]]), [[0]]) is None
