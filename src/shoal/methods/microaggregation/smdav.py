"""MDAV for categories and mixed tables: s-mdav, sa-mdav, sa-mdav-static and mdav-generic.

[veltmann2022], sections 2.2.2 and 2.2.3. All four make clusters around the tuple that is furthest
from the centroid of what is left, and around the one that is furthest from that tuple.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.microaggregation.semantic_mdav import grow
from shoal.methods.catalogue import SaMdav, SemanticMdav
from shoal.methods.clustering.clusters import Clusters, least_records, over_rows
from shoal.methods.clustering.repair import recode
from shoal.methods.clustering.space import space_of
from shoal.methods.method import Setting
from shoal.methods.microaggregation.semantic import semantics_of
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


def semantic_mdav(
    table: FrequencyTable, models: Sequence[Promise], method: SemanticMdav, setting: Setting
) -> Recoding:
    """Group tuples around the ones that are furthest out; `method` says which of the four.

    Guarantee:
        The same clusters as the plain text gives. Of equally far tuples the first in the
        order of the table is taken; a centroid is found anew with each record.
    """
    codes, counts = distinct_tuples(table)
    found = grow(
        codes, counts, k=least_records(models),
        semantics=semantics_of(table.domains, distance=method.centroid),
        whole=method.whole, moving=method.moving, generic=method.generic,
        absorb=isinstance(method, SaMdav) and method.absorb,
    )  # fmt: skip
    clusters = over_rows(
        Clusters(*found.T), rows=np.arange(table.rows), ends=np.cumsum(table.counts)
    )
    return finish(table, models, clusters, setting)


def finish(
    table: FrequencyTable, models: Sequence[Promise], clusters: Clusters, setting: Setting
) -> Recoding:
    """Return the recoding of clusters: as they are where they keep the promise, else merged."""
    return recode(
        table, models, clusters, space=space_of(table.domains),
        suppression_limit=setting.suppression_limit, join=False,
    )  # fmt: skip


def distinct_tuples(table: FrequencyTable) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the distinct quasi-identifier tuples of a table, and their numbers of records."""
    first = np.searchsorted(table.tuple_ids, np.arange(len(table.tuple_sizes)))
    return np.ascontiguousarray(table.codes[first]), table.tuple_sizes
