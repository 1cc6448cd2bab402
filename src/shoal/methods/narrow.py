"""Regions whose label names no more than who is in them, where hardly anybody else would come.

A region between two cuts releases the common ancestor of all values that may come. Where a value is
rare and nobody in the region has it, the label of those who are there is finer, and the few that
come later and are not covered by it are unseen. How many these will be is estimated from the
column as a whole, and kept below a share of the records.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.table.distinct import distinct_rows
from shoal.table.domain import Domain
from shoal.table.recoding import Recoding

UNSEEN = 0.004
"""Share of the records that may be outside of narrow labels; half of what a model may miss."""

Codes = NDArray[np.int32]


def narrowed(regions: Recoding) -> Recoding:
    """Return regions with narrow labels of trees where these save most for what they miss."""
    table = regions.table
    tight_low, tight_high = _tight(regions)
    gains, misses, where = [], [], []
    for j, domain in enumerate(table.domains):
        if domain.tree is None or domain.is_blank:  # a root stays one
            continue
        share = np.bincount(table.codes[:, j], table.counts, len(domain)).astype(np.float64)
        ends = [regions.low[:, j], regions.high[:, j], tight_low[:, j], tight_high[:, j]]
        boxes, place = distinct_rows(ends, [len(domain)] * 4)
        found = np.array([_gain(domain, share, box) for box in boxes.tolist()]).reshape(-1, 2)
        each = found[place] * regions.sizes[:, None]
        # No label but the root covers a missing value and others.
        mixed = (regions.low[:, j] == 0) & domain.has_missing
        useful = np.flatnonzero((each[:, 0] > 0) & ~mixed)
        gains.append(each[useful, 0] * domain.weight)
        misses.append(each[useful, 1])
        where.append(np.stack([useful, np.full(len(useful), j)], axis=1))
    if not where:
        return regions
    gain, miss, at = np.concatenate(gains), np.concatenate(misses), np.concatenate(where)
    order = np.argsort(-gain / np.maximum(miss, 1e-9), kind="stable")
    taken = at[order[np.cumsum(miss[order]) <= UNSEEN * table.records]]
    low, high = regions.low.copy(), regions.high.copy()
    rows, columns = taken[:, 0], taken[:, 1]
    low[rows, columns] = tight_low[rows, columns]
    high[rows, columns] = tight_high[rows, columns]
    return replace(regions, low=low, high=high)


def _tight(regions: Recoding) -> tuple[Codes, Codes]:
    """Return the smallest box around the records of each region."""
    order = np.argsort(regions.label, kind="stable")
    starts = np.flatnonzero(np.diff(regions.label[order], prepend=-1))
    codes = regions.table.codes[regions.row[order]]
    return np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)


def _gain(domain: Domain, share: NDArray[np.float64], box: list[int]) -> tuple[float, float]:
    """Return what a narrow label saves of a record, and what share of those who come it misses."""
    low, high, tight_low, tight_high = box
    saved = domain.cost(low, high) - domain.cost(tight_low, tight_high)
    if saved <= 0:
        return 0.0, 0.0
    assert domain.tree is not None
    # In post-order, a node covers the nodes from the first leaf below it up to itself.
    node = domain.released_node(tight_low, tight_high)
    position = domain.position[low : high + 1]
    covered = (position <= node) & (position >= _first_below(domain, node))
    inside = share[low : high + 1]
    return saved, float(inside[~covered].sum() / max(inside.sum(), 1.0))


def _first_below(domain: Domain, node: int) -> int:
    assert domain.tree is not None
    first, parents = node, domain.tree.parents
    while first > 0 and _is_below(first - 1, node, parents):
        first -= 1
    return first


def _is_below(low: int, node: int, parents: tuple[int, ...]) -> bool:
    while 0 <= low < node:
        low = parents[low]
    return low == node
