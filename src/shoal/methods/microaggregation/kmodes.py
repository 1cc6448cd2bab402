"""Microaggregation by k-modes [torra2004] ([veltmann2022], section 2.2.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.kernels.microaggregation.kmodes import assign
from shoal.methods.catalogue import KModes
from shoal.methods.clustering.clusters import Clusters, least_records
from shoal.methods.method import Setting
from shoal.methods.microaggregation.semantic import semantics_of
from shoal.methods.microaggregation.smdav import distinct_tuples, finish
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


def kmodes(
    table: FrequencyTable, models: Sequence[Promise], method: KModes, setting: Setting
) -> Recoding:
    """Share tuples out to the nearest of some modes, find the modes anew, and repeat.

    Two categories are as far apart as can be, or equal. The first modes are different tuples
    drawn at random, frequent ones more often. After the last round the smallest cluster is
    dissolved, its tuples going to the nearest mode left, until every cluster has k records.
    It ends when nothing moves, or after `iterations` rounds.
    """
    k = least_records(models)
    codes, counts = distinct_tuples(table)
    number = min(method.groups or max(table.records // k, 1), len(counts))
    chance = np.random.default_rng(setting.seed)
    first = np.sort(chance.choice(len(counts), number, replace=False, p=counts / counts.sum()))
    label = assign(
        codes, counts, first, k=k, iterations=method.iterations,
        semantics=semantics_of(table.domains, distance="equal"),
    )  # fmt: skip
    clusters = Clusters(np.arange(table.rows), label[table.tuple_ids], table.counts)
    return finish(table, models, clusters, setting)
