"""Baskets and what their items are released as."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.transactions.tables import baskets, records_of

from shoal.table.baskets import Baskets, SetRecoding, places_of


@given(baskets(), st.data())
def test_a_part_has_its_records_and_knows_their_places(table, data):
    rows = data.draw(st.lists(st.integers(0, table.records - 1), max_size=6))
    part, places = table.part(np.array(rows, dtype=np.int64))
    whole = records_of(table)
    assert records_of(part) == [whole[row] for row in rows]
    assert part.codes.tolist() == table.codes[places].tolist()
    assert part.items == table.items


def test_support_counts_records():
    table = Baskets.of([["a", "b", "a"], ["b"], []])
    assert table.support().tolist() == [1, 2]
    assert table.record.tolist() == [0, 0, 1]
    assert table.records == 3


@given(baskets())
def test_items_as_they_are_lose_nothing(table):
    whole = SetRecoding.of_items(table)
    starts, codes = whole.released()
    assert starts.tolist() == table.starts.tolist()
    assert codes.tolist() == table.codes.tolist()
    assert whole.ncp() == 0


@given(baskets())
def test_one_set_of_all_loses_everything(table):
    items = len(table.items)
    if items < 2:
        return
    found = SetRecoding.of_partition(table, np.zeros(items, dtype=np.int32))
    assert found.ncp() == 1
    _, codes = found.released()
    assert codes.size == sum(bool(record) for record in records_of(table))


def test_an_occurrence_loses_the_other_items_of_its_label():
    table = Baskets.of([["a"], ["b"], ["c"], ["d"]])
    head = np.array([0, 0, 2, 3], dtype=np.int32)
    down = np.array([True, False, False, False])
    found = SetRecoding.local(table, head, down)
    assert sorted(found.labels) == [(0,), (0, 1), (2,), (3,)]
    assert found.losses().tolist() == pytest.approx([0, 1 / 3, 0, 0])
    gone = SetRecoding(table, found.labels, np.array([-1, *found.choice[1:]], dtype=np.int32))
    assert gone.losses().tolist() == pytest.approx([1, 1 / 3, 0, 0])
    assert (found.kept(), found.suppressed()) == (0.75, 0)
    assert (gone.kept(), gone.suppressed()) == (0.5, 0.25)
    nothing = SetRecoding.of_items(Baskets.of([[]]))
    assert (nothing.kept(), nothing.suppressed(), nothing.ncp()) == (1, 0, 0)
    starts, codes = gone.released()
    assert np.diff(starts).tolist() == [0, 1, 1, 1]
    assert len(codes) == 3


def test_places_may_repeat_and_be_none():
    starts = np.array([0, 2, 2, 5])
    assert places_of(starts, np.array([], dtype=np.int64)).tolist() == []
    assert places_of(starts, np.array([2, 2, 1])).tolist() == [2, 3, 4, 2, 3, 4]


def test_a_repr_shows_no_item():
    table = Baskets.of([["secret"]])
    assert "secret" not in repr(table)
    assert "secret" not in repr(SetRecoding.of_items(table))
