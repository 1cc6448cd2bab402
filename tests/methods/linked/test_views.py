"""What a reader of released tables can tell apart: trees, places, ways and tuples."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.linked.families import counted, tables_of

from shoal.methods.linked.shapes import Position, Shapes
from shoal.methods.linked.views import Group, boxes_of, failing
from shoal.methods.linked.views import _views as views_of
from shoal.privacy import LDiversity
from shoal.table.frequency import join_rows
from shoal.table.recoding import Recoding

CODE = st.integers(0, 2)
STAY = st.tuples(CODE, st.lists(CODE, max_size=2))
PEOPLE = st.lists(st.tuples(CODE, st.lists(STAY, max_size=3)), min_size=1, max_size=8)


def as_they_are(tables, positions, records):
    """Return a group in which every person releases their own codes."""
    parts = [
        tables[p.table].table.codes[tables[p.table].row[records[:, at]]]
        for at, p in enumerate(positions)
    ]
    domains = tuple(d for p in positions for d in tables[p.table].table.domains)
    codes = np.ascontiguousarray(np.concatenate(parts, axis=1))
    long, number = join_rows(domains, codes, np.ones(len(records), dtype=np.int64))
    rows = np.arange(long.rows)
    recoding = Recoding(long, long.codes, long.codes, rows, rows, long.counts)
    return Group(positions, records[np.argsort(number, kind="stable")], recoding)


def groups_of(tables):
    shapes = Shapes.of(tables, 1)
    return [as_they_are(tables, *shapes.filled(each)) for each in shapes.distinct]


def tree(person):
    """Return a person as nested tuples, in which no order counts."""
    return person[0], tuple(sorted((ward, tuple(sorted(drugs))) for ward, drugs in person[1]))


@given(people=PEOPLE)
@settings(max_examples=150, deadline=None)
def test_trees_are_equal_where_they_are_in_whatever_order(people):
    tables = tables_of(people)
    found = {}
    for group, view in zip(groups_of(tables), views_of(tables, groups_of(tables)), strict=True):
        for person, label in zip(group.records[:, 0].tolist(), group.label.tolist(), strict=True):
            found[person] = int(view.tree[label])
    wanted = [tree(person) for person in people]
    for one in range(len(people)):
        for two in range(len(people)):
            assert (found[one] == found[two]) == (wanted[one] == wanted[two])


@given(people=PEOPLE)
@settings(max_examples=100, deadline=None)
def test_places_ways_and_tuples_are_what_they_say(people):
    tables = tables_of(people)
    groups = groups_of(tables)
    seen = []
    for group, view in zip(groups, views_of(tables, groups), strict=True):
        for own, label in zip(group.records.tolist(), group.label.tolist(), strict=True):
            for at, position in enumerate(group.positions):
                if position.table != 1:
                    continue
                stay = own[at]
                ward = int(tables[1].table.codes[tables[1].row[stay], 0])
                drugs = [
                    int(tables[2].table.codes[tables[2].row[i], 0])
                    for i in np.flatnonzero(tables[2].parent == stay)
                ]
                person = people[own[0]]
                names = (
                    (tree(person), ward, tuple(sorted(drugs))), (person[0], ward), ward,
                )  # fmt: skip
                numbers = (view.place[label, at], view.way[label, at], view.own[label, at])
                seen.append((names, tuple(int(number) for number in numbers)))
    for names, numbers in seen:
        for others, theirs in seen:
            for i in range(3):
                assert (names[i] == others[i]) == (numbers[i] == theirs[i])


def test_boxes_are_taken_apart_place_by_place():
    tables = tables_of([(0, [(1, [2]), (3, [4])]), (5, [(1, [2]), (3, [4])])])
    (group,) = groups_of(tables)
    assert [position.table for position in group.positions] == [0, 1, 1, 2, 2]
    stays = boxes_of(tables, [group], 1)
    assert stays.low[:, 0].tolist() == [1, 3, 1, 3]
    assert stays.at[0].tolist() == [[0, 1], [2, 3]]
    persons = boxes_of(tables, [group], 0)
    assert persons.low[:, 0].tolist() == [0, 5]


def test_a_table_without_columns_has_boxes_of_no_width():
    tables = [counted([0, 1]), counted([None, None], 0, [0, 1], [0, 1])]
    groups = groups_of(tables)
    found = boxes_of(tables, groups, 1)
    assert found.low.shape == (2, 0)
    assert [view.own.shape for view in views_of(tables, groups)] == [(2, 2)]


def test_a_class_fails_by_any_view_of_any_of_its_places():
    """Wards 0 and 5 of two persons: both were in 0 for the same illness."""
    who = [0, 0, 1, 1]
    tables = [
        counted([0, 0]),
        counted([0, 5, 0, 5], 0, who, who, sensitive=[1, 2, 1, 3],
                promise=[LDiversity(2, column="s")]),
    ]  # fmt: skip
    (group,) = groups_of(tables)
    assert group.positions == (Position(0, -1), Position(1, 0), Position(1, 0))
    (wrong,) = failing(tables, [group])
    assert wrong.tolist() == [True]
    tables[1] = counted([0, 5, 0, 5], 0, who, who, sensitive=[1, 2, 4, 3],
                        promise=[LDiversity(2, column="s")])  # fmt: skip
    (group,) = groups_of(tables)
    assert failing(tables, [group])[0].tolist() == [False]


def test_without_rows_of_a_promised_table_nothing_fails():
    tables = [counted([0, 0]), counted([], 0, [], [], promise=[LDiversity(2, column="s")])]
    assert failing(tables, groups_of(tables))[0].tolist() == [False]
