import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import tables
from tests.naive import clustering_more as naive

from shoal.core.errors import MethodError
from shoal.core.privacy import KAnonymity
from shoal.methods.clustering.space import space_of
from shoal.methods.clustering.wfcm import cluster_rows, wfcm


@settings(max_examples=40, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6), seed=st.integers(0, 9),
       iterations=st.integers(1, 4), short=st.sampled_from([0, 256]))  # fmt: skip
def test_fast_clusters_are_the_papers_clusters(table, k, seed, iterations, short):
    space = space_of(table.domains, short=short)
    label = cluster_rows(table, k, space=space, iterations=iterations, seed=seed)
    expected = naive.wfcm(table, k, seed=seed, iterations=iterations)
    assert [list(np.flatnonzero(label == c)) for c in range(int(label.max()) + 1)] == expected


def test_no_iteration_is_refused():
    with pytest.raises(MethodError, match="--iterations"):
        wfcm(None, [KAnonymity(2)], iterations=0)
