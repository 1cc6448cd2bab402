"""MDAV for categories and mixed tables: s-mdav, sa-mdav, sa-mdav-static and mdav-generic.

[veltmann2022], sections 2.2.2 and 2.2.3. All four make clusters around the tuple that is furthest
from the centroid of what is left, and around the one that is furthest from that tuple.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.microaggregation_grow import grow
from shoal.methods.clustering.clusters import Clusters, least_records
from shoal.methods.clustering.repair import recode
from shoal.methods.clustering.space import space_of
from shoal.methods.frequency import FrequencyTable
from shoal.methods.microaggregation.semantic import semantics_of
from shoal.methods.recoding import Recoding
from shoal.privacy import Promise


def s_mdav(
    table: FrequencyTable, models: Sequence[Promise], *, suppression_limit: float = 0.0
) -> Recoding:
    """Group records one by one: Algorithm 1 with every record a tuple of its own.

    Equal records may fall into different clusters, and every cluster but a few has k records.

    Guarantee:
        The same clusters as the plain text gives. Of equally far tuples the first in the
        order of the table is taken; a cluster's centroid is found anew with each record.
    """
    return _mdav(table, models, suppression_limit, whole=False, moving=True)


def sa_mdav(
    table: FrequencyTable,
    models: Sequence[Promise],
    *,
    absorb: bool = False,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Group distinct tuples with their frequencies: equal records stay together (Algorithm 1).

    Distances are the weighted semantic ones: multiplied by the tuple's number of records.
    The centroid of a cluster is found anew whenever it grows; it counts as one record.
    With `absorb`, clusters in which no tuple has k records of its own are dissolved: their
    tuples go to the nearest clusters that have one, where that makes the sum of squared
    distances smaller (the improvement that section 4.1.1 proposes).
    """
    return _mdav(table, models, suppression_limit, whole=True, moving=True, absorb=absorb)


def sa_mdav_static(
    table: FrequencyTable,
    models: Sequence[Promise],
    *,
    absorb: bool = False,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Group as `sa_mdav` does, but measure from a cluster's first tuple, not its centroid."""
    return _mdav(table, models, suppression_limit, whole=True, moving=False, absorb=absorb)


def mdav_generic(
    table: FrequencyTable, models: Sequence[Promise], *, suppression_limit: float = 0.0
) -> Recoding:
    """Group records of equal values: MDAV-generic [domingo2005].

    Two categories are as far apart as can be, or equal; the average is the mode, on a line
    the mean or the median. A cluster is a record and the k - 1 nearest to it; two are made
    at a time while 3k records are left, one more while 2k are, and the rest is the last.
    """
    return _mdav(
        table, models, suppression_limit, whole=False, moving=False, generic=True, distance="equal"
    )


def _mdav(
    table: FrequencyTable,
    models: Sequence[Promise],
    suppression_limit: float,
    *,
    whole: bool,
    moving: bool,
    generic: bool = False,
    absorb: bool = False,
    distance: str | None = None,
) -> Recoding:
    codes, counts = tuples_of(table)
    pieces = grow(
        codes, counts, k=least_records(models),
        semantics=semantics_of(table.domains, distance=distance),
        whole=whole, moving=moving, generic=generic, absorb=absorb,
    )  # fmt: skip
    clusters = over_rows(table, pieces)
    return finish(table, models, clusters, suppression_limit)


def finish(
    table: FrequencyTable,
    models: Sequence[Promise],
    clusters: Clusters,
    suppression_limit: float,
) -> Recoding:
    """Return the recoding of clusters: as they are where they keep the promise, else merged."""
    return recode(
        table, models, clusters, space=space_of(table.domains),
        suppression_limit=suppression_limit, join=False,
    )  # fmt: skip


def tuples_of(table: FrequencyTable) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the distinct quasi-identifier tuples of a table, and their numbers of records."""
    first = np.searchsorted(table.tuple_ids, np.arange(len(table.tuple_sizes)))
    return np.ascontiguousarray(table.codes[first]), table.tuple_sizes


def over_rows(table: FrequencyTable, pieces: NDArray[np.int64]) -> Clusters:
    """Share pieces of tuples (tuple, cluster, records) out to the rows of the table.

    A tuple has several rows where sensitive values differ; its records go to its clusters in
    the order of the rows.
    """
    pieces = pieces[np.lexsort((pieces[:, 1], pieces[:, 0]))]
    ends = np.cumsum(pieces[:, 2])
    row_ends = np.cumsum(table.counts)
    cuts = np.union1d(ends, row_ends)
    begins = np.concatenate(([0], cuts[:-1])) if len(cuts) else cuts
    return Clusters(
        np.searchsorted(row_ends, begins, side="right"),
        pieces[np.searchsorted(ends, begins, side="right"), 1],
        cuts - begins,
    )
