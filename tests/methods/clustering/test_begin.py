"""What `refine` begins with: clusters of all records that keep the promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import of_persons, people_in, tables

from shoal.kernels.clustering.losses import packed
from shoal.methods.arrays import promise_of
from shoal.methods.clustering import begin
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity

STARTS = [begin.cut, begin.merged, begin.grown, begin.mended]


def begun(table, k, how, **words):
    space = space_of(table.domains)
    task = begin.Task(space, packed(space), promise_of([KAnonymity(k)], table))
    return begin.start(table, task, how, **words)


def records_by_row(clusters, rows):
    return np.bincount(clusters.row, weights=clusters.records, minlength=rows).tolist()


@pytest.mark.parametrize("how", STARTS)
@settings(max_examples=40, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 5), is_part=st.booleans())
def test_every_cluster_has_k_records(how, table, k, is_part):
    if table.records < k:
        return
    found = begun(table, k, how, is_part=is_part)
    assert records_by_row(found, table.rows) == table.counts.tolist()
    assert np.bincount(found.label, weights=found.records).min() >= k


@pytest.mark.parametrize("how", STARTS)
@settings(max_examples=40, deadline=None)
@given(table=of_persons(), k=st.integers(1, 5), is_part=st.booleans())
def test_every_cluster_has_k_persons(how, table, k, is_part):
    if table.people < k:
        return
    found = begun(table, k, how, is_part=is_part)
    assert records_by_row(found, table.rows) == table.counts.tolist()
    assert min(len(people) for people in people_in(table, *found).values()) >= k
