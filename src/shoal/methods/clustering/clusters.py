"""Clusters as pieces: which records of which row are where, and the boxes around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.privacy import AlphaKAnonymity, KAnonymity, PrivacyModel
from shoal.kernels import clustering_assign
from shoal.kernels.clustering_space import Space


class Clusters(NamedTuple):
    """Pieces: `records` of `row` are in cluster `label`; -1: in none."""

    row: NDArray[np.int64]
    label: NDArray[np.int64]
    records: NDArray[np.int64]


def least_records(models: Sequence[PrivacyModel]) -> int:
    """Return how many records the promise asks of a class."""
    return max((m.k for m in models if isinstance(m, (KAnonymity, AlphaKAnonymity))), default=1)


def boxes_of(
    codes: NDArray[np.int32], label: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the lowest and highest codes of each cluster 0 … c-1, none of them empty."""
    if not len(label):
        return codes[:0], codes[:0]
    order = np.argsort(label, kind="stable")
    ordered = label[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    sorted_codes = codes[order]
    return (
        np.minimum.reduceat(sorted_codes, starts, axis=0),
        np.maximum.reduceat(sorted_codes, starts, axis=0),
    )


def place_leftovers(
    clusters: Clusters,
    codes: NDArray[np.int32],
    space: Space,
    *,
    turns: NDArray[np.int64] | None = None,
) -> Clusters:
    """Put the records that are in no cluster, one by one, where the loss grows least.

    Args:
        clusters: the pieces; those with label -1 are the leftovers.
        codes: codes of the table's rows.
        space: the losses.
        turns: the order of the leftover records (as their rows lie behind each other);
            None: as they lie.

    Guarantee:
        Ties go to the cluster with the lowest number. Without any cluster, the leftovers
        become one.
    """
    left = clusters.label < 0
    if not left.any():
        return clusters
    rows = np.repeat(clusters.row[left], clusters.records[left])
    if turns is not None:
        rows = rows[turns]
    kept = Clusters(*(part[~left] for part in clusters))
    ones = np.ones(len(rows), dtype=np.int64)
    if not len(kept.label):
        return Clusters(rows, np.zeros(len(rows), dtype=np.int64), ones)
    low, high = boxes_of(codes[kept.row], kept.label)
    sizes = np.bincount(kept.label, weights=kept.records).astype(np.int64)
    chosen = clustering_assign.place(codes[rows], low, high, sizes, space=space)
    return Clusters(
        np.concatenate((kept.row, rows)),
        np.concatenate((kept.label, chosen)),
        np.concatenate((kept.records, ones)),
    )
