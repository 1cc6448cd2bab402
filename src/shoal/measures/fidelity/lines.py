"""Columns on a line, before and after: Kolmogorov and Smirnov's distance, Pearson's correlation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.measures.fidelity.columns import Column, Floats, Ints


def ks_distance(column: Column, sizes: Ints) -> float | None:
    """Return the largest gap between the distribution functions before and after.

    Of those whose value is known. None: nothing is known before or after.
    """
    held = column.held[column.first :]
    weights = np.bincount(column.where, weights=sizes, minlength=len(column.texts))
    known = ~np.isnan(column.ends[:, 0])
    weights, (low, high) = weights[known], column.reach[known].T
    if not held.sum() or not weights.sum():
        return None
    before = held.cumsum() / held.sum()
    at = column.places + column.half
    points = high <= low
    order = np.argsort(low[points], kind="stable")
    stepped = np.concatenate(([0.0], weights[points][order].cumsum()))
    place = np.searchsorted(low[points][order], at, side="right")
    after = stepped[place] + _ramps(at, low[~points], high[~points], weights[~points])
    jumps = np.abs(before - after / weights.sum())
    if column.half:
        return float(jumps.max())
    left = stepped[np.searchsorted(low[points][order], at, side="left")]  # just below a value
    left += _ramps(at, low[~points], high[~points], weights[~points])
    start = np.concatenate(([0.0], before[:-1]))
    return float(max(jumps.max(), np.abs(start - left / weights.sum()).max()))


def _ramps(at: Floats, low: Floats, high: Floats, weights: Floats) -> Floats:
    """Return how much of evenly spread weights lies up to each place.

    Each weight rises as a ramp from `low` to `high`; the sum of ramps is a broken line, kept as
    the sums of slopes that have begun and of those that have ended.
    """
    slope = weights / (high - low)
    found = np.zeros(len(at))
    for ends, sign in ((low, 1.0), (high, -1.0)):
        order = np.argsort(ends, kind="stable")
        rise = np.concatenate(([0.0], slope[order].cumsum()))
        base = np.concatenate(([0.0], (slope[order] * ends[order]).cumsum()))
        place = np.searchsorted(ends[order], at, side="right")
        found += sign * (rise[place] * at - base[place])
    return found


def correlation_changes(
    columns: Sequence[Column], codes: NDArray[np.int32], counts: Ints, sizes: Ints
) -> list[float]:
    """Return by how much Pearson's correlation of each pair of lines changed.

    A released label stands in the middle of its interval, and has the variance of a value that is
    spread evenly over it. A column that does not vary has no correlation, and is left out.
    """
    lines = [j for j, each in enumerate(columns) if each.is_line and each.domain.span > 0]
    found = []
    for i, j in combinations(lines, 2):
        old = _correlation(
            [columns[at].domain.position[codes[:, at]] for at in (i, j)], counts, (0.0, 0.0)
        )
        middle, extra = [], []
        for at in (i, j):
            column = columns[at]
            middle.append(column.ends.mean(axis=1)[column.where])
            width = column.ends[:, 1] - column.ends[:, 0]
            steps = 2 * column.half
            extra.append((((width + steps) ** 2 - steps**2) / 12)[column.where])
        known = ~np.isnan(middle[0]) & ~np.isnan(middle[1])
        held = sizes * known
        more = [float(np.nansum(held * each) / max(held.sum(), 1)) for each in extra]
        new = _correlation(middle, sizes, (more[0], more[1]))
        if old is not None:
            found.append((new or 0.0) - old)
    return found


def _correlation(
    values: Sequence[Floats], weights: Ints, more: tuple[float, float]
) -> float | None:
    """Return the weighted correlation where both are known; more: variance beside the values'."""
    x, y = values
    known = ~(np.isnan(x) | np.isnan(y))
    x, y, held = x[known], y[known], weights[known].astype(np.float64)
    total = held.sum()
    if not total:
        return None
    x, y = x - (held @ x) / total, y - (held @ y) / total
    spread_x, spread_y = held @ x**2 / total + more[0], held @ y**2 / total + more[1]
    if spread_x <= 0 or spread_y <= 0:
        return None
    return float((held * x) @ y / total / np.sqrt(spread_x * spread_y))
