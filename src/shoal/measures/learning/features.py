"""Released cells as numbers that a model can be trained on.

A cell of a line is its lowest value, its highest, the mean of the values that it covers (each as
often as it occurs in the column) and whether it says nothing, being missing or the root: then the
column's mean stands for all three. A cell of categories is the share of
each value among those that it covers, again by how often they occur: P(value | label). Both come
from the training part's column by column counts alone, as a release and its marginals show them.
A plain value is the same thing with nothing to average.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.measures.fidelity.columns import Column, Floats

LEAVES = 50
"""Values of a column with a share of their own, the commonest; one for all others."""


def features_of(columns: Sequence[Column]) -> Floats:
    """Return float64[records, features]; `where` of each column is the label of each record."""
    parts = [(_line(each) if each.is_line else _shares(each))[each.where] for each in columns]
    return np.concatenate(parts, axis=1)


def _line(column: Column) -> Floats:
    """Return low, high, mean and silence of each label."""
    ends = column.ends
    held, places = column.held[column.first :], column.places
    count = np.concatenate(([0.0], held.cumsum()))
    total = np.concatenate(([0.0], (held * places).cumsum()))
    low = np.searchsorted(places, ends[:, 0], side="left")
    high = np.searchsorted(places, ends[:, 1], side="right")
    inside = count[high] - count[low]
    mean = (total[high] - total[low]) / np.where(inside > 0, inside, 1.0)
    mean = np.where(inside > 0, mean, ends.mean(axis=1))
    usual = float(held @ places / held.sum()) if held.sum() else 0.0
    # As low and high the root would be further out than anything a linear model was trained on.
    is_root = np.array([text == column.domain.root for text in column.texts], dtype=bool)
    silent = np.isnan(ends[:, 0]) | is_root
    found = np.stack((ends[:, 0], ends[:, 1], mean, silent), axis=1)
    found[silent, :3] = usual
    return found


def _shares(column: Column) -> Floats:
    """Return the share of each value under each label."""
    held = column.held
    order = np.argsort(-held, kind="stable")
    place = np.empty(len(held), dtype=np.int64)
    place[order] = np.minimum(np.arange(len(held)), LEAVES)
    width = min(len(held), LEAVES + 1)
    rising = np.zeros((len(held) + 1, width))
    rising[np.arange(1, len(held) + 1), place] = held
    rising = rising.cumsum(axis=0)
    low, high = column.runs.T
    found: Floats = rising[high + 1] - rising[low]
    if column.absent.any() and column.first:
        found[column.absent] = rising[1]
    total = found.sum(axis=1, keepdims=True)
    return found / np.where(total > 0, total, 1.0)
