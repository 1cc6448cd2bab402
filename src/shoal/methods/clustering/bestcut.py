"""Best cut: Mondrian that looks at the loss of every cut before it takes one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.kernels import clustering_cut as kernel
from shoal.kernels.clustering_losses import packed
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.clusters import Clusters
from shoal.methods.clustering.settle import settle
from shoal.methods.clustering.space import space_of
from shoal.methods.frequency import FrequencyTable
from shoal.methods.recoding import Recoding
from shoal.privacy import Promise


def bestcut(
    table: FrequencyTable, models: Sequence[Promise], *, suppression_limit: float = 0.0
) -> Recoding:
    """Cut where the information loss falls most, over all columns and all positions.

    Mondrian halves the widest column at its median. Here every column and every position
    is weighed by the loss of the two boxes that it would leave, in all columns at once, and
    any subtree of a hierarchy may be cut out. Records with equal codes in the column that is
    cut may go to both sides.

    Guarantee:
        Every class meets every model if the whole table does (otherwise all is suppressed);
        the sensitive columns decide only whether a cut is allowed, never which of the
        allowed ones is best.
    """
    space = space_of(table.domains)
    cuts = kernel.cut(
        table.codes,
        table.counts,
        table.sensitive,
        losses=packed(space),
        promise=promise_of(models, table),
    )
    clusters = Clusters(np.arange(table.rows), cuts.label, table.counts)
    return settle(
        table, models, clusters, space=space, boxes=(cuts.low, cuts.high),
        suppression_limit=suppression_limit,
    )  # fmt: skip
