"""Mondrian for categories and mixed tables ([veltmann2022], chapter 3.2).

All three choose the column whose records are, on average, furthest from its centroid, and
cut it so that equal values stay together. They differ in the order of a column's values and
in where they cut. Numbers, dates and ordinal values stand in their own order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.mondrian_semantic import split
from shoal.methods.clustering.clusters import Clusters, least_records
from shoal.methods.frequency import FrequencyTable
from shoal.methods.microaggregation.semantic import semantics_of
from shoal.methods.microaggregation.smdav import finish, tuples_of
from shoal.methods.recoding import Recoding
from shoal.privacy import Promise


def mondrian_categorical(
    table: FrequencyTable,
    models: Sequence[Promise],
    *,
    persist: bool = True,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Cut before or after the centroid's value: the simple Mondrian of section 3.2.1.

    The values stand in the post-order of their hierarchy. The cut is before the value
    nearest to the centroid if both sides have k records then, else after it, if both have;
    otherwise the same with the next nearest value, and in the end the next column. Of equally
    near values the one with the most even cut is taken, then the first. Without `persist` a
    column is given up after its nearest value. That is the letter of the text; the classes of
    its Table 5 come only with it.
    """
    order = _order(table, None)
    return _mondrian(table, models, order, suppression_limit, gaps=False, persist=persist)


def mondrian_unordered(
    table: FrequencyTable,
    models: Sequence[Promise],
    *,
    seed: int = 0,
    persist: bool = True,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Cut as `mondrian_categorical` does, with categories in a random order.

    A yardstick: the difference is what the order of the hierarchy is worth.
    """
    order = _order(table, np.random.default_rng(seed))
    return _mondrian(table, models, order, suppression_limit, gaps=False, persist=persist)


def sa_mondrian(
    table: FrequencyTable,
    models: Sequence[Promise],
    *,
    persist: bool = True,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Cut where two neighbouring values are furthest apart: section 3.2.2.

    The values stand in the post-order of their hierarchy; of equally wide gaps the one that
    cuts most evenly is taken, then the first, among those that leave k records on both sides.
    Without `persist` only the widest gap of all is tried before the next column. (The seed's
    Algorithm 4 keeps the smaller of two distances; its prose, followed here, the larger.)
    """
    order = _order(table, None)
    return _mondrian(table, models, order, suppression_limit, gaps=True, persist=persist)


def _mondrian(
    table: FrequencyTable,
    models: Sequence[Promise],
    order: NDArray[np.int64],
    suppression_limit: float,
    *,
    gaps: bool,
    persist: bool,
) -> Recoding:
    codes, counts = tuples_of(table)
    label = split(
        codes, counts, k=least_records(models), semantics=semantics_of(table.domains),
        rank=order, gaps=gaps, persist=persist,
    )  # fmt: skip
    clusters = Clusters(np.arange(table.rows), label[table.tuple_ids], table.counts)
    return finish(table, models, clusters, suppression_limit)


def _order(table: FrequencyTable, chance: np.random.Generator | None) -> NDArray[np.int64]:
    """Return the rank of every code: its own, or a random one where it is a category."""
    ranks = [
        np.arange(len(domain))
        if chance is None or domain.tree is None
        else chance.permutation(len(domain))
        for domain in table.domains
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *ranks]).astype(np.int64)
