"""pMSE: can a model tell released records from original ones?

Records of both are put together, and a logistic regression of the bins of all columns is fitted
to which of them are released. pMSE is the mean of (p − c)², p its probabilities and c the share of
released records ([woo2009]); 0: it cannot tell. Records drawn at random from the original itself
have a pMSE of (parameters − 1) · (1 − c)² · c / records on average ([snoke2018]); the ratio to
that is the figure to look at. A released record is of one
bin in each column, drawn from those that its label covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.measures.fidelity.columns import Column, Floats, Ints

RECORDS = 5_000
"""Records of each side that the model is fitted to, at most."""
WORK = 4e10
MOST_BINS = 20
"""Bins of a column that the model tells apart; rarer ones are one."""
_ROUNDS = 30
_RIDGE = 1e-6


class Propensity(NamedTuple):
    """The result. ratio: pMSE over what records drawn from the original would have."""

    pmse: float
    ratio: float | None
    records: int


def propensity(
    columns: Sequence[Column], codes: NDArray[np.int32], counts: Ints, sizes: Ints, *, seed: int = 0
) -> Propensity | None:
    """Fit the model; None where no column tells records apart."""
    rng = np.random.default_rng(seed)
    width = sum(min(each.size, MOST_BINS + 1) for each in columns)
    most = min(RECORDS, int(WORK / width**2))
    rows, classes = _drawn(counts, most, rng), _drawn(sizes, most, rng)
    old = [each.of_code[codes[rows, j]] for j, each in enumerate(columns)]
    new = [_drawn_bins(each, each.where[classes], rng) for each in columns]
    blocks = [_block(np.concatenate(pair)) for pair in zip(old, new, strict=True)]
    design = np.concatenate([np.ones((len(rows) + len(classes), 1)), *blocks], axis=1)
    if design.shape[1] == 1:
        return None
    released = np.repeat((0.0, 1.0), (len(rows), len(classes)))
    share = float(released.mean())
    found = fitted(design, released)
    pmse = float(((found - share) ** 2).mean())
    null = (design.shape[1] - 1) * (1 - share) ** 2 * share / len(released)
    looked = min(most, max(len(rows), len(classes)))
    return Propensity(pmse, pmse / null if null > 0 else None, looked)


def _drawn(sizes: Ints, most: int, rng: np.random.Generator) -> Ints:
    """Return the rows of records that are drawn without putting them back; of few, all."""
    total = int(sizes.sum())
    if total <= most:
        return np.repeat(np.arange(len(sizes)), sizes)
    records = np.sort(rng.choice(total, size=most, replace=False, shuffle=False))
    found: Ints = np.searchsorted(sizes.cumsum(), records, side="right")
    return found


def _drawn_bins(column: Column, labels: Ints, rng: np.random.Generator) -> Ints:
    """Draw a bin for each record from what its label covers."""
    rising = column.spread.cumsum(axis=1)
    rising[:, -1] = np.inf
    level = rng.random(len(labels))
    found = np.empty(len(labels), dtype=np.int64)
    for start in range(0, len(labels), 5_000):
        part = slice(start, start + 5_000)
        found[part] = (level[part, None] >= rising[labels[part]]).sum(axis=1)
    return found


def _block(bins: Ints) -> Floats:
    """Return a column of 0 and 1 for each bin but the commonest one; the rarest are together."""
    counts = np.bincount(bins)
    order = np.argsort(-counts, kind="stable")
    place = np.empty(len(counts), dtype=np.int64)
    place[order] = np.minimum(np.arange(len(counts)), MOST_BINS)
    size = min(int((counts > 0).sum()), MOST_BINS + 1)
    found = np.zeros((len(bins), size))
    found[np.arange(len(bins)), place[bins]] = 1.0
    return found[:, 1:]


def fitted(design: Floats, released: Floats) -> Floats:
    """Return the probabilities of a logistic regression, by Newton's method.

    A trace of a ridge keeps it from running away where a bin is on one side alone.
    """
    weights = np.zeros(design.shape[1])
    ridge = _RIDGE * len(released)
    found = np.full(len(released), 0.5)
    for _ in range(_ROUNDS):
        old = found
        slope = design.T @ (released - found) - ridge * weights
        curve = (design * (found * (1 - found))[:, None]).T @ design
        curve[np.diag_indices_from(curve)] += ridge
        weights += np.clip(np.linalg.solve(curve, slope), -5.0, 5.0)
        found = 1 / (1 + np.exp(-np.clip(design @ weights, -30.0, 30.0)))
        if np.abs(found - old).max() < 1e-5:
            break
    return found
