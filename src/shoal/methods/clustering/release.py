"""The better of several releases, by what each loses when everything is done.

Repair, persons and round labels change what clusters lose, so partitions are compared as they
would be released, not as a search left them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering import bestcut
from shoal.kernels.clustering.losses import packed
from shoal.kernels.clustering.space import FULL, SCALE, Space
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.clusters import Clusters, costs
from shoal.methods.clustering.repair import recode, recode_holding
from shoal.methods.clustering.space import HEIGHT, measure_of
from shoal.methods.method import Setting
from shoal.methods.persons import hold_persons
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


def recode_or_cut(
    table: FrequencyTable,
    models: Sequence[Promise],
    clusters: Clusters,
    space: Space,
    setting: Setting,
) -> Recoding:
    """Return the recoding of clusters that a paper's method found for k.

    Where more than k is promised, of which the papers say nothing, they are repaired (see
    `repair.recode`); where what `bestcut` cuts under this promise loses less, it is taken instead.

    Guarantee:
        Where more than k is promised, it never loses more than `bestcut`.
    """
    limit = setting.suppression_limit
    own = recode(table, models, clusters, space=space, suppression_limit=limit)
    if not any(model.needs for model in models):
        return own
    found = bestcut.cut(
        table.codes, table.counts, table.sensitive, losses=packed(space),
        promise=promise_of(models, table), persons=table.persons,
    )  # fmt: skip
    cut = recode_holding(
        table, models, Clusters(np.arange(table.rows), found.label, table.counts), space=space,
        boxes=(found.low, found.high), suppression_limit=limit, facts={"begun": "bestcut"},
    )  # fmt: skip
    releases = [held(each, models) for each in (own, cut)]
    return best_of(releases, space, limit=limit, measure=measure_of(setting))


def held(recoding: Recoding, models: Sequence[Promise]) -> Recoding:
    """Return the recoding as it is released: where persons are counted, repaired by them."""
    if recoding.table.persons is None:
        return recoding
    return hold_persons(recoding, models, borrow=True)


def best_of(
    recodings: Iterable[Recoding], space: Space, *, limit: float, measure: str = HEIGHT
) -> Recoding:
    """Return the one that loses least, the first of equals.

    One that suppresses more than the limit is taken only where every other one does, too.
    """

    def lost(recoding: Recoding) -> tuple[int, float]:
        budget = int(limit * recoding.table.records)
        return max(recoding.suppressed - budget, 0), loss_of_release(recoding, space, measure)

    return min(recodings, key=lost)


def loss_of_release(recoding: Recoding, space: Space, measure: str = HEIGHT) -> float:
    """Return what a release loses; suppressed records lose everything."""
    full = space.column[:, FULL] * recoding.suppressed
    return loss_of_columns(
        column_losses(space, recoding.low, recoding.high, recoding.sizes) + full,
        space, recoding.table.records, measure,
    )  # fmt: skip


def column_losses(
    space: Space, low: NDArray[np.int32], high: NDArray[np.int32], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return what the records of all boxes lose in each column, in units."""
    found = np.zeros(low.shape[1], dtype=np.int64)
    for j in range(low.shape[1]):
        lost = costs(space, j, low[:, j].astype(np.int64), high[:, j].astype(np.int64))
        found[j] = (sizes * lost).sum()
    return found


def loss_of_columns(
    lost: NDArray[np.int64], space: Space, records: int, measure: str = HEIGHT
) -> float:
    """Return one number for what each column loses: their sum, or their geometric mean.

    The share of leaves is meant geometrically, as ARX does (see `measures.utility`).
    """
    if measure == HEIGHT:
        return float(lost.sum())
    full = np.maximum(space.column[:, FULL], 1)
    return float((full / SCALE * np.log1p(lost / (full * max(records, 1)))).sum())
