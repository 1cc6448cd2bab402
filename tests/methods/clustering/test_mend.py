"""Mending: the same mergers as the plain text has, and nothing left that breaks the promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import tables
from tests.naive import clustering as naive

from shoal.methods.arrays import promise_of
from shoal.methods.clustering import mend as module
from shoal.methods.clustering.clusters import Clusters, histograms_of
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity, LDiversity


def mended(table, models, budget=0):
    """Return what becomes of the rows, each of which begins alone."""
    alone = Clusters(np.arange(table.rows), np.arange(table.rows), table.counts)
    board = module.board_of(
        table.codes, table.codes, table.counts, histograms_of(table, alone, table.rows),
        space=space_of(table.domains),
    )  # fmt: skip
    return module.mend(board, promise=promise_of(models, table), budget=budget).tolist()


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
    expected = naive.mend(
        boxes, table.counts.tolist(), holding(table, k, values), domains=table.domains,
        budget=budget,
    )  # fmt: skip
    assert mended(table, models, budget) == expected


@pytest.mark.parametrize("most", [1, 3, 1024])
@settings(max_examples=40, deadline=None)
@given(table=tables(sensitive=True), k=st.integers(1, 9), values=st.integers(2, 3))
def test_what_is_left_keeps_the_promise_wherever_clusters_look(most, table, k, values):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ALL", most)
        home = mended(table, [KAnonymity(k), LDiversity(values, column="disease")])
    holds = holding(table, k, values)
    for cluster in set(home) - {-1}:
        assert home[cluster] == cluster
        assert holds([row for row, mine in enumerate(home) if mine == cluster])
    if holds(list(range(table.rows))):
        assert -1 not in home
