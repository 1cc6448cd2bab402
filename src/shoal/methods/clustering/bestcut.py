"""Best cut: Mondrian that looks at the loss of every cut before it takes one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.kernels.clustering import bestcut as kernel
from shoal.kernels.clustering.losses import packed
from shoal.methods.arrays import promise_of
from shoal.methods.catalogue import BestCut
from shoal.methods.clustering.clusters import Clusters
from shoal.methods.clustering.repair import recode_holding
from shoal.methods.clustering.space import measure_of, space_of
from shoal.methods.method import Setting
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


def bestcut(
    table: FrequencyTable, models: Sequence[Promise], method: BestCut, setting: Setting
) -> Recoding:
    """Cut where the information loss falls most, over all columns and all positions.

    Mondrian halves the widest column at its median. Here every column and every position
    is weighed by the loss of the two boxes that it would leave, in all columns at once, and
    any subtree of a hierarchy may be cut out. Records with equal codes in the column that is
    cut may go to both sides. By utility "loss" a cell loses the share of leaves that it covers.

    Guarantee:
        Every class meets every model if the whole table does (otherwise all is suppressed);
        the sensitive columns decide only whether a cut is allowed, never which of the
        allowed ones is best.
    """
    space = space_of(table.domains, measure=measure_of(setting), is_round=True)
    cuts = kernel.cut(
        table.codes,
        table.counts,
        table.sensitive,
        losses=packed(space),
        promise=promise_of(models, table),
        persons=table.persons,
    )
    clusters = Clusters(np.arange(table.rows), cuts.label, table.counts)
    return recode_holding(
        table, models, clusters, space=space, boxes=(cuts.low, cuts.high),
        suppression_limit=setting.suppression_limit,
    )  # fmt: skip
