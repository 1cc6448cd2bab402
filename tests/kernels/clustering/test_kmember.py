"""Greedy k-member's guards, and what a cluster is however the rows lie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import domains, tables

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.kmember import grow
from shoal.methods.clustering.space import space_of


@settings(max_examples=40, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6))
def test_clusters_have_k_records_and_fewer_than_k_are_left(table, k):
    found = grow(table.codes, table.counts, space=space_of(table.domains), k=k, first=0)
    sizes = {}
    for label, records in zip(found.label.tolist(), found.records.tolist(), strict=True):
        sizes[label] = sizes.get(label, 0) + records
    assert sizes.pop(-1, 0) == table.records % k
    assert set(sizes.values()) <= {k}
    assert sorted(sizes) == list(range(table.records // k))
    given = np.bincount(found.row, weights=found.records, minlength=table.rows)
    assert given.tolist() == table.counts.tolist()


def test_what_compiled_code_must_not_see_is_refused():
    space = space_of(domains())
    codes, counts = np.zeros((2, 3), np.int32), np.ones(2, np.int64)
    for wrong in (
        lambda: grow(codes.astype(np.int64), counts, space=space, k=1, first=0),
        lambda: grow(codes[:, :2], counts, space=space, k=1, first=0),
        lambda: grow(codes, counts, space=space, k=0, first=0),
        lambda: grow(codes, counts, space=space, k=1, first=2),
    ):
        with pytest.raises(KernelInputError):
            wrong()
