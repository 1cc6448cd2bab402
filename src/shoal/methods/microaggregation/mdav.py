"""MDAV and V-MDAV: groups around the records that are furthest out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.microaggregation import mdav as kernel
from shoal.methods.catalogue import Mdav, VMdav
from shoal.methods.clustering.clusters import Clusters, least_records
from shoal.methods.method import Setting
from shoal.methods.microaggregation.points import blocks_of, points_of
from shoal.methods.microaggregation.smdav import finish
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


def mdav(
    table: FrequencyTable, models: Sequence[Promise], method: Mdav, setting: Setting
) -> Recoding:
    """Group by maximum distance to the average vector [domingo2002, domingo2005].

    While 3k records or more are left: r is the one furthest from their mean; it and its
    k - 1 nearest become a group; s is the one left that is furthest from r; it and its k - 1
    nearest become the next. If 2k or more are left then, one more group is made around the
    one furthest from the mean. The rest is the last group.

    Guarantee:
        The groups of the plain text, record by record; of equally distant records the first
        in the order of the table is taken. Equal records count as often as they occur.
    """
    found = kernel.mdav(blocks_of(points_of(table)), table.counts, k=least_records(models))
    return finish(table, models, Clusters(*found), setting)


def vmdav(
    table: FrequencyTable, models: Sequence[Promise], method: VMdav, setting: Setting
) -> Recoding:
    """Group as MDAV does, with groups of k to 2k - 1 records [solanas2006].

    While k records or more are left: e is the one furthest from the mean of all records; it
    and its k - 1 nearest become a group. While the group has fewer than 2k - 1 records, the
    record nearest to any of its members joins it, if its distance to that member is less
    than `gamma` times its distance to the nearest other record that is left (if there is
    none, it joins). Fewer than k records that are left in the end go each to the group with
    the nearest mean, as the groups were before.

    Guarantee:
        The groups of the plain text; of equally distant records the first in the order of
        the table is taken, of equally distant groups the one made first.
    """
    points = points_of(table)
    k = least_records(models)
    found = Clusters(*kernel.vmdav(blocks_of(points), table.counts, k=k, gamma=method.gamma))
    return finish(table, models, _placed(found, points), setting)


def _placed(clusters: Clusters, points: NDArray[np.float64]) -> Clusters:
    """Put the records without a group where the nearest mean is."""
    row, label, records = clusters
    left = label < 0
    if not left.any():
        return clusters
    if left.all():
        return Clusters(row, np.zeros_like(label), records)
    kept = points[row[~left]] * records[~left, None]
    groups = int(label.max()) + 1
    sizes = np.bincount(label[~left], weights=records[~left], minlength=groups)
    placed = label.copy()
    gaps = np.zeros((int(left.sum()), groups))
    for c in range(points.shape[1]):
        mean = np.bincount(label[~left], weights=kept[:, c], minlength=groups) / sizes
        gaps += (points[row[left], c][:, None] - mean[None, :]) ** 2
    placed[left] = gaps.argmin(axis=1)
    return Clusters(row, placed, records)
