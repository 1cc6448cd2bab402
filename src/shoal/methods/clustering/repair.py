"""From clusters to a recoding: what breaks the promise is merged, or suppressed and counted.

Where more than k is promised, mergers leave large clusters; those are then split by strata, so
that only what the promise needs stays together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.kernels.axes import PromiseArrays
from shoal.kernels.clustering.space import Space
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.clusters import Clusters, boxes_of, order_of
from shoal.methods.clustering.merge import NEAR, merge_failing
from shoal.methods.clustering.split import split_holding
from shoal.methods.judging import failing_classes, one_class
from shoal.privacy import Needs, Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import SUPPRESSED, Recoding, recoding_of


def recode(
    table: FrequencyTable,
    models: Sequence[Promise],
    clusters: Clusters,
    *,
    space: Space,
    suppression_limit: float = 0.0,
    facts: Document | None = None,
    join: bool = True,
) -> Recoding:
    """Return the recoding of some clusters, repaired until each keeps every model.

    A cluster that breaks the promise is merged with another one (see `merge`), and where more
    than k is promised, what holds is split again as far as it goes (see `split`). Within
    `suppression_limit` a cluster is suppressed where that loses less. What cannot be repaired is
    suppressed and counted, whatever the limit: a release never breaks its promise.

    Records with label -1 are suppressed already. `join`: see `recoding_of`.
    """
    promise = promise_of(models, table)
    held = repaired(
        table, clusters, space=space, promise=promise, suppression_limit=suppression_limit
    )
    if promise.kind.size and (held.label >= 0).any():
        kept = held.label >= 0
        split = split_holding(
            table, Clusters(*(each[kept] for each in held)), space=space, promise=promise
        )
        left = Clusters(*(each[~kept] for each in held))
        held = Clusters(*(np.concatenate(both) for both in zip(split, left, strict=True)))
    if any(Needs.REFERENCE in model.needs for model in models):
        held = _held_by_released(
            table, models, held, space=space, suppression_limit=suppression_limit
        )
    kept = held.label >= 0
    low, high = boxes_of(table.codes[held.row[kept]], held.label[kept])
    return recoding_of(
        table, low, high, (held.row, held.label, held.records), facts=facts, join=join
    )


def _held_by_released(
    table: FrequencyTable,
    models: Sequence[Promise],
    held: Clusters,
    *,
    space: Space,
    suppression_limit: float,
) -> Clusters:
    """Return the clusters repaired until they hold against the records that are released.

    Closeness compares a class with what is released, and a suppressed cluster is missing
    there: what held beside the whole table may fail without it. Every round merges or
    suppresses at least one cluster. A partition is compared with the whole of its table.
    """
    judged = 0
    while table.whole is None and judged != (gone := int(held.records[held.label < 0].sum())):
        if gone == table.records:  # nothing is released: there is nothing to compare with
            break
        judged = gone
        released = replace(table, whole=_released_histograms(table, held))
        held = repaired(
            table, held, space=space, promise=promise_of(models, released),
            suppression_limit=suppression_limit,
        )  # fmt: skip
    return held


def _released_histograms(table: FrequencyTable, held: Clusters) -> tuple[NDArray[np.int64], ...]:
    kept = held.label >= 0
    values = table.sensitive[held.row[kept]]
    return tuple(
        np.bincount(values[:, s], weights=held.records[kept], minlength=len(domain)).astype(
            np.int64
        )
        for s, domain in enumerate(table.sensitive_domains)
    )


def repaired(
    table: FrequencyTable,
    clusters: Clusters,
    *,
    space: Space,
    promise: PromiseArrays,
    suppression_limit: float = 0.0,
    near: int = NEAR,
) -> Clusters:
    """Return clusters 0 … c-1 that each keep the promise; label -1: suppressed.

    near: how many clusters each one looks at where there are many.
    """
    row, label, count = clusters
    kept = label >= 0
    label = label.copy()
    if kept.any():
        _, label[kept] = np.unique(label[kept], return_inverse=True)
        budget = int(suppression_limit * table.records) - int(count[~kept].sum())
        merged = merge_failing(
            table,
            Clusters(row[kept], label[kept], count[kept]),
            boxes=boxes_of(table.codes[row[kept]], label[kept]),
            space=space,
            promise=promise,
            budget=max(budget, 0),
            near=near,
        )
        label[kept] = merged[label[kept]]
    kept = label >= 0
    _, label[kept] = np.unique(label[kept], return_inverse=True)
    label[~kept] = SUPPRESSED
    return Clusters(row, label, count)


def recode_holding(
    table: FrequencyTable,
    models: Sequence[Promise],
    clusters: Clusters,
    *,
    space: Space,
    boxes: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None,
    suppression_limit: float = 0.0,
    facts: Document | None = None,
) -> Recoding:
    """Return the recoding of clusters that each keep the promise if the whole table does.

    Labels must be 0 … c-1, none of them empty. Only where the whole table breaks the promise
    is there anything to repair. boxes: of the clusters, where they are known.
    """
    if failing_classes(one_class(table), models).any():
        return recode(
            table, models, clusters, space=space, suppression_limit=suppression_limit, facts=facts
        )
    if boxes is None:
        order = order_of(clusters.label)
        boxes = boxes_of(table.codes[clusters.row[order]], clusters.label[order])
    return recoding_of(table, *boxes, clusters, facts=facts)
