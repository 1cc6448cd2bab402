"""Clusters in a line of neighbours, another one each time: who deals with whom in a round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering.space import BRANCHES, Space, places_of, tree_steps
from shoal.methods.clustering.clusters import boxes_of

SPREAD = 1.5
"""How much the columns' weights differ (as powers of e) when clusters line up for a round."""


def places_on_lines(space: Space) -> list[NDArray[np.float64]]:
    """Return, for each column, its codes on a line: as far apart as neighbours lose, 0 … 1."""
    found = []
    for j in range(len(space.column)):
        if space.column[j, BRANCHES]:
            at = np.cumsum(np.append(0, tree_steps(space, j)[1, :-1]), dtype=np.float64)
        else:
            at = places_of(space, j).astype(np.float64)
        found.append((at - at[0]) / max(float(at[-1] - at[0]), 1.0))
    return found


def line_up(
    codes: NDArray[np.int32],
    label: NDArray[np.int64],
    places: Sequence[NDArray[np.float64]],
    chance: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the place of each cluster in a line of neighbours, another one each time.

    Each column halves the line of clusters again and again, those with more weight sooner.
    """
    low, high = boxes_of(codes, label)
    middle = ((low.astype(np.int64) + high) // 2).astype(np.int32)
    key = np.zeros(len(middle), dtype=np.int64)
    weights = np.exp(chance.uniform(-SPREAD, SPREAD, len(places)))
    shifts = chance.uniform(0, 1, len(places))
    bits = [(weight / 2**bit, j, bit) for j, weight in enumerate(weights) for bit in range(1, 16)]
    grid = [
        ((at[middle[:, j]] * 0.999 + shift) * 2**15).astype(np.int64)
        for j, (at, shift) in enumerate(zip(places, shifts, strict=True))
    ]
    for _, j, bit in sorted(bits, reverse=True)[:62]:
        key = key << 1 | (grid[j] >> (16 - bit)) & 1
    order = np.argsort(key, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank
