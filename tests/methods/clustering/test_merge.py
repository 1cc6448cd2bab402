"""Repair of clusters: the mergers of the plain text, and nothing left that breaks the promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import tables
from tests.naive import clustering as naive

from shoal.methods.arrays import promise_of
from shoal.methods.clustering import merge as module
from shoal.methods.clustering.clusters import Clusters
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity, LDiversity


def merged(table, models, budget=0):
    """Return what becomes of the rows, each of which begins alone."""
    alone = Clusters(np.arange(table.rows), np.arange(table.rows), table.counts)
    return module.merge_failing(
        table, alone, boxes=(table.codes, table.codes), space=space_of(table.domains),
        promise=promise_of(models, table), budget=budget,
    ).tolist()  # fmt: skip


def holding(table, k, values):
    """Return the promise as a question about a list of rows."""

    def holds(rows):
        seen = {int(v) for v in table.sensitive[rows, 0]} if values > 1 else {0}
        return int(table.counts[rows].sum()) >= k and len(seen) >= values

    return holds


@settings(max_examples=80, deadline=None)
@given(
    table=tables(most=14, sensitive=True, missing=True), k=st.integers(1, 9),
    values=st.integers(1, 3), budget=st.integers(0, 6),
)  # fmt: skip
def test_the_twin_makes_the_same_mergers(table, k, values, budget):
    models = [KAnonymity(k), *([LDiversity(values, column="disease")] if values > 1 else [])]
    boxes = [[tuple(int(c) for c in row)] for row in table.codes]

    def short(rows):
        seen = {int(v) for v in table.sensitive[rows, 0]}
        return max(k - int(table.counts[rows].sum()), 0) + max(values - len(seen), 0)

    expected = naive.merge_failing(
        boxes, table.counts.tolist(), holding(table, k, values), domains=table.domains,
        budget=budget, short=short if values > 1 else None,
    )  # fmt: skip
    assert merged(table, models, budget) == expected


@pytest.mark.parametrize("most", [1, 3, 1024])
@settings(max_examples=40, deadline=None)
@given(table=tables(sensitive=True), k=st.integers(1, 9), values=st.integers(2, 3))
def test_what_is_left_keeps_the_promise_wherever_clusters_look(most, table, k, values):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ALL", most)
        parent = merged(table, [KAnonymity(k), LDiversity(values, column="disease")])
    holds = holding(table, k, values)
    for cluster in set(parent) - {-1}:
        assert parent[cluster] == cluster
        assert holds([row for row, mine in enumerate(parent) if mine == cluster])
    if holds(list(range(table.rows))):
        assert -1 not in parent
