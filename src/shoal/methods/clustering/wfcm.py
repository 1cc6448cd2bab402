"""Weighted feature C-means (Chiu and Tsai, 2007, as [netshiunda2020] and [lin2008] describe it)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering.space import Space
from shoal.kernels.clustering.wfcm import fill, nearest_centroid
from shoal.methods.catalogue import Wfcm
from shoal.methods.clustering.clusters import Clusters, boxes_of, least_records
from shoal.methods.clustering.oka import places_of_rows
from shoal.methods.clustering.release import recode_or_cut
from shoal.methods.clustering.space import measure_of, space_of
from shoal.methods.method import Setting
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

ONE = 1024
"""A weight of 1."""


def wfcm(
    table: FrequencyTable, models: Sequence[Promise], method: Wfcm, setting: Setting
) -> Recoding:
    """Cluster by C-means with weighted columns, then fill clusters below k from others.

    n // k random records begin as centroids. Every row goes to the nearest one (numbers by
    their distance from the mean, categories by their common ancestor with the mode); then
    centroids are taken anew, and a column weighs the more, the less the clusters lose in it.
    This is repeated until nothing moves, at most `iterations` times. Then a cluster below k
    is merged with the nearest one; of one that can spare them, it takes only the records
    that it misses. (The seeds say "merged"; taken literally, a table of 2k records, of
    which C-means puts k - 1 together, becomes a single class.)
    """
    space = space_of(table.domains, measure=measure_of(setting))
    k = least_records(models)
    label = cluster_rows(table, k, space=space, iterations=method.iterations, seed=setting.seed)
    clusters = Clusters(*fill(table.codes, table.counts, label, space=space, k=k))
    return recode_or_cut(table, models, clusters, space, setting)


def cluster_rows(
    table: FrequencyTable, k: int, *, space: Space, iterations: int, seed: int
) -> NDArray[np.int64]:
    """Return the cluster of each row, before any is merged."""
    places = places_of_rows(table, space)
    chance = np.random.default_rng(seed)
    number = max(table.records // k, 1)
    chosen = np.sort(chance.choice(table.records, number, replace=False))
    rows = np.unique(np.searchsorted(np.cumsum(table.counts), chosen, side="right"))
    means, modes = places[rows], table.codes[rows].astype(np.int64)
    weights = np.full(len(table.domains), ONE, dtype=np.int64)
    label = np.full(table.rows, -1, dtype=np.int64)
    for _ in range(iterations):
        found = nearest_centroid(table.codes, places, means, modes, weights, space=space)
        _, found = np.unique(found, return_inverse=True)
        if (found == label).all():
            break
        label = found.astype(np.int64)
        means, modes = _centroids(table, places, label)
        weights = _weights(table, label, space)
    return label


def _centroids(
    table: FrequencyTable, places: NDArray[np.int64], label: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    number = int(label.max()) + 1
    records = np.bincount(label, weights=table.counts)
    means = np.empty((number, places.shape[1]), dtype=np.int64)
    modes = np.empty((number, places.shape[1]), dtype=np.int64)
    for j, domain in enumerate(table.domains):
        means[:, j] = np.bincount(label, weights=table.counts * places[:, j]) / records
        cells, where = np.unique(label * len(domain) + table.codes[:, j], return_inverse=True)
        tally = np.bincount(where, weights=table.counts)
        order = np.lexsort((cells, -tally, cells // len(domain)))  # the commonest code first
        first = np.searchsorted((cells // len(domain))[order], np.arange(number))
        modes[:, j] = cells[order][first] % len(domain)
    return means, modes


def _weights(table: FrequencyTable, label: NDArray[np.int64], space: Space) -> NDArray[np.int64]:
    """Return weights that are the larger, the smaller the loss of a column, mean 1."""
    low, high = boxes_of(table.codes, label)
    records = np.bincount(label, weights=table.counts)
    lost = np.empty(len(table.domains))
    for j, domain in enumerate(table.domains):
        pairs, where = np.unique(low[:, j].astype(np.int64) << 32 | high[:, j], return_inverse=True)
        costs = np.array([domain.cost(int(p >> 32), int(p & 0xFFFFFFFF)) for p in pairs])
        lost[j] = (costs[where] * records).sum() / table.records
    inverse = 1 / (lost + 0.1)  # a column without loss must not outweigh all others
    weights: NDArray[np.int64] = np.rint(inverse / inverse.mean() * ONE).astype(np.int64)
    return np.maximum(weights, 1)
