"""Laws of borrowing: no record is lost, what held holds, and what can be mended is."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import of_persons, people_in

from shoal.methods.clustering.borrow import borrowed, split_to_spare
from shoal.methods.clustering.clusters import Clusters
from shoal.methods.clustering.space import space_of
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import ONCE, join_rows


def clustered(table, seed, number=4):
    """Put the rows of a table into clusters by chance."""
    label = np.random.default_rng(seed).integers(0, number, table.rows)
    label = np.unique(label, return_inverse=True)[1].astype(np.int64)
    return Clusters(np.arange(table.rows), label, table.counts)


def held_by_row(clusters, rows):
    found = [0] * rows
    for r, c in zip(clusters.row.tolist(), clusters.records.tolist(), strict=True):
        found[r] += c
    return found


def short(table, clusters, k):
    return {a for a, people in people_in(table, *clusters).items() if len(people) < k}


@settings(max_examples=100, deadline=None)
@given(table=of_persons(), seed=st.integers(0, 99), k=st.integers(1, 5))
def test_every_record_stays_and_every_cluster_holds_where_two_could(table, seed, k):
    before = clustered(table, seed)
    after = borrowed(table, before, space=space_of(table.domains), k=k)
    assert held_by_row(after, table.rows) == table.counts.tolist()
    assert sorted(set(after.label.tolist())) == list(range(int(after.label.max()) + 1))
    left = short(table, after, k)
    assert len(left) <= len(short(table, before, k))
    if table.people >= k:  # whoever is short is shared out, if nothing else
        assert not left
    again = borrowed(table, before, space=space_of(table.domains), k=k)
    assert all((a == b).all() for a, b in zip(after, again, strict=True))


@settings(max_examples=60, deadline=None)
@given(table=of_persons(sensitive=True), seed=st.integers(0, 99), k=st.integers(1, 4))
def test_no_change_breaks_what_a_judge_says(table, seed, k):
    def judge(clusters):
        number = int(clusters.label.max()) + 1
        values = [set(table.sensitive[clusters.row[clusters.label == a], 0]) for a in range(number)]
        return np.array([len(each) < 2 for each in values])

    def failing(clusters):
        wrong = judge(clusters)
        return short(table, clusters, k) | set(np.flatnonzero(wrong).tolist())

    before = clustered(table, seed)
    after = borrowed(table, before, space=space_of(table.domains), k=k, judge=judge)
    assert held_by_row(after, table.rows) == table.counts.tolist()
    assert len(failing(after)) <= len(failing(before))


@settings(max_examples=40, deadline=None)
@given(table=of_persons(), seed=st.integers(0, 99), k=st.integers(1, 3))
def test_clusters_that_hold_stay_as_they_are(table, seed, k):
    before = clustered(table, seed, number=2)
    if short(table, before, k):
        return
    after = borrowed(table, before, space=space_of(table.domains), k=k)
    pairs = zip(before.row.tolist(), before.label.tolist(), strict=True)
    assert set(zip(after.row.tolist(), after.label.tolist(), strict=True)) == set(pairs)


def line_table(codes, persons):
    domain = line_domain("a", Kind.NUMERIC, [str(i) for i in range(10)], list(range(10)))
    cells = np.array(codes, dtype=np.int32)[:, None]
    counts = np.ones(len(codes), dtype=np.int64)
    return join_rows((domain,), cells, counts, persons=np.array(persons, dtype=np.int32))


def test_two_clusters_of_the_same_two_persons_change_places():
    table, row = line_table([1, 1, 1, 8, 8, 8], [0, 0, 1, ONCE, ONCE, ONCE])
    label = np.array([0, 0, 0, 1, 1, 1])
    found = borrowed(
        table, Clusters(row, label, np.ones(6, dtype=np.int64)), space=space_of(table.domains), k=3
    )
    assert not short(table, found, 3)


def test_who_has_records_to_spare_can_give_single_ones():
    table, _ = line_table([1] * 6 + [2] * 4, [ONCE] * 6 + [0] * 4)
    pieces = split_to_spare(table, Clusters(np.arange(2), np.zeros(2, np.int64), table.counts), 3)
    assert sorted(zip(pieces.row.tolist(), pieces.records.tolist(), strict=True)) == [
        (0, 1), (0, 1), (0, 4), (1, 1), (1, 1), (1, 2),
    ]  # fmt: skip
