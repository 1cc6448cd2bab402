"""SSE/SST against plain sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import sa_mdav
from tests.methods.microaggregation.mixed import columns, tables, twin_of

from shoal.measures.risk.classes import prosecutor
from shoal.methods.microaggregation.centroids import centroids
from shoal.methods.microaggregation.squared_error import sse_loss
from shoal.privacy import KAnonymity
from shoal.table.frequency import from_codes
from shoal.table.recoding import recoding_of


def whole(table):
    """Return the table as one class."""
    rows = np.arange(table.rows)
    low, high = table.codes.min(axis=0, keepdims=True), table.codes.max(axis=0, keepdims=True)
    return recoding_of(table, low, high, (rows, np.zeros_like(rows), table.counts))


@settings(max_examples=60, deadline=None)
@given(table=tables())
def test_nothing_lost_is_0_and_everything_in_one_class_is_100(table):
    fine = sa_mdav(table, [KAnonymity(1)])
    assert sse_loss(fine, centroids(fine)) == pytest.approx(0, abs=1e-6)
    one = whole(table)
    is_spread = table.rows > 1
    assert sse_loss(one, centroids(one)) == pytest.approx(100 if is_spread else 0)


@settings(max_examples=60, deadline=None)
@given(table=tables())
def test_a_suppressed_record_is_fully_lost(table):
    rows = np.arange(table.rows)
    none = np.zeros((0, len(table.domains)), dtype=np.int32)
    gone = recoding_of(table, none, none, (rows, np.full_like(rows, -1), table.counts))
    assert sse_loss(gone, centroids(gone)) == pytest.approx(100 if table.rows > 1 else 0)


@settings(max_examples=40, deadline=None)
@given(table=tables(), k=st.integers(1, 5))
def test_the_loss_is_the_sum_over_the_records(table, k):
    if table.records < k or any(d.tree is None for d in table.domains):
        return
    found = sa_mdav(table, [KAnonymity(k)])
    shown, middle = centroids(found), [c[0] for c in centroids(whole(table))]
    pairs = [twin_of(domain, 1 << 40) for domain in table.domains]
    weights = [domain.weight for domain in table.domains]
    sse = sst = 0.0
    for row, label, n in zip(found.row, found.label, found.count, strict=True):
        values = [pairs[j][1][code] for j, code in enumerate(table.codes[row])]
        for goal in ([column[label] for column in shown], middle):
            apart = [pairs[j][0].between(v, goal[j]) / 2**40 for j, v in enumerate(values)]
            mean = sum(w * a for w, a in zip(weights, apart, strict=True)) / sum(weights)
            if goal is middle:
                sst += int(n) * mean**2
            else:
                sse += int(n) * mean**2
    assert sse_loss(found, shown) == pytest.approx(100 * sse / sst if sst else 0, abs=1e-6)


def test_numbers_are_z_scores_and_columns_count_alike():
    number = columns(False)["number"]  # 1, 2.5, 4, 9
    codes = np.array([[0, 3], [1, 2], [2, 1], [3, 0]], dtype=np.int32)
    table = from_codes((number, number), codes, np.array([1, 2, 1, 3]))
    found = sa_mdav(table, [KAnonymity(3)])
    shown = centroids(found)
    position = number.position[table.codes]
    z = position - np.average(position, axis=0, weights=table.counts)
    z /= np.sqrt(np.average(z**2, axis=0, weights=table.counts))
    sse = 0.0
    for label in range(found.classes):
        inside = found.label == label
        points, n = z[found.row[inside]], found.count[inside]
        away = points - np.average(points, axis=0, weights=n)
        sse += float((n[:, None] * away**2).sum())
    sst = float((table.counts[:, None] * z**2).sum())
    assert sse_loss(found, shown) == pytest.approx(100 * sse / sst, abs=1e-3)


def test_intervals_count_as_their_middle():
    number = columns(True)["number"]
    table = from_codes((number,), np.array([[1], [4]], dtype=np.int32), np.array([1, 1]))
    one = whole(table)
    assert one.labels(0) == ["[1, 9]"]
    assert sse_loss(one) == pytest.approx(100)


def test_global_risk_is_the_share_of_distinct_tuples():
    sizes = np.full(394, 76)
    sizes[0] += 30_162 - int(sizes.sum())
    assert prosecutor(sizes).average == pytest.approx(0.0131, abs=1e-4)
