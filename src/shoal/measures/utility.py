"""Utility of a release, all measures from one grouping into classes.

Formulas and where they come from: docs/guides/measures.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.measures.cells import cost_of_node, cost_of_run, costs_on_line, leaves
from shoal.reports.release import OLD_NAMES
from shoal.table.domain import Domain
from shoal.table.recoding import Recoding

_TABLE = 2**24  # pairs of a class and a value that are counted in a table instead of sorted


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """A release as its classes: sizes, and what each class costs in each column.

    Attributes:
        records: records of the original table.
        suppressed: records that are not released (or released as the root only).
        sizes: int64[classes].
        height, level, cover: float64[classes, columns], see `CellCost`.
        leaves: int64[columns], leaves that `cover` counts.
        minority: records whose target differs from their class's majority, or None.
        diversity: float64[classes], records diversity over the quasi-identifiers
            ([netshiunda2020], definition 2), or None where the original values are not known.
        spread: float64[classes], the same over the sensitive columns, or None.
    """

    records: int
    suppressed: int
    sizes: NDArray[np.int64]
    height: NDArray[np.float64]
    level: NDArray[np.float64]
    cover: NDArray[np.float64]
    leaves: NDArray[np.int64]
    minority: int | None = None
    diversity: NDArray[np.float64] | None = None
    spread: NDArray[np.float64] | None = None


def utility_of(grouping: Grouping) -> dict[str, float | None]:
    """Return every measure; one that needs what is not known is None.

    Guarantee:
        A suppressed record always counts as fully lost.
    """
    n, f = grouping.records, grouping.suppressed
    sizes = grouping.sizes
    columns = max(grouping.height.shape[1], 1)
    il = float((sizes[:, None] * grouping.height).sum()) + f * columns
    # Levels are averaged over records first, then over columns (precision) or summed (height).
    lost = ((sizes[:, None] * grouping.level).sum(axis=0) + f) / n
    shares = np.append(sizes, f)[np.append(sizes, f) > 0] / n
    published = len(sizes)
    found = {
        "il": il,
        "ncp": il / (n * columns),
        "dm": float((sizes.astype(np.float64) ** 2).sum() + float(f) * n),
        "cm": None if grouping.minority is None else (grouping.minority + f) / n,
        "aecs": n / (published + (1 if f else 0)),
        "class-entropy": float(-(shares * np.log2(shares)).sum()) + 0.0,
        "height-utility": float((1 - lost).sum()),
        "precision": float(1 - lost.mean()) if lost.size else 1.0,
        "loss": _leaf_loss(grouping),
        "usefulness": _mean(grouping.diversity),
        "protection": _mean_inverse(grouping.spread),
        "sse_loss": None,
    }
    return found | {old: found[name] for old, name in OLD_NAMES.items()}


def column_losses(grouping: Grouping, names: tuple[str, ...]) -> dict[str, float]:
    """Return the share of each column's information that is lost."""
    lost = (grouping.sizes[:, None] * grouping.height).sum(axis=0) + grouping.suppressed
    return {name: float(share) for name, share in zip(names, lost / grouping.records, strict=True)}


def _leaf_loss(grouping: Grouping) -> float:
    """ARX's loss: leaves covered, scaled to 0 … 1 a column, geometric mean of 1 + x."""
    n = grouping.records
    covered = (grouping.sizes[:, None] * grouping.cover).sum(axis=0) + grouping.suppressed
    x = np.zeros(len(covered))
    for j, total in enumerate(covered):
        least = n / grouping.leaves[j]
        if n > least:
            x[j] = max((total - least) / (n - least), 0.0)
    return float(np.exp(np.log1p(x).mean()) - 1) if x.size else 0.0


def _mean(values: NDArray[np.float64] | None) -> float | None:
    return None if values is None or not values.size else float(values.mean())


def _mean_inverse(values: NDArray[np.float64] | None) -> float | None:
    """Return the mean of 1/diversity: infinite if a class has none, None if it is not known."""
    if values is None or not values.size:
        return None
    return math.inf if (values <= 0).any() else float((1 / values).mean())


def grouping_of(recoding: Recoding, *, target: str | None = None) -> Grouping:
    """Describe a recoding as a grouping, from its boxes of codes."""
    table = recoding.table
    shape = recoding.low.shape
    height, level, cover = np.empty(shape), np.empty(shape), np.empty(shape)
    for j in range(shape[1]):
        height[:, j], level[:, j], cover[:, j] = _cell_costs(recoding, j).T
    names = [domain.name for domain in table.sensitive_domains]
    spread = None
    if names:
        spread = diversity_of(recoding, table.sensitive, table.sensitive_domains)
    return Grouping(
        records=table.records,
        suppressed=recoding.suppressed,
        sizes=recoding.sizes,
        height=height,
        level=level,
        cover=cover,
        leaves=np.array([_leaves(recoding, d) for d in table.domains], dtype=np.int64),
        minority=minority_of(recoding, names.index(target)) if target in names else None,
        diversity=diversity_of(recoding, table.codes, table.domains),
        spread=spread,
    )


