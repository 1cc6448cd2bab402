"""From clusters to a recoding that keeps the promise, whatever the clusters were."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import check_release, tables

from shoal.methods.clustering.clusters import Clusters, boxes_of
from shoal.methods.clustering.repair import recode, recode_holding
from shoal.methods.clustering.space import space_of
from shoal.methods.judging import failing_classes
from shoal.privacy import BetaLikeness, KAnonymity, LDiversity, NTCloseness, TCloseness


@st.composite
def clustered(draw, least=-1):
    table = draw(tables(most=14, sensitive=True, missing=True))
    label = np.array([draw(st.integers(least, 3)) for _ in range(table.rows)], dtype=np.int64)
    return table, Clusters(np.arange(table.rows), label, table.counts)


@settings(deadline=None, max_examples=60)
@given(case=clustered(), k=st.integers(1, 6), values=st.integers(1, 3),
       limit=st.sampled_from([0.0, 0.2, 1.0]), join=st.booleans())  # fmt: skip
def test_what_is_released_keeps_the_promise(case, k, values, limit, join):
    table, clusters = case
    models = [KAnonymity(k), LDiversity(values, column="disease")]
    found = recode(
        table, models, clusters, space=space_of(table.domains), suppression_limit=limit, join=join
    )
    check_release(found, k, values)


@settings(deadline=None, max_examples=60)
@given(
    case=clustered(), limit=st.sampled_from([0.0, 0.2, 1.0]),
    closeness=st.sampled_from([
        TCloseness(0.3, column="disease"), BetaLikeness(1.0, column="disease"),
        NTCloseness(2, 0.3, column="disease"),
    ]),
)  # fmt: skip
def test_closeness_holds_against_what_is_released_and_not_against_what_was_there(
    case, limit, closeness
):
    table, clusters = case
    models = [KAnonymity(2), closeness]
    found = recode(table, models, clusters, space=space_of(table.domains), suppression_limit=limit)
    assert not failing_classes(found, models).any()


@settings(deadline=None, max_examples=40)
@given(case=clustered(least=0), k=st.integers(1, 5))
def test_nothing_is_suppressed_that_can_be_merged(case, k):
    table, clusters = case
    found = recode(table, [KAnonymity(k)], clusters, space=space_of(table.domains))
    assert found.suppressed == (0 if table.records >= k else table.records)


@settings(deadline=None, max_examples=40)
@given(case=clustered())
def test_clusters_that_hold_stay_as_they_are(case):
    table, clusters = case
    found = recode(
        table, [KAnonymity(1)], clusters, space=space_of(table.domains), join=False,
        facts={"rounds": 3},
    )  # fmt: skip
    kept = clusters.label >= 0
    assert found.suppressed == int(table.counts[~kept].sum())
    assert found.classes == len(set(clusters.label[kept].tolist()))
    assert found.facts == {"rounds": 3}


@pytest.mark.parametrize("known", [False, True])
@settings(deadline=None, max_examples=40)
@given(table=tables(most=14, sensitive=True), k=st.integers(1, 30))
def test_one_cluster_is_released_or_suppressed_as_a_whole(known, table, k):
    clusters = Clusters(np.arange(table.rows), np.zeros(table.rows, dtype=np.int64), table.counts)
    boxes = boxes_of(table.codes, clusters.label) if known else None
    found = recode_holding(
        table, [KAnonymity(k)], clusters, space=space_of(table.domains), boxes=boxes
    )
    if table.records < k:
        assert found.suppressed == table.records
    else:
        assert found.sizes.tolist() == [table.records]
        check_release(found, k)


@settings(deadline=None, max_examples=10)
@given(table=tables(most=6, sensitive=True))
def test_where_nothing_is_left_to_compare_with_nothing_is_released(table):
    clusters = Clusters(np.arange(table.rows), np.full(table.rows, -1), table.counts)
    found = recode(
        table, [KAnonymity(2), TCloseness(0.1, column="disease")], clusters,
        space=space_of(table.domains), suppression_limit=1.0,
    )  # fmt: skip
    assert (found.classes, found.suppressed) == (0, table.records)
