"""Judging many classes at once, from their sizes and histograms.

The same verdicts as the compiled `kernels.judge`, one array operation for all classes: for
callers that judge whole tables of classes a few times, and need not wait for a compiler.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import axes as ax
from shoal.kernels.judge import SLACK

CELLS = 1 << 22
"""How many cells of histograms are worked on together."""


def breaking(
    promise: ax.PromiseArrays, sizes: NDArray[np.int64], histograms: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Say of each class whether it breaks the promise.

    Args:
        promise: what is promised.
        sizes: records per class, none of them 0.
        histograms: int64[classes, values], the sensitive columns behind each other.
    """
    wrong = sizes < promise.k
    step = max(CELLS // max(histograms.shape[1], 1), 1)
    for begin in range(0, len(sizes), step):
        some = slice(begin, begin + step)
        for m in range(promise.kind.size):
            column = promise.column[m]
            values = slice(int(promise.start[column]), int(promise.start[column + 1]))
            wrong[some] |= _breaks(promise, m, values, sizes[some], histograms[some, values])
    return wrong


def _breaks(
    promise: ax.PromiseArrays,
    m: int,
    values: slice,
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> NDArray[np.bool_]:
    kind, limit, second = promise.kind[m], promise.first_number[m], promise.second_number[m]
    plain = promise.plain[m] if kind == ax.PLAIN else None
    if plain is not None:
        pairs = zip(sizes.tolist(), counts.tolist(), strict=True)
        return np.array([plain.breaks(size, histogram) for size, histogram in pairs], np.bool_)
    if kind == ax.DISTINCT:
        return np.asarray((counts > 0).sum(axis=1) < limit)
    if kind == ax.RECURSIVE:
        ordered = -np.sort(-counts, axis=1)
        tail = ordered[:, int(limit) - 1 :].sum(axis=1)
        with np.errstate(divide="ignore"):
            share = ordered[:, 0] / tail
        return np.asarray(((counts > 0).sum(axis=1) < limit) | ~(share < second))
    shares = counts / sizes[:, None]
    if kind == ax.ENTROPY:
        logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
        return np.asarray(-(shares * logs).sum(axis=1) < np.log(limit) - SLACK)
    if kind == ax.ALPHA:
        marked = promise.marked[m, : values.stop - values.start]
        return np.asarray((shares[:, marked] > limit).any(axis=1))
    reference = promise.reference[values]
    asked = np.ones(len(sizes), dtype=np.bool_)
    if kind == ax.NT_CLOSENESS:
        asked = sizes < second
        if reference.sum() < second:
            return np.asarray(asked)
    extra = shares - reference / reference.sum()
    return np.asarray(asked & (_distance(promise, m, values, extra) > limit * (1 + SLACK)))


def shortage(
    promise: ax.PromiseArrays, sizes: NDArray[np.int64], histograms: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how far each class is from keeping the promise, in records, more or less.

    It says which of two mergers mends more, and judges nothing. Arguments as for `breaking`.

    Law:
        Two classes together are at most as far from it as the two apart: each part is a convex
        function of counts that grows as they do.
    """
    short = np.maximum(promise.k - sizes, 0).astype(np.float64)
    step = max(CELLS // max(histograms.shape[1], 1), 1)
    for begin in range(0, len(sizes), step):
        some = slice(begin, begin + step)
        for m in range(promise.kind.size):
            column = promise.column[m]
            values = slice(int(promise.start[column]), int(promise.start[column + 1]))
            short[some] += _excess(promise, m, values, sizes[some], histograms[some, values])
    return short


def _excess(
    promise: ax.PromiseArrays,
    m: int,
    values: slice,
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the records by which each class misses one model; 0: it does not, or by rounding."""
    kind, limit, second = promise.kind[m], promise.first_number[m], promise.second_number[m]
    if kind == ax.DISTINCT:
        return np.asarray(np.maximum(limit - (counts > 0).sum(axis=1), 0.0))
    if kind == ax.RECURSIVE:
        ordered = -np.sort(-counts, axis=1)
        tail = ordered[:, int(limit) - 1 :].sum(axis=1)
        missing = np.maximum(limit - (counts > 0).sum(axis=1), 0.0)
        return np.asarray(missing + np.maximum(ordered[:, 0] - second * tail, 0.0))
    shares = counts / sizes[:, None]
    if kind == ax.ENTROPY:
        logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
        return np.asarray(sizes * np.maximum(np.log(limit) + (shares * logs).sum(axis=1), 0.0))
    if kind == ax.ALPHA:
        marked = promise.marked[m, : values.stop - values.start]
        top = shares[:, marked].max(axis=1, initial=0.0)
        return np.asarray(sizes * np.maximum(top - limit, 0.0))
    reference = promise.reference[values]
    extra = shares - reference / reference.sum()
    if kind == ax.PLAIN:  # what it asks is its own; whatever that is, the whole table keeps it
        return np.asarray(sizes * np.abs(extra).sum(axis=1) / 2)
    found = sizes * np.maximum(_distance(promise, m, values, extra) - limit, 0.0)
    if kind == ax.NT_CLOSENESS:
        found[sizes >= second] = 0.0
    return np.asarray(found)


def _distance(
    promise: ax.PromiseArrays, m: int, values: slice, extra: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how far each class is from the whole table; `extra`: its shares minus the table's."""
    how = promise.distance[m]
    if how == ax.HIERARCHICAL:
        return _tree_distance(promise, m, values, extra)
    if how == ax.EQUAL:
        return np.asarray(np.abs(extra).sum(axis=1) / 2)
    if how == ax.ORDERED:
        steps = max(extra.shape[1] - 1, 1)
        return np.asarray(np.abs(np.cumsum(extra, axis=1)).sum(axis=1) / steps)
    whole = promise.reference[values] / promise.reference[values].sum()
    both = extra + 2 * whole
    parts = np.divide(extra * extra, both, out=np.zeros_like(extra), where=both > 0)
    return np.asarray(parts.sum(axis=1) / 2)


def _tree_distance(
    promise: ax.PromiseArrays, m: int, values: slice, extra: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the earth mover's distance over a tree: nodes in post-order, children first."""
    column = promise.column[m]
    tree = slice(int(promise.tree_start[column]), int(promise.tree_start[column + 1]))
    parents, heights = promise.tree_parent[tree], promise.tree_height[tree]
    surplus = np.zeros((len(parents), len(extra)))
    lack = np.zeros_like(surplus)
    for node, own in zip(promise.node[values], extra.T, strict=True):
        surplus[node] += np.maximum(own, 0)
        lack[node] += np.maximum(-own, 0)
    total = np.zeros(len(extra))
    for node, above in enumerate(parents):
        total += np.minimum(surplus[node], lack[node]) * heights[node]
        if above >= 0:
            rest = surplus[node] - lack[node]
            surplus[above] += np.maximum(rest, 0)
            lack[above] += np.maximum(-rest, 0)
    return total
