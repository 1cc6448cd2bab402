"""Centroids: what a class releases in each kind of column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import s_mdav, sa_mdav
from tests.methods.microaggregation.mixed import classes_of, columns, tables, twins_of

from shoal.hierarchies.tree import Hierarchy
from shoal.methods.microaggregation.centroids import centroids
from shoal.privacy import KAnonymity
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import from_codes
from shoal.table.recoding import recoding_of


def one_class(domain, codes, counts):
    table = from_codes((domain,), np.array(codes, dtype=np.int32).reshape(-1, 1), np.array(counts))
    low, high = table.codes.min(axis=0, keepdims=True), table.codes.max(axis=0, keepdims=True)
    rows = np.arange(table.rows)
    return recoding_of(table, low, high, (rows, np.zeros_like(rows), table.counts))


def released(domain, codes, counts):
    return centroids(one_class(domain, codes, counts))[0][0]


@settings(max_examples=60, deadline=None)
@given(table=tables(), k=st.integers(1, 5))
def test_centroids_are_those_of_the_definitions(table, k):
    if table.records < k:
        return
    found = sa_mdav(table, [KAnonymity(k)])
    shown = centroids(found)
    twins, entries = twins_of(table)
    for label in range(found.classes):
        rows = found.row[found.label == label]
        members = [entries[table.tuple_ids[row]] for row in rows]
        for j, (domain, column) in enumerate(zip(table.domains, twins, strict=True)):
            wanted = column.centroid([(e[1][j], e[2]) for e in members])
            text = shown[j][label]
            if domain.tree is not None or wanted is None:
                assert text == wanted
            elif domain.kind == "ordinal":
                place = domain.labels.index(text)
                step = column.unit / domain.span
                assert (domain.position[place] - domain.position[-1] + domain.span) * step == (
                    pytest.approx(wanted, abs=1)
                )
            else:
                values = [
                    (domain.position[table.codes[row, j]], n)
                    for row, n in zip(rows, found.count[found.label == label], strict=True)
                    if not np.isnan(domain.position[table.codes[row, j]])
                ]
                mean = sum(v * n for v, n in values) / sum(n for _, n in values)
                assert float(text) == pytest.approx(mean, abs=1e-5)


def test_a_mean_is_written_as_a_reader_expects():
    whole = line_domain("age", Kind.NUMERIC, ["33", "34", "36"], [33, 34, 36])
    assert released(whole, [0, 2], [1, 2]) == "35"
    assert released(whole, [0, 1], [1, 1]) == "33.5"
    assert released(whole, [0, 1], [2, 1]) == "33.3333"
    tenths = line_domain("pay", Kind.NUMERIC, ["0.1", "0.2"], [0.1, 0.2])
    assert released(tenths, [0], [3]) == "0.1"  # 3 · 0.1 / 3 is a little more
    assert released(tenths, [0, 1], [1, 2]) == "0.16667"
    large = line_domain("id", Kind.NUMERIC, ["9007199254740990", "9007199254740992"],
                        [9007199254740990, 9007199254740992])  # fmt: skip
    assert released(large, [0, 1], [1, 1]) == "9007199254740991"


def test_a_median_is_a_value_that_occurs():
    day = line_domain("day", Kind.DATE, ["2024-01-01", "2024-01-02", "2024-02-01"], [1, 2, 32])
    assert released(day, [0, 1, 2], [1, 1, 1]) == "2024-01-02"
    assert released(day, [0, 2], [1, 1]) == "2024-01-01"  # of two middle ones the lower
    assert released(day, [0, 2], [1, 2]) == "2024-02-01"


def test_a_mode_for_a_list_of_values():
    sex = columns(False)["flat"]
    assert released(sex, [0, 1, 2], [2, 3, 2]) == sex.labels[1]
    assert released(sex, [0, 1], [2, 2]) == sex.labels[0]


@pytest.mark.parametrize("kind", ["tree", "flat", "number", "rank"])
def test_missing_is_released_only_where_most_are_missing(kind):
    domain = columns(True)[kind]
    assert released(domain, [0, 1], [3, 2]) is None
    assert released(domain, [0, 1], [2, 2]) == domain.labels[1]
    assert released(domain, [0], [2]) is None


def test_a_centroid_may_be_a_node_that_no_record_has():
    tree = Hierarchy.from_tree("x", {"*": {"a": ["b", "c", "d", "e", "f"], "g": None}})
    domain = tree_domain(
        "x", Kind.CATEGORICAL, ["b", "c", "d", "e", "f"], tree, missing=False, weight=1.0
    )
    assert released(domain, range(5), [1] * 5) == "a"


@settings(max_examples=60, deadline=None)
@given(table=tables(), k=st.integers(1, 5))
def test_modes_are_values_of_the_class_that_no_other_exceeds(table, k):
    found = sa_mdav(table, [KAnonymity(k)])
    shown = centroids(found, distance="equal")
    for label in range(found.classes):
        inside = found.label == label
        for j, domain in enumerate(table.domains):
            if domain.tree is None:
                continue
            counts = {}
            for row, n in zip(found.row[inside], found.count[inside], strict=True):
                value = domain.labels[table.codes[row, j]]
                counts[value] = counts.get(value, 0) + int(n)
            missing = counts.pop(None, 0)
            if 2 * missing > missing + sum(counts.values()):
                assert shown[j][label] is None
            else:
                assert counts[shown[j][label]] == max(counts.values())


def test_suppressed_records_and_no_class_at_all():
    domain = columns(False)["number"]
    table = from_codes((domain,), np.array([[0], [3]], dtype=np.int32), np.array([2, 2]))
    rows = np.arange(2)
    low = np.array([[0]], dtype=np.int32)
    found = recoding_of(table, low, low, (rows, np.array([0, -1]), table.counts))
    assert centroids(found) == (("1",),)
    nothing = recoding_of(table, low[:0], low[:0], (rows, np.array([-1, -1]), table.counts))
    assert centroids(nothing) == ((),)


def test_records_of_one_tuple_may_be_in_several_classes():
    table = from_codes((columns(False)["flat"],), np.array([[0]], np.int32), np.array([9]))
    found = s_mdav(table, [KAnonymity(3)])
    assert classes_of(found) == [[(0, 3)]] * 3
    assert set(centroids(found)[0]) == {table.domains[0].labels[0]}
