"""Greedy k-member clustering [byun2007] ([netshiunda2020], Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.kernels.clustering.kmember import grow
from shoal.kernels.clustering.space import SCALE, Space
from shoal.methods.catalogue import KMember
from shoal.methods.clustering.clusters import (
    Clusters,
    least_records,
    place_by_class,
    place_leftovers,
)
from shoal.methods.clustering.release import recode_or_cut
from shoal.methods.clustering.space import measure_of, space_of
from shoal.methods.method import Setting
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


def kmember(
    table: FrequencyTable, models: Sequence[Promise], method: KMember, setting: Setting
) -> Recoding:
    """Build clusters of k records one after another, each step with the least growth of loss.

    The first seed is the record furthest from a random one, each later seed the one furthest
    from the seed before it. A cluster takes the record that makes its information loss grow
    least until it has k. When fewer than k records are left, they go, in random order, each
    to the cluster that grows least. With `cm` a record costs `penalty` more if its target
    differs from the cluster's majority, or if the cluster would lose everything with it, so
    that all of its records were suppressed ([netshiunda2020], section 3.6.3).

    The seed's pseudocode has three slips; its prose is followed: the seed R is renewed with
    every cluster (line 7 would always measure from the first one), a cluster has k members
    (line 10 would give it k + 1), and k records that are left form a cluster ([lin2008]:
    leftovers are *fewer than k*; line 6 stops at k already).

    Guarantee:
        The same clusters as the plain text gives. Of equal records a copy of the last member
        comes first, then the last one in the order of the table (the paper leaves it open; on
        Adult at k = 25 the first one would lose 0.210 instead of 0.197).
    """
    k = least_records(models)
    space = space_of(table.domains, measure=measure_of(setting))
    classes = classes_of(table, setting.target) if method.cm else None
    extra = round(method.penalty * SCALE) if method.cm else 0
    chance = np.random.default_rng(setting.seed)
    first = row_of_record(table, int(chance.integers(table.records)))
    clusters = grown(table, space, k=k, first=first, classes=classes, penalty=extra)
    turns = chance.permutation(int(clusters.records[clusters.label < 0].sum()))
    if classes is None:
        clusters = place_leftovers(clusters, table.codes, space, turns=turns)
    else:
        clusters = place_by_class(
            clusters, table.codes, space, turns=turns, classes=classes, penalty=extra
        )
    return recode_or_cut(table, models, clusters, space, setting)


def grown(
    table: FrequencyTable,
    space: Space,
    *,
    k: int,
    first: int,
    classes: NDArray[np.int32] | None = None,
    penalty: int = 0,
) -> Clusters:
    """Return the clusters and the records that are left; of equal rows the last one wins."""
    found = grow(
        np.ascontiguousarray(table.codes[::-1]),
        table.counts[::-1].copy(),
        space=space,
        k=k,
        first=table.rows - 1 - first,
        target=None if classes is None else classes[::-1],
        penalty=penalty,
    )
    return by_row(Clusters(table.rows - 1 - found.row, found.label, found.records))


def row_of_record(table: FrequencyTable, record: int) -> int:
    """Return the row that a record belongs to, records lying behind each other by row."""
    return int(np.searchsorted(np.cumsum(table.counts), record, side="right"))


def by_row(clusters: Clusters) -> Clusters:
    """Return the members sorted by cluster, then by row."""
    order = np.lexsort((clusters.row, clusters.label))
    return Clusters(*(each[order] for each in clusters))


def classes_of(table: FrequencyTable, target: str | None) -> NDArray[np.int32]:
    """Return the class of each row for the classification metric.

    Raises:
        MethodError: there is no such column to classify by.
    """
    names = [domain.name for domain in table.sensitive_domains]
    if target is None and len(names) == 1:
        target = names[0]
    if target not in names:
        raise MethodError(
            problem="kmember: cm needs a target column that is no quasi-identifier: name it with "
            "--target"
        )
    return table.sensitive[:, names.index(target)]
