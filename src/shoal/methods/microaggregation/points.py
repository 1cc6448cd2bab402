"""Points: the rows of a frequency table as places in a Euclidean space.

A number, a date or a rank is standardized: minus the mean of the records, divided by their
sample standard deviation (n - 1). A missing one stands at the mean, at distance 1 from all
that are not missing, in a coordinate of its own. A category stands where classical scaling
puts it: squared distances between the points are the squared semantic distances of the
values, as far as a Euclidean space can hold them (negative eigenvalues are left out, and of
very wide columns all but the largest AXES). Each column is scaled by the root of its weight.

All coordinates are rounded to multiples of a power of two (about twelve digits) so that sums
of any records are exact in 64-bit floats: a centre does not depend on the order in which
records came and went.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.kernels.microaggregation.mdav import Blocks
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable

AXES = 32
"""Coordinates that one categorical column may have."""

WIDEST = 4096
"""Values that a categorical column may have: the scaling costs their number cubed."""

LEAF = 48
"""Points of a block, at least."""


def points_of(table: FrequencyTable, *, trees: float = 1.0) -> NDArray[np.float64]:
    """Return float64[rows, coordinates], at least one coordinate (0 where nothing differs).

    trees: how much further apart categories are than the scaling puts them.

    Raises:
        MethodError: a categorical column has too many values to be placed.
    """
    parts = [np.zeros((table.rows, 0))]
    for column, domain in enumerate(table.domains):
        codes = table.codes[:, column]
        places = _on_line if domain.tree is None else _in_tree
        own = places(
            domain,
            np.bincount(codes, weights=table.counts, minlength=len(domain)).astype(np.float64),
        )
        stretch = 1.0 if domain.tree is None else trees
        parts.append(stretch * np.sqrt(domain.weight) * own[codes])
    points = np.concatenate(parts, axis=1)
    points = points[:, np.any(points != points[:1], axis=0)]
    if not points.size:
        return np.zeros((table.rows, 1))
    return _on_grid(points, table.counts)


def _on_line(domain: Domain, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coordinates of each code: its standard score, and whether it is missing."""
    gone = int(domain.has_missing)
    known, there = counts[gone:], domain.position[gone:]
    records = known.sum()
    score = np.zeros((len(domain), 1 + gone))
    if gone:
        score[0, 1] = 1.0
    if records > 1:
        # Far from zero (dates, identifiers) a second mean takes away what rounding left.
        middle = there - np.average(there, weights=known)
        middle -= np.average(middle, weights=known)
        spread = np.sqrt(np.average(middle**2, weights=known) * records / (records - 1))
        if spread > 0.0 and np.isfinite(spread):
            score[gone:, 0] = middle / spread
    return score


def _in_tree(domain: Domain, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coordinates of each code by classical scaling of its squared distances."""
    from shoal.methods.microaggregation.semantic import distance_table

    if len(domain) > WIDEST:
        raise MethodError(
            problem=f"column {domain.name!r} has more than {WIDEST} categories, too many to be "
            "placed in space; use a Mondrian or clustering method, or coarser categories"
        )
    return scaled(np.asarray(distance_table(domain), dtype=np.float64), counts)


def scaled(distances: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points whose Euclidean distances are the given ones, where that is possible.

    The centre is that of the records (`counts` of each value), so that the axes which are
    kept serve the frequent values best.
    """
    size = len(distances)
    share = counts / max(counts.sum(), 1.0)
    half = -0.5 * distances**2
    toward = half @ share
    gram = half - toward[:, None] - toward[None, :] + share @ toward
    root = np.sqrt(share)
    # Axes come from the weighted Gram matrix; values that nobody has are projected on them.
    values, vectors = np.linalg.eigh(root[:, None] * gram * root[None, :])
    kept = np.flatnonzero(values > 1e-9 * max(values.max(initial=0.0), 1e-300))[::-1][:AXES]
    if not kept.size:
        return np.zeros((size, 1))
    axes = vectors[:, kept]
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), np.arange(kept.size)] < 0, -1.0, 1.0)
    placed: NDArray[np.float64] = (gram * root[None, :]) @ axes / np.sqrt(values[kept])
    return placed


def _on_grid(points: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the points as multiples of a power of two, so small that sums are exact."""
    largest = float((np.abs(points) * counts[:, None]).sum(axis=0).max())
    unit = 2.0 ** (np.ceil(np.log2(largest + 1.0)) - 51)
    rounded: NDArray[np.float64] = np.rint(points / unit) * unit
    return rounded


def blocks_of(points: NDArray[np.float64], *, leaf: int | None = None) -> Blocks:
    """Return the points in blocks of neighbours: halved along the widest axis, again and again.

    Large tables have larger blocks, so that a search looks at about as many boxes as points.
    """
    if leaf is None:
        leaf = max(LEAF, round((len(points) / 8) ** 0.5))
    parts: list[NDArray[np.int64]] = []
    stack = [np.arange(len(points))] if len(points) else []
    while stack:
        part = stack.pop()
        if len(part) <= leaf:
            parts.append(np.sort(part))
            continue
        own = points[part]
        widths = own.max(axis=0) - own.min(axis=0)
        middle = len(part) // 2
        order = np.argpartition(own[:, int(widths.argmax())], middle)
        stack += [part[order[middle:]], part[order[:middle]]]
    row = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
    start = np.cumsum([0, *(len(part) for part in parts)]).astype(np.int64)
    return Blocks(np.ascontiguousarray(points[row].T), row, start)
