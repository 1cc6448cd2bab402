"""Boxes, histograms and losses of clusters, and where leftovers go."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import domains, groups_of_members, tables
from tests.naive.clustering import Losses

from shoal.methods.clustering import clusters as module
from shoal.methods.clustering.clusters import (
    Clusters,
    box_losses,
    boxes_of,
    costs,
    histograms_of,
    least_records,
    order_of,
    over_rows,
    place_leftovers,
)
from shoal.methods.clustering.space import space_of
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity
from shoal.table.frequency import from_codes

LABELS = st.lists(st.integers(0, 4), min_size=1, max_size=30)


def dense(labels):
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def test_the_strictest_promise_says_how_many_records_a_class_needs():
    assert least_records([]) == 1
    assert least_records([LDiversity(3, column="s")]) >= 1
    assert least_records([KAnonymity(2), AlphaKAnonymity(0.5, 9, column="s")]) == 9


@given(labels=LABELS)
def test_the_order_is_stable(labels):
    label = np.array(labels, dtype=np.int64)
    assert order_of(label).tolist() == np.argsort(label, kind="stable").tolist()


@given(labels=LABELS, data=st.data())
def test_a_box_is_what_its_members_span(labels, data):
    label = dense(labels)
    cells = st.tuples(st.integers(0, 9), st.integers(0, 9))
    drawn = data.draw(st.lists(cells, min_size=len(label), max_size=len(label)))
    codes = np.array(drawn, dtype=np.int32)
    low, high = boxes_of(codes, label)
    for cluster in range(label.max() + 1):
        own = codes[label == cluster]
        assert low[cluster].tolist() == own.min(axis=0).tolist()
        assert high[cluster].tolist() == own.max(axis=0).tolist()


def test_no_members_have_no_boxes():
    low, high = boxes_of(np.zeros((0, 3), dtype=np.int32), np.zeros(0, dtype=np.int64))
    assert low.shape == high.shape == (0, 3)


@settings(deadline=None)
@given(table=tables(sensitive=True), data=st.data())
def test_histograms_count_every_member(table, data):
    label = np.array([data.draw(st.integers(0, 2)) for _ in range(table.rows)], dtype=np.int64)
    found = histograms_of(table, Clusters(np.arange(table.rows), label, table.counts), 3)
    for cluster in range(3):
        expected = [0, 0, 0]
        for row in np.flatnonzero(label == cluster):
            expected[table.sensitive[row, 0]] += table.counts[row]
        assert found[cluster].tolist() == expected


@settings(deadline=None, max_examples=60)
@given(table=tables(most=6, missing=True), short=st.sampled_from([0, 256]))
def test_losses_are_those_of_the_definition(table, short):
    columns = table.domains
    space = space_of(columns, short=short)
    low, high = table.codes.min(axis=0)[None], table.codes.max(axis=0)[None]
    expected = Losses(columns).box([tuple(low[0].tolist()), tuple(high[0].tolist())])
    assert box_losses(space, low, high).tolist() == [expected]
    apart = [int(costs(space, j, low[:, j], high[:, j])[0]) for j in range(len(columns))]
    assert sum(apart) == expected


@settings(deadline=None, max_examples=60)
@given(table=tables(sensitive=True), data=st.data())
def test_tuples_are_shared_out_to_their_rows(table, data):
    members = []  # tuple, cluster, records: every tuple cut into up to three shares
    for number, size in enumerate(table.tuple_sizes.tolist()):
        cuts = sorted({0, size, *data.draw(st.lists(st.integers(0, size), max_size=2))})
        members += [(number, len(members) + i, b - a)
                    for i, (a, b) in enumerate(pairwise(cuts))]  # fmt: skip
    shares = Clusters(*np.array(members, dtype=np.int64).T)
    found = over_rows(shares, rows=np.arange(table.rows), ends=np.cumsum(table.counts))
    assert (found.records > 0).all()
    rows = np.bincount(found.row, weights=found.records, minlength=table.rows)
    assert (rows == table.counts).all()
    for number, cluster, size in members:
        mine = found.label == cluster
        assert found.records[mine].sum() == size
        assert set(table.tuple_ids[found.row[mine]].tolist()) == {number}


def test_no_records_are_shared_out_to_nobody():
    nothing = np.zeros(0, dtype=np.int64)
    found = over_rows(Clusters(nothing, nothing, nothing), rows=nothing, ends=nothing)
    assert [len(part) for part in found] == [0, 0, 0]


def naive_placed(table, placed, left):
    """Put one record after another where the loss grows least, of equals into the first."""
    losses = Losses(table.domains)
    for row in left:
        record = tuple(int(c) for c in table.codes[row])
        growth = []
        for members in placed:
            now = [tuple(int(c) for c in table.codes[r]) for r in members]
            growth.append(losses.loss([*now, record]) - losses.loss(now))
        placed[growth.index(min(growth))].append(int(row))
    return sorted(sorted(members) for members in placed)


@pytest.mark.parametrize("most", [1, 1 << 18])
@settings(deadline=None, max_examples=40)
@given(table=tables(most=10), data=st.data())
def test_leftovers_go_where_the_loss_grows_least(most, table, data):
    label = np.array([data.draw(st.integers(-1, 1)) for _ in range(table.rows)], dtype=np.int64)
    kept = label >= 0
    if kept.any():
        label[kept] = dense(label[kept])
    clusters = Clusters(np.arange(table.rows), label, table.counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST", most)
        found = place_leftovers(clusters, table.codes, space_of(table.domains))
    assert (found.label >= 0).all()
    left = np.repeat(np.flatnonzero(~kept), table.counts[~kept])
    placed = [
        np.repeat(np.flatnonzero(label == c), table.counts[label == c]).tolist()
        for c in range(label.max() + 1)
    ]
    if not placed:
        assert set(found.label.tolist()) == {0}
        return
    assert groups_of_members(*found) == naive_placed(table, placed, left)


def test_without_leftovers_nothing_changes():
    codes = np.zeros((1, 3), dtype=np.int32)
    table = from_codes(domains(), codes, np.array([2]))
    clusters = Clusters(np.array([0]), np.array([0]), np.array([2]))
    assert place_leftovers(clusters, table.codes, space_of(table.domains)) is clusters
