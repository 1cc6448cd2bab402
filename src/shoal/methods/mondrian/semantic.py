"""Mondrian for categories and mixed tables ([veltmann2022], chapter 3.2).

All three choose the column whose records are, on average, furthest from its centroid, and
cut it so that equal values stay together. They differ in the order of a column's values and
in where they cut. Numbers, dates and ordinal values stand in their own order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.mondrian.semantic import split
from shoal.methods.catalogue import MondrianCategorical
from shoal.methods.clustering.clusters import Clusters, least_records
from shoal.methods.method import Setting
from shoal.methods.microaggregation.semantic import semantics_of
from shoal.methods.microaggregation.smdav import distinct_tuples, finish
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


def semantic_mondrian(
    table: FrequencyTable,
    models: Sequence[Promise],
    method: MondrianCategorical,
    setting: Setting,
) -> Recoding:
    """Cut one column after another; `method` says in which order and where.

    `mondrian-categorical` cuts before or after the centroid's value (section 3.2.1). The values
    stand in the post-order of their hierarchy. The cut is before the value nearest to the
    centroid if both sides have k records then, else after it, if both have; otherwise the same
    with the next nearest value, and in the end the next column. Of equally near values the one
    with the most even cut is taken, then the first. Without `persist` a column is given up after
    its nearest value. That is the letter of the text; the classes of its Table 5 come only with
    it.

    `mondrian-unordered` does the same with categories in a random order. It is a yardstick: the
    difference is what the order of the hierarchy is worth.

    `sa-mondrian` cuts where two neighbouring values are furthest apart (section 3.2.2). Of
    equally wide gaps the one that cuts most evenly is taken, then the first, among those that
    leave k records on both sides. Without `persist` only the widest gap of all is tried before
    the next column. (The paper's Algorithm 4 keeps the smaller of two distances; its prose,
    followed here, the larger.)
    """
    codes, counts = distinct_tuples(table)
    chance = np.random.default_rng(setting.seed) if method.shuffles else None
    label = split(
        codes, counts, k=least_records(models), semantics=semantics_of(table.domains),
        rank=_order(table, chance), gaps=method.gaps, persist=method.persist,
    )  # fmt: skip
    clusters = Clusters(np.arange(table.rows), label[table.tuple_ids], table.counts)
    return finish(table, models, clusters, setting)


def _order(table: FrequencyTable, chance: np.random.Generator | None) -> NDArray[np.int64]:
    """Return the rank of every code: its own, or a random one where it is a category."""
    ranks = [
        np.arange(len(domain))
        if chance is None or domain.tree is None
        else chance.permutation(len(domain))
        for domain in table.domains
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *ranks]).astype(np.int64)
