"""Best cut: Mondrian that looks at the loss of every cut before it takes one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.core.privacy import PrivacyModel
from shoal.kernels import clustering_cut as kernel
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.clusters import boxes_of
from shoal.methods.clustering.space import space_of
from shoal.methods.frequency import FrequencyTable
from shoal.methods.recoding import Recoding, recoding_of


def bestcut(table: FrequencyTable, models: Sequence[PrivacyModel]) -> Recoding:
    """Cut where the information loss falls most, over all columns and all positions.

    Mondrian halves the widest column at its median. Here every column and every position
    is weighed by the loss of the two boxes that it would leave, in all columns at once.
    Equal values stay together, as in strict Mondrian.

    Guarantee:
        Every class meets every model if the whole table does; the sensitive columns
        decide only whether a cut is allowed, never which of the allowed ones is best.
    """
    cuts = kernel.cut(
        table.codes,
        table.counts,
        table.sensitive,
        space=space_of(table.domains),
        promise=promise_of(models, table),
    )
    low, high = boxes_of(table.codes[cuts.row], cuts.label)
    return recoding_of(table, low, high, (cuts.row, cuts.label, table.counts[cuts.row]))
