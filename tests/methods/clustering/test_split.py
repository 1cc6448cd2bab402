"""Splitting by strata: nothing is lost, every half holds, and the loss never grows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from tests.methods.clustering.tables import disease
from tests.methods.clustering.test_laws import numbers
from tests.methods.sensitive_tables import PROMISES, counted

from shoal.methods.arrays import promise_of
from shoal.methods.clustering.clusters import Clusters, box_losses, boxes_of, histograms_of
from shoal.methods.clustering.space import space_of
from shoal.methods.clustering.split import split_holding, strata_of
from shoal.methods.verdicts import breaking
from shoal.privacy import KAnonymity, LDiversity


def whole(table):
    return Clusters(np.arange(table.rows), np.zeros(table.rows, dtype=np.int64), table.counts)


def lost(table, clusters, space):
    sizes = np.bincount(clusters.label, weights=clusters.records).astype(np.int64)
    return int(
        (sizes * box_losses(space, *boxes_of(table.codes[clusters.row], clusters.label))).sum()
    )


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
@settings(max_examples=25, deadline=None)
@given(table=counted())
def test_every_part_holds_and_nothing_is_lost(promise, table):
    arrays, space = promise_of([promise], table), space_of(table.domains)
    before = whole(table)
    assume(not breaking(arrays, np.array([table.records]), histograms_of(table, before, 1)).any())
    after = split_holding(table, before, space=space, promise=arrays)
    number = int(after.label.max()) + 1
    sizes = np.bincount(after.label, weights=after.records).astype(np.int64)
    assert not breaking(arrays, sizes, histograms_of(table, after, number)).any()
    assert np.bincount(after.row, weights=after.records).tolist() == table.counts.tolist()
    assert lost(table, after, space) <= lost(table, before, space)


def test_half_of_every_value_goes_to_either_side():
    """Sixteen records along a line, the sensitive value changes in the middle: no cut would do."""
    secret = (np.arange(16) >= 8).astype(np.int32)[:, None]
    table = replace(
        numbers(400, 1, 16), codes=np.arange(16, dtype=np.int32)[:, None],
        counts=np.ones(16, dtype=np.int64), sensitive_domains=(disease(),), sensitive=secret,
    )  # fmt: skip
    assert strata_of(table).tolist() == [0] * 8 + [1] * 8
    arrays = promise_of([KAnonymity(2), LDiversity(2, column="disease")], table)
    after = split_holding(table, whole(table), space=space_of(table.domains), promise=arrays)
    found = sorted(after.row[after.label == c].tolist() for c in range(8))
    assert found == [[i, i + 8] for i in range(8)]
