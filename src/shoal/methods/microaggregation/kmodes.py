"""Microaggregation by k-modes [torra2004] ([veltmann2022], section 2.2.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.core.errors import MethodError
from shoal.kernels.microaggregation_modes import assign
from shoal.methods.clustering.clusters import Clusters, least_records
from shoal.methods.frequency import FrequencyTable
from shoal.methods.microaggregation.semantic import semantics_of
from shoal.methods.microaggregation.smdav import finish, tuples_of
from shoal.methods.recoding import Recoding
from shoal.privacy import Promise


def kmodes(
    table: FrequencyTable,
    models: Sequence[Promise],
    *,
    groups: int | None = None,
    iterations: int = 10,
    seed: int = 0,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Share tuples out to the nearest of some modes, find the modes anew, and repeat.

    Two categories are as far apart as can be, or equal. The first modes are different tuples
    drawn at random, frequent ones more often. After the last round the smallest cluster is
    dissolved, its tuples going to the nearest mode left, until every cluster has k records.

    Args:
        table: the data.
        models: the promise.
        groups: how many modes; None: as many as clusters of k records could be.
        iterations: rounds at most; it ends when nothing moves.
        seed: of the first modes.
        suppression_limit: share of records that may be suppressed.
    """
    if iterations < 1 or (groups is not None and groups < 1):
        raise MethodError(problem="kmodes: groups and iterations must be 1 or more")
    k = least_records(models)
    codes, counts = tuples_of(table)
    number = min(groups or max(table.records // k, 1), len(counts))
    chance = np.random.default_rng(seed)
    first = np.sort(chance.choice(len(counts), number, replace=False, p=counts / counts.sum()))
    label = assign(
        codes, counts, first, k=k, iterations=iterations,
        semantics=semantics_of(table.domains, distance="equal"),
    )  # fmt: skip
    clusters = Clusters(np.arange(table.rows), label[table.tuple_ids], table.counts)
    return finish(table, models, clusters, suppression_limit)
