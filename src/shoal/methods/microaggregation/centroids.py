"""What a class releases when it is aggregated: one centroid a column.

* Categories: the node of the hierarchy, a value of the class or any other, with the least sum
  of distances to the class's records; of equal ones the first in post-order. For a mere list
  of values that is the mode, and for any column where the distance asked for is `equal`.
* Numbers: the mean, with at most four decimals more than the column's own values have.
* Ordinal values and dates: the median, of two middle ones the lower, so it is a value that
  occurs.

Where more than half of a class is missing in a column, missing is released; else the missing
values are left out.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.numbers import number_text
from shoal.kernels.microaggregation import semantic as kernel
from shoal.methods.microaggregation.semantic import candidates, semantics_of
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

MORE_DECIMALS = 4


class Groups(NamedTuple):
    """Members class after class: the table's row, its records; starts: int64[classes + 1]."""

    row: NDArray[np.int64]
    records: NDArray[np.int64]
    starts: NDArray[np.int64]


def centroids(
    recoding: Recoding, *, distance: str | None = None
) -> tuple[tuple[str | None, ...], ...]:
    """Return, for each column, what each class releases; None is the missing value.

    distance: of the categories, whatever their column says; None: the column's own.
    """
    groups = groups_of(recoding)
    return tuple(
        column_centroids(recoding.table, column, groups, distance=distance)
        for column in range(len(recoding.table.domains))
    )


def groups_of(recoding: Recoding) -> Groups:
    """Return the released members of a recoding, class after class."""
    kept = np.flatnonzero(recoding.label >= 0)
    order = kept[np.argsort(recoding.label[kept], kind="stable")]
    starts = np.searchsorted(recoding.label[order], np.arange(recoding.classes + 1))
    return Groups(recoding.row[order], recoding.count[order], starts)


def whole_table(table: FrequencyTable) -> Groups:
    """Return the whole table as one class."""
    return Groups(np.arange(table.rows), table.counts, np.array([0, table.rows]))


def column_centroids(
    table: FrequencyTable, column: int, groups: Groups, *, distance: str | None = None
) -> tuple[str | None, ...]:
    """Return what each class releases in one column."""
    domain = table.domains[column]
    codes = table.codes[groups.row, column]
    if domain.tree is not None:
        return _nodes(domain, codes, groups, distance)
    if domain.kind == "numeric":
        return _means(domain, codes, groups)
    return _medians(domain, codes, groups)


def _nodes(
    domain: Domain, codes: NDArray[np.int32], groups: Groups, distance: str | None
) -> tuple[str | None, ...]:
    semantics = semantics_of((domain,), distance=distance)
    start = semantics.column[0, kernel.PLACE]
    place = semantics.flat[start : start + len(domain)]
    out = kernel.centroids_of(semantics, 0, place[codes], groups.records, groups.starts)
    tree = domain.tree
    if tree is None:
        raise TypeError("a line has no nodes")
    values = domain.position[1:] if domain.has_missing else domain.position
    labels = [tree.labels[node] for node in candidates(tree, values.astype(np.int64))]
    return tuple([None if at < 0 else labels[at] for at in out.tolist()])


def _mostly_missing(
    domain: Domain, codes: NDArray[np.int32], groups: Groups
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each class's records that are not missing, 0 where most are; and each member's."""
    present = np.where(codes == 0, 0, groups.records) if domain.has_missing else groups.records
    sizes, kept = _sums(groups.records, groups), _sums(present, groups)
    return np.where(2 * kept < sizes, 0, kept), present


def _sums(values: NDArray[np.int64], groups: Groups) -> NDArray[np.int64]:
    total = np.concatenate(([0], np.cumsum(values)))
    found: NDArray[np.int64] = total[groups.starts[1:]] - total[groups.starts[:-1]]
    return found


def _means(domain: Domain, codes: NDArray[np.int32], groups: Groups) -> tuple[str | None, ...]:
    kept, present = _mostly_missing(domain, codes, groups)
    position = np.nan_to_num(domain.position)
    classes = len(kept)
    label = np.repeat(np.arange(classes), np.diff(groups.starts))
    # Measured from the smallest value: less is rounded away where the values are large.
    present_values = position[int(domain.has_missing) :]
    least = float(present_values.min()) if len(present_values) else 0.0
    away = (position - least)[codes] * present
    total = np.bincount(label, weights=away, minlength=classes)
    mean = least + total / np.maximum(kept, 1)
    decimals = _decimals(domain)
    # A mean that has no such decimals as a float would only be bent by rounding.
    is_fine = np.abs(mean) * 10.0**decimals < 2**52
    rounded, where = np.unique(
        np.where(is_fine, np.round(mean, decimals), mean), return_inverse=True
    )
    texts = [number_text(float(value)) for value in rounded]
    return tuple([texts[i] if n else None for i, n in zip(where, kept, strict=True)])


def _decimals(domain: Domain) -> int:
    """Return how many decimals a mean may have."""
    most = 0
    for label in domain.labels:
        if label is not None and ("." in label or "e" in label or "E" in label):
            try:
                exponent = Decimal(label).as_tuple().exponent
            except InvalidOperation:
                continue
            most = max(most, -exponent if isinstance(exponent, int) else 0)
    return min(most + MORE_DECIMALS, 300)


def _medians(domain: Domain, codes: NDArray[np.int32], groups: Groups) -> tuple[str | None, ...]:
    kept, present = _mostly_missing(domain, codes, groups)
    label = np.repeat(np.arange(len(kept)), np.diff(groups.starts))
    order = np.argsort(label * len(domain) + codes, kind="stable")
    upto = np.cumsum(present[order])
    before = np.concatenate(([0], np.cumsum(_sums(present, groups))))[:-1]
    # The first member at which the class has seen half of its records.
    at = np.searchsorted(upto, before + (kept + 1) // 2)
    chosen = codes[order][np.minimum(at, max(len(order) - 1, 0))] if len(order) else codes[:0]
    return tuple([domain.labels[code] if n else None for code, n in zip(chosen, kept, strict=True)])
