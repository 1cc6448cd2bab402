"""Raking: one weight a value, so that the draws of all labels together meet the marginal.

A cell is drawn from the values that its label leaves open. In proportion to the marginal, common
values would be drawn too often: the rare ones are those that were generalized. So each value gets a
weight, w, and a label with n records draws n · w(v) / Σ w(u) of each of its values v; the weights
are fitted until the sum over labels is what the marginal says of each pool of values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROUNDS = 100
DAMPING = 0.7
"""Power of a step; whole steps swing where labels overlap."""
MOST_STEP = 4.0
"""Factor by which a weight may change in a round: marginals may contradict the labels."""
LEAST = 1e-9
"""Of the largest weight."""


class Raked(NamedTuple):
    """Weights, and the share of the records that would have to be drawn otherwise."""

    weights: Floats
    misfit: float


def rake(runs: Ints, sizes: Ints, pool: Ints, wanted: Floats) -> Raked:
    """Fit the weights of the values of a column.

    Args:
        runs: int64[labels, 2], the first value of each label, and the one after its last.
        sizes: int64[labels], records.
        pool: int64[values], the pool of each value; -1: of none, nothing is wanted of it.
        wanted: float64[pools], records.

    Guarantee:
        Of all rounds, the weights with the least misfit. They are above 0.
    """
    known = pool >= 0
    total = max(float(sizes.sum()), 1.0)
    goal = wanted * (total / max(float(wanted.sum()), LEAST))
    held = np.bincount(pool[known], minlength=len(wanted))
    start = np.full(len(pool), LEAST)
    start[known] = goal[pool[known]] / np.maximum(held[pool[known]], 1)
    start[~known] = start[known].mean() if known.any() else 1.0
    weights = _held(start)
    best = Raked(weights, np.inf)
    for _ in range(ROUNDS):
        drawn = np.bincount(
            pool[known], weights=expected(runs, sizes, weights)[known], minlength=len(wanted)
        )
        misfit = float(np.abs(drawn - goal).sum()) / (2 * total)
        if misfit < best.misfit:
            best = Raked(weights, misfit)
        step = np.ones(len(wanted))
        np.divide(goal, drawn, out=step, where=drawn > 0)
        step = np.clip(step, 1 / MOST_STEP, MOST_STEP) ** DAMPING
        whole = np.ones(len(pool))
        whole[known] = step[pool[known]]
        weights = _held(weights * whole)
    return best


def _held(weights: Floats) -> Floats:
    """Return weights from LEAST to 1: sums of others would lose what is smaller."""
    found: Floats = np.maximum(weights / max(float(weights.max(initial=0.0)), LEAST), LEAST)
    return found


def expected(runs: Ints, sizes: Ints, weights: Floats) -> Floats:
    """Return how often each value is drawn, over all labels."""
    below = np.concatenate(([0.0], weights.cumsum()))
    inside = below[runs[:, 1]] - below[runs[:, 0]]
    share = np.zeros(len(runs))
    np.divide(sizes, inside, out=share, where=inside > 0)
    change = np.zeros(len(weights) + 1)
    np.add.at(change, runs[:, 0], share)
    np.subtract.at(change, runs[:, 1], share)
    found: Floats = np.maximum(weights * change[:-1].cumsum(), 0.0)
    return found


def quotas(weights: Floats, size: int, start: float) -> Ints:
    """Return `size` values by systematic sampling: as often as the weights say, or once more.

    start: where in 0 … 1 the first one lies.

    Example:
        >>> quotas(np.array([3.0, 1.0]), 4, 0.5).tolist()
        [0, 0, 0, 1]
    """
    rising = weights.cumsum()
    at = (np.arange(size) + start) * (rising[-1] / size)
    found: Ints = np.minimum(np.searchsorted(rising, at, side="right"), len(weights) - 1)
    return found
