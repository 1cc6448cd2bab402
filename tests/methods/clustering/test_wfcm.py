import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import wfcm
from tests.methods.clustering.tables import groups_of_members, tables
from tests.naive import clustering_more as naive

from shoal.core.errors import MethodError
from shoal.kernels.clustering.wfcm import fill
from shoal.methods.clustering.space import space_of
from shoal.methods.clustering.wfcm import cluster_rows
from shoal.privacy import KAnonymity


@settings(max_examples=40, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6), seed=st.integers(0, 9),
       iterations=st.integers(1, 4), short=st.sampled_from([0, 256]))  # fmt: skip
def test_fast_clusters_are_the_papers_clusters(table, k, seed, iterations, short):
    space = space_of(table.domains, short=short)
    label = cluster_rows(table, k, space=space, iterations=iterations, seed=seed)
    expected = naive.wfcm(table, k, seed=seed, iterations=iterations)
    assert [list(np.flatnonzero(label == c)) for c in range(int(label.max()) + 1)] == expected


@settings(max_examples=60, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6), seed=st.integers(0, 9),
       short=st.sampled_from([0, 256]))  # fmt: skip
def test_clusters_below_k_take_only_what_they_miss(table, k, seed, short):
    space = space_of(table.domains, short=short)
    label = cluster_rows(table, k, space=space, iterations=2, seed=seed)
    clusters = [list(np.flatnonzero(label == c)) for c in range(int(label.max()) + 1)]
    found = fill(table.codes, table.counts, label, space=space, k=k)
    assert groups_of_members(*found) == naive.filled(table, clusters, k)


def test_no_iteration_is_refused():
    with pytest.raises(MethodError, match="iterations must be at least 1"):
        wfcm(None, [KAnonymity(2)], iterations=0)
