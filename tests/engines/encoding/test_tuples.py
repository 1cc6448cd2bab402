"""Tuples as arrays: counted, covered and assigned as devices do it, one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.test_encode import golden, strange_people

from shoal.engines.encoding import tuples as module
from shoal.engines.encoding.columns import ColumnCoder
from shoal.engines.encoding.tuples import (
    CodedAssignment,
    Cover,
    TupleCounts,
    assign_tuples,
    release_unseen,
    released_tuple,
)
from shoal.model.batch import Judge, assign_classes
from shoal.model.column import Rejected
from shoal.model.sets import SetEncoder
from shoal.privacy import KAnonymity, LDiversity
from shoal.table.distinct import distinct_rows

pytestmark = pytest.mark.local("a part of the local engine itself")

NAMES = ["mondrian", "clusters", "levels"]


def coded(name, frame, on_unseen):
    """Return the cover of a model, and the distinct tuples of a table with each record's own."""
    encoder = SetEncoder(golden(name).to_document(), on_unseen)
    columns = [ColumnCoder(j, encoder) for j in range(len(encoder.names))]
    codes = [column.codes(frame[n]) for column, n in zip(columns, encoder.names, strict=True)]
    cover = Cover(encoder, columns)
    return cover, *distinct_rows(codes, cover.sizes)


def counted(frame, tuples, which, judge):
    counts = TupleCounts(tuples.shape[1], len(judge.columns))
    sensitive = [
        np.array(counts.number(i, [scale.text(v) for v in frame[name]]), dtype=np.int32)
        for i, (name, scale) in enumerate(zip(judge.columns, judge.scales, strict=True))
    ]
    counts.add(tuples, which, sensitive)
    return counts


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from("xyz")), min_size=1),
    st.sampled_from([1, 4_000_000]),
)
def test_records_are_counted_as_by_hand_in_whatever_chunks(records, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_ROWS", most)
        counts = TupleCounts(2, 1)
        for begin in range(0, len(records), 5):
            a, b, s = zip(*records[begin : begin + 5], strict=True)
            codes = [np.array(a, dtype=np.int32), np.array(b, dtype=np.int32)]
            tuples, which = distinct_rows(codes, [3, 4])
            counts.add(tuples, which, [np.array(counts.number(0, s), dtype=np.int32)])
        codes, keys, sizes = counts.arrays()
    found = Counter()
    for row, key, size in zip(codes.tolist(), keys.tolist(), sizes.tolist(), strict=True):
        ((texts, records_of),) = counts.histogram([key], [size]).items()
        found[(*row, *texts)] += records_of
    assert found == Counter(records)
    assert len(codes) == len(found)  # equal rows are joined


def test_without_a_sensitive_column_a_histogram_has_one_entry():
    counts = TupleCounts(1, 0)
    counts.add(np.array([[4]], dtype=np.int32), np.zeros(3, dtype=np.int32), [])
    codes, keys, records = counts.arrays()
    assert (codes.tolist(), keys.tolist(), records.tolist()) == ([[4]], [0], [3])
    assert counts.histogram([0, 0], [1, 2]) == {(): 3}


@pytest.mark.parametrize("name", NAMES)
def test_the_cover_finds_the_first_open_region(name):
    frame = strange_people(200)
    cover, tuples, _ = coded(name, frame, "suppress")
    found = cover.regions(tuples)
    values = [cover.values(row) for row in tuples.tolist()]
    assert found.tolist() == [cover.encoder.find(value) for value in values]
    cover.closed = set(range(0, len(cover.encoder.regions), 2))
    assert not np.isin(cover.regions(tuples), list(cover.closed)).any()
    assert (cover.regions(tuples, closed=False) == found).all()


def test_the_cover_takes_in_what_columns_meet_later():
    frame = strange_people(200)
    cover, *_ = coded("mondrian", frame.head(20), "suppress")
    again, tuples, _ = coded("mondrian", frame, "suppress")
    cover.regions(np.zeros((0, len(cover.coded)), dtype=np.int32))
    codes = [c.codes(frame[n]) for c, n in zip(cover.coded, cover.encoder.names, strict=True)]
    rows, _ = distinct_rows(codes, cover.sizes)
    assert sorted(cover.regions(rows)) == sorted(again.regions(tuples))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("on_unseen", ["suppress", "nearest"])
def test_classes_are_assigned_as_devices_assign_them(name, on_unseen):
    frame = strange_people(300)
    cover, tuples, which = coded(name, frame, on_unseen)
    judge = Judge.of(golden(name).schema, [KAnonymity(4), LDiversity(2)])
    found = assign_tuples(counted(frame, tuples, which, judge), cover, judge)
    texts = [judge.texts(row) for row in frame.select(judge.columns).rows()]
    histograms = [Counter() for _ in tuples]
    for number, each in zip(which.tolist(), texts, strict=True):
        histograms[number][each] += 1
    values = [cover.values(row) for row in tuples.tolist()]
    encoder = SetEncoder(golden(name).to_document(), on_unseen)
    released = assign_classes(encoder, values, histograms, judge=judge)
    wanted, lost = {}, Counter()
    for label, histogram in zip(released, histograms, strict=True):
        (lost if label is None else wanted.setdefault(label, Counter())).update(histogram)
    assert found.classes == wanted
    assert found.lost == lost
    assert found.closed  # or nothing was tried
    assert not judge.failing(found.classes)
    assert found.lost.total() + sum(h.total() for h in found.classes.values()) == frame.height


def test_a_closed_class_is_gone_and_its_tuples_move_or_are_lost():
    frame = strange_people(300)
    cover, tuples, which = coded("mondrian", frame, "suppress")
    judge = Judge.of(golden("mondrian").schema, [KAnonymity(2)])
    found = CodedAssignment(counted(frame, tuples, which, judge), cover)
    label = min(found.classes, key=found.rank.__getitem__)
    before = found.lost.total() + sum(h.total() for h in found.classes.values())
    moved = found.close([label], [label])
    assert label not in found.classes
    assert label not in moved
    assert moved <= set(found.classes)
    assert found.lost.total() + sum(h.total() for h in found.classes.values()) == before


def test_unseen_tuples_are_released_as_the_model_says_and_asked_once():
    frame = strange_people(300)
    cover, tuples, _ = coded("levels", frame, "nearest")
    unseen = tuples[cover.regions(tuples) < 0]
    assert len(unseen)
    memo = {}
    found = release_unseen(cover, unseen, memo)
    labels = [cover.encoder.tuple_of(cover.values(row))[0] for row in unseen.tolist()]
    assert found == [None if label is None else tuple(label) for label in labels]
    assert len(memo) == len(unseen)
    memo[tuple(unseen[0].tolist())] = ("remembered",)
    assert release_unseen(cover, unseen[:1], memo) == [("remembered",)]
    refusing, tuples, _ = coded("levels", frame, "error")
    with pytest.raises(Rejected):
        release_unseen(refusing, tuples[refusing.regions(tuples) < 0])


def test_a_region_releases_its_labels():
    encoder = SetEncoder(golden("mondrian").to_document(), "suppress")
    for region in range(len(encoder.regions)):
        assert list(released_tuple(encoder, region)) == encoder.labels_of(region)


def test_no_record_leaves_no_class():
    frame = strange_people(5).head(0)
    frame = frame.with_columns(pl.all().cast(pl.String))
    cover, tuples, which = coded("mondrian", frame, "suppress")
    judge = Judge.of(golden("mondrian").schema, [KAnonymity(2)])
    found = assign_tuples(counted(frame, tuples, which, judge), cover, judge)
    assert (found.classes, found.lost) == ({}, Counter())
