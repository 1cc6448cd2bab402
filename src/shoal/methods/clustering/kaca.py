"""KACA: k-anonymity by clustering in attribute hierarchies [li2006, netshiunda2020]."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.kernels.clustering.kaca import merge_classes
from shoal.methods.catalogue import Kaca
from shoal.methods.clustering.clusters import Clusters, least_records
from shoal.methods.clustering.release import recode_or_cut
from shoal.methods.clustering.space import measure_of, space_of
from shoal.methods.method import Setting
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


def kaca(
    table: FrequencyTable, models: Sequence[Promise], method: Kaca, setting: Setting
) -> Recoding:
    """Merge the smallest class with the nearest until every class has k records.

    The distance between two classes is what generalizing them to their closest common
    ancestor distorts: n1 · distort(r1, r12) + n2 · distort(r2, r12) ([netshiunda2020], definitions
    5 to 9), with uniform or height weights, height weights falling with `beta` towards the
    leaves; `weights="example"` turns them round, as the seed's worked example does. A large
    class gives only the records that are missing (stub) and keeps the others (trunk,
    definition 10). Numeric columns distort by the growth of their interval. This distance is the
    paper's, whatever `utility` says; that counts where more than k is promised.
    """
    k = least_records(models)
    power = 0.0 if method.weights == "uniform" else method.beta
    weighted = space_of(table.domains, power=power, example=method.weights == "example")
    row, label, count = merge_classes(table.codes, table.counts, space=weighted, k=k)
    space = space_of(table.domains, measure=measure_of(setting))
    return recode_or_cut(table, models, Clusters(row, label, count), space, setting)
