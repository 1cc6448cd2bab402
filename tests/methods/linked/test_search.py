"""Searching linked tables: at least k persons release each tree, and nothing is mixed up."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.linked.families import counted, tables_of

from shoal.core.errors import MethodError
from shoal.methods.linked.search import search_linked
from shoal.methods.method import Setting
from shoal.methods.registry import METHODS, method_named
from shoal.privacy import LDiversity

CODE = st.integers(0, 5)
STAY = st.tuples(CODE, st.lists(CODE, max_size=2))
PEOPLE = st.lists(st.tuples(CODE, st.lists(STAY, max_size=2)), min_size=2, max_size=10)
ALL = Setting(suppression_limit=1.0)


def released(tables, found):
    """Return the trees that persons release, as nested tuples of boxes, by person."""
    below = [{} for _ in tables]
    trees = [{} for _ in tables]
    for at in range(len(tables) - 1, -1, -1):
        for record, label in enumerate(found[at].label.tolist()):
            if label < 0:
                continue
            cells = found[at].cells
            box = tuple(cells.low[label].tolist()), tuple(cells.high[label].tolist())
            tree = (at, box, tuple(sorted(below[at].get(record, []))))
            trees[at][record] = tree
            if at:
                above = int(tables[at].parent[record])
                below[tables[at].above].setdefault(above, []).append(tree)
    return trees


@pytest.mark.parametrize("method", ["bestcut", "mondrian", "refine"])
@given(people=PEOPLE, k=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_each_tree_is_shared_by_k_persons(method, people, k):
    tables = tables_of(people)
    found = search_linked(tables, k, method_named(method), ALL)
    trees = released(tables, found)
    assert all(number >= k for number in Counter(trees[0].values()).values())
    for at, each in enumerate(tables):
        label = found[at].label
        # What hangs on a suppressed record is suppressed.
        if at:
            gone = found[each.above].label[each.parent] < 0
            assert (label[gone] < 0).all()
        # A box covers what it stands for.
        kept = np.flatnonzero(label >= 0)
        codes = each.table.codes[each.row[kept]]
        cells = found[at].cells
        assert (cells.low[label[kept]] <= codes).all()
        assert (codes <= cells.high[label[kept]]).all()
        assert found[at].recoding.suppressed == (label < 0).sum()
        assert found[at].recoding.sizes.sum() == len(kept)


@given(people=PEOPLE)
@settings(max_examples=40, deadline=None)
def test_for_one_person_nothing_is_recoded(people):
    tables = tables_of(people)
    for each, recoded in zip(tables, search_linked(tables, 1, method_named("bestcut"), ALL),
                             strict=True):  # fmt: skip
        assert (recoded.label >= 0).all()
        boxes = recoded.cells.low[recoded.label]
        assert np.array_equal(boxes, each.table.codes[each.row])


def test_groups_grow_only_within_what_may_be_suppressed():
    people = [(i % 6, [(i % 6, [0]), ((i + 3) % 6, [])]) for i in range(6)]
    people += [(i % 6, [(i % 6, [1])]) for i in range(60)]
    tables = tables_of(people)
    total = sum(each.records for each in tables)
    for limit in (0.0, 0.02, 0.2):
        found = search_linked(tables, 2, method_named("bestcut"), Setting(suppression_limit=limit))
        gone = sum(each.recoding.suppressed for each in found)
        assert gone <= limit * total


def test_alike_persons_lose_nothing():
    people = [(1, [(2, [3, 4]), (5, [])])] * 4 + [(0, [])] * 3
    found = search_linked(tables_of(people), 3, method_named("refine"), Setting())
    assert all(each.recoding.suppressed == 0 for each in found)
    assert all(np.array_equal(each.cells.low, each.cells.high) for each in found)


def diverse(wards, illnesses):
    """Return persons with one stay each: ward and illness of each."""
    number = len(wards)
    who = list(range(number))
    promise = [LDiversity(2, column="s")]
    return [
        counted([0] * number),
        counted(wards, 0, who, who, sensitive=illnesses, promise=promise),
    ]


def test_classes_are_merged_until_sensitive_values_are_diverse():
    tables = diverse([0, 0, 0, 5, 5, 5], [1, 1, 1, 2, 2, 2])
    found = search_linked(tables, 3, method_named("bestcut"), Setting())
    assert found[1].recoding.classes == 1
    assert (found[1].label >= 0).all()


def test_what_cannot_be_diverse_is_suppressed():
    tables = diverse([0, 0, 5, 5], [1, 1, 1, 1])
    found = search_linked(tables, 2, method_named("bestcut"), ALL)
    assert all((each.label < 0).all() for each in found)
    assert found[0].recoding.classes == 0


def test_a_shape_that_is_not_diverse_alone_is_joined_with_another_one():
    """Everybody with one stay has the same illness; a second stay is suppressed for them."""
    wards, who, illness = [], [], []
    for i in range(12):
        stays = 1 + i % 2
        who += [i] * stays
        wards += [0] * stays
        illness += [1] if stays == 1 else [2, 3]
    tables = [
        counted([0] * 12),
        counted(wards, 0, who, who, sensitive=illness, promise=[LDiversity(2, column="s")]),
    ]
    limit = Setting(suppression_limit=0.25)
    found = search_linked(tables, 2, method_named("bestcut"), limit)
    assert (found[0].label >= 0).all()
    assert found[1].recoding.suppressed == 6


def test_a_tuple_that_two_trees_share_is_judged_in_the_whole_release():
    """Two stays of each person: each tree is diverse, the ward that all of them share is not."""
    number = 4
    who = [i for i in range(number) for _ in range(2)]
    wards = [0, 5] * number
    illness = [1, 2, 1, 3, 1, 2, 1, 3]
    tables = [
        counted([0] * number),
        counted(wards, 0, who, who, sensitive=illness, promise=[LDiversity(2, column="s")]),
    ]
    found = search_linked(tables, 2, method_named("bestcut"), ALL)
    cells, label = found[1].cells, found[1].label
    seen = {}
    for own, ill in zip(label.tolist(), illness, strict=True):
        if own >= 0:
            seen.setdefault((int(cells.low[own, 0]), int(cells.high[own, 0])), set()).add(ill)
    assert all(len(values) >= 2 for values in seen.values())


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_that_release_levels_or_spread_are_refused(name):
    kind = METHODS[name]
    if kind.family != "lattice" and not kind.spreads:
        return
    with pytest.raises(MethodError, match="take bestcut"):
        search_linked(tables_of([(0, [])] * 4), 2, method_named(name), ALL)


def test_fewer_persons_than_k_are_all_suppressed():
    found = search_linked(tables_of([(0, []), (1, [])]), 3, method_named("bestcut"), ALL)
    assert [each.recoding.classes for each in found] == [0, 0, 0]
    assert (found[0].label < 0).all()


def test_persons_without_any_column_are_alike():
    tables = [counted([None] * 4), counted([None] * 4, 0, [0, 1, 2, 3], [0, 1, 2, 3])]
    found = search_linked(tables, 4, method_named("bestcut"), Setting())
    assert [each.recoding.suppressed for each in found] == [0, 0]