def _leaves(recoding: Recoding, domain: Domain) -> int:
    """Return the leaves that `cover` counts: of the ladder where levels are released."""
    if recoding.node is not None and domain.ladder is not None:
        return domain.ladder.leaf_counts[domain.ladder.root]
    return leaves(domain)


def _cell_costs(recoding: Recoding, column: int) -> NDArray[np.float64]:
    """Return float64[classes, 3]: the cost of what each class releases in one column."""
    domain = recoding.table.domains[column]
    if recoding.node is not None and domain.ladder is not None:
        nodes, where = np.unique(recoding.node[:, column], return_inverse=True)
        costs = [cost_of_node(domain.ladder, int(node)) for node in nodes]
    elif domain.tree is None and domain.grid is None and not domain.is_blank:
        return costs_on_line(domain, recoding.low[:, column], recoding.high[:, column])
    else:
        runs, where = recoding.distinct_runs(column)
        costs = [cost_of_run(domain, low, high) for low, high in runs]
    return np.array(costs, dtype=np.float64).reshape(-1, 3)[where]


def diversity_of(
    recoding: Recoding, codes: NDArray[np.int32], domains: tuple[Domain, ...]
) -> NDArray[np.float64]:
    """Records diversity ([netshiunda2020], definitions 1 and 2) of every class.

    Interval values: range in the class / range of the column. Discrete values:
    distinct values in the class / size of the domain.
    """
    kept = recoding.label >= 0
    label, row = recoding.label[kept], recoding.row[kept]
    total = np.zeros(recoding.classes)
    for j, domain in enumerate(domains):
        total += column_diversity(label, codes[row, j], domain, classes=recoding.classes)
    return total


def column_diversity(
    label: NDArray[np.int64], codes: NDArray[np.integer], domain: Domain, *, classes: int
) -> NDArray[np.float64]:
    """Attribute diversity ([netshiunda2020], definition 1) of every class in one column.

    Args:
        label: int64[rows], the class of each row.
        codes: the column's code in each row.
        domain: the column in the original table.
        classes: how many classes there are.
    """
    values = codes.astype(np.int64)
    if is_interval(domain):
        low = np.full(classes, np.inf)
        high = np.full(classes, -np.inf)
        np.minimum.at(low, label, domain.position[values])
        np.maximum.at(high, label, domain.position[values])
        share: NDArray[np.float64] = (high - low) / (domain.span or 1.0)
        return share
    if classes * len(domain) <= _TABLE:
        there = np.zeros(classes * len(domain), dtype=np.bool_)
        there[label * len(domain) + values] = True
        table = there.reshape(classes, len(domain))  # no class: -1 would not say how wide
        counted: NDArray[np.int64] = table.sum(axis=1, dtype=np.int64)
        return counted / len(domain)
    seen = np.sort(label * len(domain) + values)  # np.unique takes ten times as long
    seen = seen[np.diff(seen, prepend=-1) > 0]
    distinct: NDArray[np.int64] = np.bincount(seen // len(domain), minlength=classes)
    return distinct / len(domain)


def is_interval(domain: Domain) -> bool:
    """Say whether the diversity of a column is that of interval values, or of discrete ones."""
    return domain.tree is None and not domain.has_missing


def minority_of(recoding: Recoding, column: int) -> int:
    """Count the released records whose target is not their class's commonest one."""
    kept = recoding.label >= 0
    values = recoding.table.sensitive[recoding.row[kept], column].astype(np.int64)
    size = len(recoding.table.sensitive_domains[column])
    key = recoding.label[kept] * size + values
    if 0 < recoding.classes * size <= _TABLE:
        found = np.bincount(key, recoding.count[kept], minlength=recoding.classes * size)
        most = found.reshape(recoding.classes, size).max(axis=1)
        return int(recoding.sizes.sum() - most.astype(np.int64).sum())
    cells, where = np.unique(key, return_inverse=True)
    counts = np.bincount(where, weights=recoding.count[kept]).astype(np.int64)
    majority = np.zeros(recoding.classes, dtype=np.int64)
    np.maximum.at(majority, cells // size, counts)
    return int(recoding.sizes.sum() - majority.sum())
