"""Bins of a column, and how what a release has for its values is spread over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Kind
from shoal.table.domain import Domain

BINS = 12
MISSING = "(missing)"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Bins:
    """How the codes of a column are binned.

    Attributes:
        of_code: int64[codes], the bin of each.
        edges: of equal steps on a line of numbers; None: bins are sets of codes.
    """

    names: tuple[str, ...]
    of_code: Ints
    edges: Floats | None = None

    @property
    def size(self) -> int:
        """Return how many there are."""
        return len(self.names)


def bins_of(domain: Domain, weights: Floats | None) -> Bins:
    """Choose at most `BINS` bins, and one more for the missing value."""
    missing = int(domain.has_missing)
    values = len(domain) - missing
    names: list[str] = [MISSING] * missing
    of_code = np.zeros(len(domain), dtype=np.int64)
    if values <= BINS:
        of_code[:] = np.arange(len(domain))
        return Bins((*names, *map(str, domain.labels[missing:])), of_code)
    if domain.tree is not None:
        found = _tree_bins(domain, domain.tree, missing)
        if found is None:
            return _commonest_bins(domain, weights, missing)
        inner, texts = found
        of_code[missing:] = inner + missing
        return Bins((*names, *texts), of_code)
    places = domain.position[missing:]
    if domain.kind is Kind.NUMERIC and domain.span > 0:
        edges = _steps(float(places[0]), float(places[-1]))
        of_code[missing:] = np.searchsorted(edges[1:-1], places, side="right") + missing
        texts = _step_names(edges, whole=bool((places == np.floor(places)).all()))
        return Bins((*names, *texts), of_code, edges)
    share = np.arange(values) * BINS // values
    if domain.kind is Kind.DATE and domain.span > 0:  # equal steps of time, those that occur
        share = np.minimum((places - places[0]) / domain.span * BINS, BINS - 1).astype(np.int64)
        share = np.unique(share, return_inverse=True)[1]
    of_code[missing:] = share + missing
    return Bins((*names, *_run_names(domain.labels[missing:], share)), of_code)


def _run_names(labels: Sequence[str | None], share: Ints) -> list[str]:
    """Name runs of codes by their first and last value."""
    found = []
    for place in range(int(share.max()) + 1):
        inside = np.flatnonzero(share == place)
        low, high = labels[int(inside[0])], labels[int(inside[-1])]
        found.append(str(low) if low == high else f"{low} – {high}")
    return found


def _steps(low: float, high: float) -> Floats:
    """Return round edges of at most `BINS` equal steps from low to high.

    Example:
        >>> _steps(17.0, 90.0).tolist()
        [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0]
    """
    raw = (high - low) / (BINS - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= raw * (1 - 1e-9))
    first, last = math.floor(low / step), math.floor(high / step) + 1
    edges: Floats = np.arange(first, last + 1, dtype=np.float64) * step
    return edges


def _step_names(edges: Floats, *, whole: bool) -> list[str]:
    """Name steps; whole: of whole numbers, whose last one before the next step is named.

    Example:
        >>> _step_names(np.array([0.0, 2.0, 4.0]), whole=True)
        ['0 – 1', '2 – 3']
        >>> _step_names(np.array([0.0, 0.5, 1.0]), whole=False)
        ['0 – 0.5', '0.5 – 1']
    """
    step = float(edges[1] - edges[0])
    if not whole or step < 2:
        return [f"{a:.10g} – {b:.10g}" for a, b in pairwise(edges.tolist())]
    return [f"{a:.10g} – {b - 1:.10g}" for a, b in pairwise(edges.tolist())]


def _tree_bins(domain: Domain, tree: Hierarchy, missing: int) -> tuple[Ints, list[str]] | None:
    """Return the bin of each value by its ancestor at the deepest level with few enough nodes."""
    nodes = domain.position[missing:].astype(np.int64)
    parents, depths = np.array(tree.parents), np.array(tree.depths)
    found = None
    for depth in range(1, tree.height + 1):
        above = nodes.copy()
        while (deep := depths[above] > depth).any():
            above[deep] = parents[above[deep]]
        distinct, where = np.unique(above, return_inverse=True)
        if len(distinct) > BINS:
            break
        found = where, [tree.labels[int(node)] for node in distinct]
    return found if found is not None and len(found[1]) > 1 else None


def _commonest_bins(domain: Domain, weights: Floats | None, missing: int) -> Bins:
    """Give the commonest values a bin each, and one to all others."""
    held = np.zeros(len(domain)) if weights is None else weights
    order = np.argsort(-held[missing:], kind="stable")[: BINS - 1] + missing
    order.sort()
    of_code = np.full(len(domain), missing + len(order), dtype=np.int64)
    of_code[:missing] = 0
    of_code[order] = np.arange(len(order)) + missing
    names = [MISSING] * missing + [str(domain.labels[int(code)]) for code in order]
    return Bins((*names, f"{len(domain) - missing - len(order):,} others"), of_code)


def spread_nodes(bins: Bins, tree: Hierarchy, at: Ints, nodes: Ints) -> Floats:
    """Spread nodes evenly over the codes that stand below them; at: the node of each code."""
    order = np.argsort(at, kind="stable")
    held = np.zeros((len(at) + 1, bins.size))
    held[np.arange(1, len(at) + 1), bins.of_code[order]] = 1.0
    held = held.cumsum(axis=0)
    first = np.array(tree.first)[nodes]
    start = np.searchsorted(at[order], first, side="left")
    end = np.searchsorted(at[order], nodes, side="right")
    return _shares(held[end] - held[start])


def spread_runs(bins: Bins, domain: Domain, low: Ints, high: Ints) -> Floats:
    """Spread runs of codes on a line: evenly over numbers between, or over values."""
    if domain.has_missing:  # what covers the missing value and others covers everything
        everything = (low == 0) & (high > 0)
        low, high = np.where(everything, 1, low), np.where(everything, len(domain) - 1, high)
    held = np.zeros((len(domain) + 1, bins.size))
    held[np.arange(1, len(domain) + 1), bins.of_code] = 1.0
    held = held.cumsum(axis=0)
    shared = _shares(held[high + 1] - held[low])
    if bins.edges is None:
        return shared
    wide = high > low
    a, b = domain.position[low[wide], None], domain.position[high[wide], None]
    inside = np.minimum(b, bins.edges[1:]) - np.maximum(a, bins.edges[:-1])
    first = bins.size - (len(bins.edges) - 1)
    shared[wide] = 0.0
    shared[wide, first:] = _shares(np.maximum(inside, 0.0))
    return shared


def spread_points(bins: Bins, points: Floats) -> Floats:
    """Put centroids into the bins where they stand; what stands nowhere is spread evenly."""
    place = np.zeros(len(points), dtype=np.int64)
    nowhere = np.isnan(points[:, 1])
    code = np.where(nowhere, 0, points[:, 1]).astype(np.int64)
    place[:] = bins.of_code[code]
    if bins.edges is not None:
        first = bins.size - (len(bins.edges) - 1)
        inner = np.searchsorted(bins.edges[1:-1], points[:, 0], side="right") + first
        place = np.where(np.isnan(points[:, 0]), place, inner)
        place = np.where((code == 0) & (first == 1) & ~nowhere, 0, place)
    shared = np.zeros((len(points), bins.size))
    shared[np.arange(len(points)), place] = 1.0
    shared[nowhere] = 1 / bins.size
    return shared


def _shares(held: Floats) -> Floats:
    """Return rows that add up to 1; a row of nothing is spread evenly."""
    total = held.sum(axis=1, keepdims=True)
    shared: Floats = np.where(total > 0, held / np.where(total > 0, total, 1), 1 / held.shape[1])
    return shared


def sums(place: NDArray[np.integer], weights: Floats, size: int) -> Floats:
    """Return the sum of the weights at each place 0 … size - 1."""
    return np.bincount(place, weights=weights, minlength=size).astype(np.float64)
