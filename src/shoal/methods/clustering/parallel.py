"""Greedy k-member with all clusters grown at once (seed 000, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.core.privacy import PrivacyModel
from shoal.kernels.clustering_space import BRANCHES, SCALE
from shoal.kernels.clustering_together import far_apart, grow_together
from shoal.methods.clustering.clusters import (
    Clusters,
    least_records,
    place_by_class,
    place_leftovers,
)
from shoal.methods.clustering.kmember import classes_of
from shoal.methods.clustering.repair import recode
from shoal.methods.clustering.space import space_of
from shoal.methods.frequency import FrequencyTable
from shoal.methods.recoding import Recoding

ROUNDS = 20


def kmember_parallel(
    table: FrequencyTable,
    models: Sequence[PrivacyModel],
    *,
    cm: bool = False,
    target: str | None = None,
    penalty: float = 1.0,
    groups: int = 8,
    seed: int = 0,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Choose n // k seeds far from each other, then let all clusters grow at the same time.

    The records are split beforehand, by k-means on the numeric columns and by k-modes on the
    others, into up to `groups` × `groups` groups of alike records. A new seed is the one with
    the largest sum of distances to all seeds before it, among one candidate a group: that is
    what Figure 3.1 saves its time with. In each round every cluster below k names its best
    record. A record that several clusters want goes to the one that grows least by it (of
    equals, to the one with the lowest number), which the paper leaves open. Leftovers go to
    the best cluster; `cm` as in `kmember`.
    """
    k = least_records(models)
    space = space_of(table.domains)
    chance = np.random.default_rng(seed)
    row = np.repeat(np.arange(table.rows), table.counts)
    number = len(row) // k
    classes = classes_of(table, target) if cm else None
    extra = round(penalty * SCALE) if cm else 0
    clusters = Clusters(row, np.full(len(row), -1), np.ones(len(row), dtype=np.int64))
    if number:
        group = split(table, space.column[:, BRANCHES] == 1, groups=groups, chance=chance)[row]
        order = np.argsort(group, kind="stable")
        row = row[order]
        seeds = far_apart(
            table.codes[row],
            group[order],
            space=space,
            number=number,
            first=int(chance.integers(len(row))),
        )
        label = grow_together(
            table.codes[row],
            seeds,
            space=space,
            k=k,
            target=None if classes is None else classes[row].astype(np.int64),
            penalty=extra,
        )
        clusters = Clusters(row, label, np.ones(len(row), dtype=np.int64))
    turns = np.arange(int((clusters.label < 0).sum()))
    if classes is None:
        clusters = place_leftovers(clusters, table.codes, space, turns=turns)
    else:
        clusters = place_by_class(
            clusters, table.codes, space, turns=turns, classes=classes, penalty=extra
        )
    return recode(table, models, clusters, space=space, suppression_limit=suppression_limit)


def split(
    table: FrequencyTable,
    is_tree: NDArray[np.bool_],
    *,
    groups: int,
    chance: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the group of each row: k-means of its numbers with k-modes of its categories."""
    numbers = np.stack(
        [
            domain.position[table.codes[:, j]] / (domain.span or 1.0)
            for j, domain in enumerate(table.domains)
            if not is_tree[j]
        ]
        or [np.zeros(table.rows)],
        axis=1,
    )
    by_number = _means(np.nan_to_num(numbers), groups, chance)
    by_category = np.zeros(table.rows, dtype=np.int64)
    if is_tree.any():
        by_category = _modes(table.codes[:, is_tree], groups, chance)
    _, group = np.unique(by_number * groups + by_category, return_inverse=True)
    numbered: NDArray[np.int64] = group.astype(np.int64)
    return numbered


def _means(
    values: NDArray[np.float64], groups: int, chance: np.random.Generator
) -> NDArray[np.int64]:
    distinct = np.unique(values, axis=0)
    centres = distinct[chance.permutation(len(distinct))[:groups]]
    label = np.full(len(values), -1)
    for _ in range(ROUNDS):
        nearest = ((values[:, None, :] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        if (nearest == label).all():
            break
        label = nearest
        for g in range(len(centres)):
            if (label == g).any():
                centres[g] = values[label == g].mean(axis=0)
    return label.astype(np.int64)


def _modes(codes: NDArray[np.int32], groups: int, chance: np.random.Generator) -> NDArray[np.int64]:
    distinct = np.unique(codes, axis=0)
    centres = distinct[chance.permutation(len(distinct))[:groups]].copy()
    label = np.full(len(codes), -1)
    for _ in range(ROUNDS):
        nearest = np.stack([(codes != centre).sum(axis=1) for centre in centres], axis=1).argmin(
            axis=1
        )
        if (nearest == label).all():
            break
        label = nearest
        for g in range(len(centres)):
            inside = codes[label == g]
            for j in range(codes.shape[1] if len(inside) else 0):
                centres[g, j] = np.bincount(inside[:, j]).argmax()
    return label.astype(np.int64)
