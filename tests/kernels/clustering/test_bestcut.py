"""Best cut: classes are runs of an order with tight boxes; guards; a column alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import domains, tables

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.bestcut import cut
from shoal.kernels.clustering.losses import packed
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity


def cuts_of(table, k, **options):
    return cut(
        table.codes, table.counts, table.sensitive, losses=packed(space_of(table.domains)),
        promise=promise_of([KAnonymity(k)], table), **options,
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6), sample=st.sampled_from([2, 5, 10**6]))
def test_every_class_is_a_run_with_a_tight_box_and_k_records(table, k, sample):
    found = cuts_of(table, k, sample=sample)
    assert sorted(found.row.tolist()) == list(range(table.rows))
    along = found.label[found.row]
    assert (np.diff(along) >= 0).all()
    for label in range(len(found.low)):
        rows = np.flatnonzero(found.label == label)
        assert found.low[label].tolist() == table.codes[rows].min(axis=0).tolist()
        assert found.high[label].tolist() == table.codes[rows].max(axis=0).tolist()
        assert table.counts[rows].sum() >= k or table.records < k


def test_what_compiled_code_must_not_see_is_refused():
    losses = packed(space_of(domains()))
    codes, counts, none = (
        np.zeros((2, 3), np.int32),
        np.ones(2, np.int64),
        np.zeros((2, 0), np.int32),
    )
    for wrong in (
        (codes.astype(np.int64), counts, none, losses),
        (codes, counts, none[:1], losses),
        (codes[:0], counts[:0], none[:0], losses),
        (codes, counts * 2**31, none, losses),
        (codes, counts, none, losses.astype(np.int64)),
    ):
        with pytest.raises(KernelInputError):
            cut(*wrong[:3], losses=wrong[3], promise=None)
