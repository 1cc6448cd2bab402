"""From clusters to a recoding: what breaks the promise is merged, or suppressed and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering_space import Space
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.clusters import (
    Clusters,
    boxes_of,
    histograms_of,
    least_records,
)
from shoal.methods.clustering.mend import board_of, mend
from shoal.methods.frequency import FrequencyTable
from shoal.methods.recoding import SUPPRESSED, Recoding, recoding_of
from shoal.privacy import Promise


def recode(
    table: FrequencyTable,
    models: Sequence[Promise],
    clusters: Clusters,
    *,
    space: Space,
    suppression_limit: float = 0.0,
    facts: dict[str, Any] | None = None,
    join: bool = True,
) -> Recoding:
    """Return the recoding of some clusters, mended until each keeps every model.

    A cluster that breaks the promise is merged with the one that makes the loss grow least.
    Within `suppression_limit` it is suppressed where that loses less. What cannot be mended
    is suppressed and counted, whatever the limit: a release never breaks its promise.

    Pieces with label -1 are suppressed already. `join`: see `recoding_of`.
    """
    row, label, count = clusters
    kept = label >= 0
    label = label.copy()
    if kept.any():
        _, label[kept] = np.unique(label[kept], return_inverse=True)
        home = _mended(
            table, models, Clusters(row[kept], label[kept], count[kept]), space,
            int(suppression_limit * table.records) - int(count[~kept].sum()),
        )  # fmt: skip
        label[kept] = home[label[kept]]
    kept = label >= 0
    _, label[kept] = np.unique(label[kept], return_inverse=True)
    low, high = boxes_of(table.codes[row[kept]], label[kept])
    label[~kept] = SUPPRESSED
    return recoding_of(table, low, high, (row, label, count), facts=facts, join=join)


def _mended(
    table: FrequencyTable,
    models: Sequence[Promise],
    clusters: Clusters,
    space: Space,
    budget: int,
) -> NDArray[np.int64]:
    """Return the cluster that each cluster becomes part of, -1 for suppressed ones."""
    row, label, count = clusters
    low, high = boxes_of(table.codes[row], label)
    sizes = np.bincount(label, weights=count).astype(np.int64)
    promise = promise_of(models, table)
    if not promise.kind.size and sizes.min() >= least_records(models):
        return np.arange(len(sizes))
    histograms = histograms_of(table, clusters, len(sizes))
    board = board_of(low, high, sizes, histograms, space=space)
    return mend(board, promise=promise, budget=max(budget, 0))
