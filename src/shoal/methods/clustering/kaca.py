"""KACA: k-anonymity by clustering in attribute hierarchies [li2006, netshiunda2020]."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.errors import MethodError
from shoal.kernels.clustering_kaca import merge_classes
from shoal.methods.clustering.clusters import Clusters, least_records
from shoal.methods.clustering.repair import recode
from shoal.methods.clustering.space import space_of
from shoal.methods.frequency import FrequencyTable
from shoal.methods.recoding import Recoding
from shoal.privacy import Promise

WEIGHTS = ("height", "uniform", "example")


def kaca(
    table: FrequencyTable,
    models: Sequence[Promise],
    *,
    weights: str = "height",
    beta: float = 1.0,
    suppression_limit: float = 0.0,
) -> Recoding:
    """Merge the smallest class with the nearest until every class has k records.

    The distance between two classes is what generalizing them to their closest common
    ancestor distorts: n1 · distort(r1, r12) + n2 · distort(r2, r12) ([netshiunda2020], definitions
    5 to 9), with uniform or height weights, height weights falling with `beta` towards the
    leaves; `weights="example"` turns them round, as the seed's worked example does. A large
    class gives only the records that are missing (stub) and keeps the others (trunk,
    definition 10). Numeric columns distort by the growth of their interval.

    Raises:
        MethodError: the weights have no such name, or beta is below 0.
    """
    if weights not in WEIGHTS or not beta >= 0:
        known = ", ".join(WEIGHTS)
        raise MethodError(problem=f"kaca: weights must be one of {known}, and beta 0 or above")
    k = least_records(models)
    power = 0.0 if weights == "uniform" else beta
    weighted = space_of(table.domains, power=power, example=weights == "example")
    row, label, count = merge_classes(table.codes, table.counts, space=weighted, k=k)
    return recode(
        table,
        models,
        Clusters(row, label, count),
        space=space_of(table.domains),
        suppression_limit=suppression_limit,
    )
