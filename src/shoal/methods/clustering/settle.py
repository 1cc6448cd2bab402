"""From clusters that keep the promise already to a recoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering_space import Space
from shoal.methods.clustering.clusters import Clusters, boxes_of, order_of
from shoal.methods.clustering.repair import recode
from shoal.methods.frequency import FrequencyTable
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.recoding import Recoding, recoding_of
from shoal.privacy import Promise


def settle(
    table: FrequencyTable,
    models: Sequence[Promise],
    clusters: Clusters,
    *,
    space: Space,
    boxes: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None,
    suppression_limit: float = 0.0,
    facts: dict[str, Any] | None = None,
) -> Recoding:
    """Return the recoding of clusters that each keep the promise if the whole table does.

    Labels must be 0 … c-1, none of them empty. Only where the whole table breaks the promise
    is there anything to mend. boxes: of the clusters, where they are known.
    """
    if failing_classes(one_class(table), models).any():
        return recode(
            table, models, clusters, space=space, suppression_limit=suppression_limit, facts=facts
        )
    low, high = boxes or _boxes(table, clusters)
    return recoding_of(table, low, high, clusters, facts=facts)


def _boxes(
    table: FrequencyTable, clusters: Clusters
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    order = order_of(clusters.label)
    return boxes_of(table.codes[clusters.row[order]], clusters.label[order])
