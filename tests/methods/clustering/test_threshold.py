import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import tables
from tests.naive import clustering_more as naive
from tests.naive.clustering import SCALE

from shoal.core.errors import MethodError
from shoal.core.privacy import KAnonymity
from shoal.methods.clustering.threshold import clusters_within, threshold


@settings(max_examples=40, deadline=None)
@given(table=tables(sensitive=True, missing=True, most=14), seed=st.integers(0, 9),
       more=st.sampled_from([0.0, 0.2, 0.5, 1.5]))  # fmt: skip
def test_fast_clusters_are_the_papers_clusters(table, seed, more):
    label, limit = clusters_within(table, diversity=None, seed=seed, more=more)
    order = np.random.default_rng(seed).permutation(table.rows)
    expected = naive.threshold(table, limit=limit, order=order)
    found = [list(np.flatnonzero(label == c)) for c in range(int(label.max()) + 1)]
    assert found == [sorted(cluster) for cluster in expected]
    assert limit >= round(more * SCALE)


@settings(max_examples=5, deadline=None)
@given(table=tables())
def test_a_threshold_below_a_single_record_is_refused(table):
    with pytest.raises(MethodError, match="--diversity"):
        threshold(table, [KAnonymity(2)], diversity=0.0)
