"""Shapes of persons: found, joined, and filled with each person's own rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.linked.families import counted, shape_of, tables_of

from shoal.methods.linked import shapes as module
from shoal.methods.linked.shapes import Shapes

CODE = st.integers(0, 5)
STAY = st.tuples(CODE, st.lists(CODE, max_size=3))
PEOPLE = st.lists(st.tuples(CODE, st.lists(STAY, max_size=3)), min_size=1, max_size=10)

ONE = (0, [(1, [2])])
TWO = (0, [(1, [2]), (3, [])])
NONE = (0, [])
MANY = (0, [(i % 6, [0] * i) for i in range(5)])


def rows_of(shape):
    return 1 + int(shape.sum())


@given(people=PEOPLE)
@settings(max_examples=100, deadline=None)
def test_persons_of_one_shape_stand_together(people):
    found = Shapes.of(tables_of(people), 1).distinct
    assert sum(len(each.persons) for each in found) == len(people)
    whole = Counter(shape_of(person) for person in people)
    assert len(found) == len(whole)
    for each in found:
        own = {shape_of(people[i]) for i in each.persons.tolist()}
        assert len(own) == 1
        (shape,) = own
        assert rows_of(each.shape) == 1 + len(shape) + sum(shape)


@given(people=PEOPLE, k=st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_a_place_that_fewer_than_k_have_is_nobodys(people, k):
    found = Shapes.of(tables_of(people), k)
    for column in found.counts.T:
        for most in range(1, int(column.max(initial=0)) + 1):
            assert (column >= most).sum() >= k


@given(people=PEOPLE, k=st.integers(1, 4), times=st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_groups_have_k_persons_and_release_what_all_of_them_have(people, k, times):
    shapes = Shapes.of(tables_of(people), k)
    found = shapes.gathered(times * k)
    members = [i for each in found for i in each.persons.tolist()]
    assert len(members) == len(set(members))
    for each in found:
        assert len(each.persons) >= k
        assert (shapes.counts[each.persons] >= each.shape).all()


@given(people=PEOPLE, k=st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_a_tree_is_filled_with_each_persons_own_rows(people, k):
    tables = tables_of(people)
    shapes = Shapes.of(tables, k)
    for group in shapes.gathered(k):
        positions, records = shapes.filled(group)
        assert records.shape == (len(group.persons), rows_of(group.shape))
        assert positions[0] == (0, -1)
        for own in records.tolist():
            taken = list(zip((p.table for p in positions), own, strict=True))
            assert len(set(taken)) == len(taken)  # no row twice
            for (table, above), record in zip(positions, own, strict=True):
                if above >= 0:
                    assert tables[table].above == positions[above].table
                    assert tables[table].parent[record] == own[above]
        assert records[:, 0].tolist() == group.persons.tolist()


def test_a_rare_shape_is_joined_with_the_cheapest_one():
    """One person has a second stay: nobody else loses anything by it."""
    shapes = Shapes.of(tables_of([ONE] * 3 + [TWO] + [NONE] * 3), 3)
    found = {int(each.shape.sum()): each.persons.tolist() for each in shapes.gathered(3)}
    assert found == {2: [0, 1, 2, 3], 0: [4, 5, 6]}


def test_persons_are_left_out_where_that_costs_fewer_rows():
    """A single person without stays would cost the ten others all of theirs."""
    shapes = Shapes.of(tables_of([TWO] * 10 + [NONE]), 3)
    (found,) = shapes.gathered(3)
    assert found.persons.tolist() == list(range(10))
    assert found.shape.sum() == 3


def test_few_persons_with_few_rows_bring_others_down_where_that_is_cheaper():
    """Of three persons two have one stay more: suppressing it costs less than the third one."""
    shapes = Shapes.of(
        tables_of([(0, [(1, [1, 2, 3])]), (0, [(1, [1, 2])]), (0, [(1, [2, 2])])]), 3
    )
    (found,) = shapes.gathered(3)
    assert len(found.persons) == 3
    assert found.shape.sum() == 3


def test_larger_groups_are_asked_for_and_not_forced():
    people = [ONE] * 4 + [TWO] * 4 + [NONE] * 4
    shapes = Shapes.of(tables_of(people), 2)
    assert sorted(len(each.persons) for each in shapes.gathered(2)) == [4, 4, 4]
    joined = shapes.gathered(8)
    assert sorted(len(each.persons) for each in joined) == [4, 8]
    assert min(int(each.shape.sum()) for each in joined) == 0


def test_stays_with_most_drugs_come_first_and_then_the_values_decide():
    people = [(0, [(5, []), (4, [1]), (3, [2])])] * 2
    tables = tables_of(people)
    shapes = Shapes.of(tables, 2)
    positions, records = shapes.filled(shapes.gathered(2)[0])
    stays = [at for at, position in enumerate(positions) if position.table == 1]
    codes = tables[1].table.codes[tables[1].row[records[0, stays]], 0]
    assert codes.tolist() == [3, 4, 5]


def test_of_many_rows_those_are_kept_that_are_spread_over_all():
    people = [(0, [(1, [0, 1, 2, 3, 4, 5])])] + [(0, [(1, [0, 0])])] * 2
    tables = tables_of(people)
    shapes = Shapes.of(tables, 3)
    (group,) = shapes.gathered(3)
    positions, records = shapes.filled(group)
    drugs = [at for at, position in enumerate(positions) if position.table == 2]
    codes = tables[2].table.codes[tables[2].row[records[0, drugs]], 0]
    assert codes.tolist() == [1, 4]


@pytest.mark.parametrize("partners", [1, 2, 4096])
def test_with_few_partners_groups_still_hold(monkeypatch, partners):
    monkeypatch.setattr(module, "PARTNERS", partners)
    people = [(0, [(1, [0] * (i % 4))] * (1 + i % 3)) for i in range(30)] + [MANY]
    shapes = Shapes.of(tables_of(people), 4)
    for each in shapes.gathered(4):
        assert len(each.persons) >= 4
        assert (shapes.counts[each.persons] >= each.shape).all()


def test_tables_side_by_side_and_tables_without_columns():
    """Two tables hang on the persons; one of them has no column at all."""
    tables = [
        counted([0, 1, 2]),
        counted([1, 2], 0, [0, 1], [0, 1]),
        counted([None, None, None], 0, [0, 0, 2], [0, 0, 2]),
    ]
    shapes = Shapes.of(tables, 1)
    assert sorted(each.shape.tolist() for each in shapes.distinct) == [[0, 1], [1, 0], [1, 2]]
    (both,) = (each for each in shapes.distinct if each.shape.tolist() == [1, 2])
    positions, records = shapes.filled(both)
    assert [position.table for position in positions] == [0, 1, 2, 2]
    assert records.tolist() == [[0, 0, 0, 1]]


def test_without_tables_below_all_persons_have_one_shape():
    (found,) = Shapes.of([counted([0, 1, 2])], 2).distinct
    assert found.persons.tolist() == [0, 1, 2]
    assert Shapes.of([counted([])], 2).distinct == []
    assert Shapes.of([counted([])], 2).gathered(2) == []


def test_a_table_without_rows_is_a_table():
    shapes = Shapes.of([counted([0, 1]), counted([], 0, [], [])], 2)
    (found,) = shapes.gathered(2)
    assert found.shape.tolist() == [0]
    assert np.array_equal(shapes.filled(found)[1], [[0], [1]])
