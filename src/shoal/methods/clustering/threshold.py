"""Threshold clustering [loukides2007] ([netshiunda2020], definitions 1 to 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.kernels.clustering.space import SCALE
from shoal.kernels.clustering.threshold import grow_within
from shoal.methods.catalogue import Threshold
from shoal.methods.clustering.clusters import Clusters
from shoal.methods.clustering.release import recode_or_cut
from shoal.methods.clustering.space import measure_of, space_of
from shoal.methods.method import Setting
from shoal.privacy import Promise
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


def threshold(
    table: FrequencyTable, models: Sequence[Promise], method: Threshold, setting: Setting
) -> Recoding:
    """Grow clusters from random seeds until their diversity would exceed a threshold.

    Diversity is that of [netshiunda2020]'s definitions 1 and 2: the range of numbers divided by the
    column's, distinct values divided by the size of the domain, summed, each column by its
    weight (the heaviest quasi-identifier counts 1). The next member is the one that adds least
    diversity in the quasi-identifiers (usefulness) and most in the sensitive columns
    (protection), whatever the promise says of these. The paper deletes clusters below k; here
    they are suppressed where that loses less and `suppression_limit` allows it, and merged
    otherwise, so that a threshold chosen badly does not cost most of the table.

    Raises:
        MethodError: not even a single record keeps below the threshold.
    """
    label, _ = clusters_within(table, diversity=method.diversity, seed=setting.seed)
    clusters = Clusters(np.arange(table.rows), label, table.counts)
    space = space_of(table.domains, measure=measure_of(setting))
    return recode_or_cut(table, models, clusters, space, setting)


def clusters_within(
    table: FrequencyTable, *, diversity: float | None, seed: int, more: float = 0.5
) -> tuple[NDArray[np.int64], int]:
    """Return the cluster of each row, and the threshold, in units.

    Without a threshold it is that of a single record and `more`.

    Raises:
        MethodError: not even a single record keeps below the threshold.
    """
    columns = [*table.domains, *table.sensitive_domains]
    codes = np.concatenate((table.codes, table.sensitive), axis=1)
    heaviest = max((domain.weight for domain in table.domains), default=1.0)
    parts = [
        _values(domain, codes[:, j], SCALE * domain.weight / heaviest)
        for j, domain in enumerate(columns)
    ]
    kinds = np.array([kind for _, kind in parts], dtype=np.int64)
    quasi = len(table.domains)
    single = int(kinds[:quasi].sum())
    limit = single + round(more * SCALE) if diversity is None else round(diversity * SCALE)
    if limit < single:
        raise MethodError(
            problem=f"threshold: diversity must be at least {single / SCALE:.3f}, that of a single "
            "record; give a larger one with --set diversity=…"
        )
    order = np.random.default_rng(seed).permutation(table.rows)
    values = np.stack([value for value, _ in parts], axis=1)
    return grow_within(values, kinds, order, limit=limit, quasi=quasi), limit


def _values(domain: Domain, codes: NDArray[np.int32], unit: float) -> tuple[NDArray[np.int64], int]:
    """Return scaled positions and 0 for numbers, or codes and the worth of a distinct value.

    unit: what all of the column is worth.
    """
    if domain.tree is None and not domain.has_missing and domain.span > 0:
        places = (domain.position - domain.position[0]) / domain.span * unit
        return np.rint(places).astype(np.int64)[codes], 0
    return codes.astype(np.int64), max(int(unit / max(len(domain), 1)), 1)
