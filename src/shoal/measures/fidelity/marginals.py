"""Marginals before and after: the k-marginal score, total variation, associations.

The k-marginal score is that of NIST's SDNist ([task2023]): 500 · (2 − mean
over pairs of columns of Σ |p − q|), 0 … 1,000, over the bins of `columns`. Where SDNist draws
pairs, every pair is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.measures.distributions import cramers_v
from shoal.measures.fidelity.columns import Column, Floats, Ints

WORK_BEFORE, WORK_AFTER = 3e8, 4e10
"""Steps that tables of pairs may take before and after; more, and records are sampled."""
_CHUNK = 50_000


@dataclass(frozen=True)
class Marginals:
    """Tables of pairs of columns, before and after, as shares.

    Attributes:
        codes: int32[rows, columns] of the original; counts: records of each row.
        sizes: int64[classes], records of each class of the release.
    """

    columns: Sequence[Column]
    codes: NDArray[np.int32]
    counts: Ints
    sizes: Ints

    @cached_property
    def sampled(self) -> int | None:
        """Return how many records were looked at, where that are not all of them."""
        looked = [int(each) for each in (self._asked_before, self._asked_after) if each is not None]
        return min(looked) if looked else None

    @cached_property
    def _asked_before(self) -> int | None:
        pairs = len(self.columns) * (len(self.columns) - 1) // 2
        most = int(WORK_BEFORE / max(pairs, 1))
        return most if len(self.counts) > most else None

    @cached_property
    def _asked_after(self) -> int | None:
        most = int(WORK_AFTER / max(sum(each.size for each in self.columns), 1) ** 2)
        return most if len(self.sizes) > most else None

    @cached_property
    def before(self) -> list[Floats]:
        """Return the table of each pair of columns of the original."""
        rows, weights = sampled_rows(self.counts, self._asked_before)
        total = max(float(weights.sum()), 1.0)
        bins = [
            each.of_code[self.codes[rows, j]].astype(np.int64)
            for j, each in enumerate(self.columns)
        ]
        found = []
        for i, j in combinations(range(len(self.columns)), 2):
            shape = self.columns[i].size, self.columns[j].size
            place = bins[i] * shape[1] + bins[j]
            table = np.bincount(place, weights=weights, minlength=shape[0] * shape[1])
            found.append(table.reshape(shape) / total)
        return found

    @cached_property
    def after(self) -> list[Floats]:
        """Return the table of each pair of columns of the release."""
        rows, weights = sampled_rows(self.sizes, self._asked_after)
        edges = np.cumsum([0, *(each.size for each in self.columns)])
        whole = np.zeros((edges[-1], edges[-1]))
        for start in range(0, len(rows), _CHUNK):
            chunk, held = rows[start : start + _CHUNK], weights[start : start + _CHUNK]
            shares = np.concatenate(
                [each.spread[each.where[chunk]] for each in self.columns], axis=1
            )
            whole += (shares * held[:, None]).T @ shares
        whole /= max(float(weights.sum()), 1.0)
        return [
            whole[edges[i] : edges[i + 1], edges[j] : edges[j + 1]]
            for i, j in combinations(range(len(self.columns)), 2)
        ]

    @cached_property
    def released(self) -> list[Floats]:
        """Return the share of the released records in each bin, column by column."""
        total = max(float(self.sizes.sum()), 1.0)
        return [
            np.bincount(each.where, weights=self.sizes, minlength=len(each.texts))
            @ each.spread
            / total
            for each in self.columns
        ]

    def score(self) -> float:
        """Return the k-marginal score; of one column alone, by its own bins."""
        pairs = list(zip(self.before, self.after, strict=True))
        if not pairs:
            pairs = [(self.columns[0].before, self.released[0])]
        return 500 * (2 - float(np.mean([np.abs(p - q).sum() for p, q in pairs])))

    def variations(self) -> list[float]:
        """Return the total variation of each column, 0 … 1: half of Σ |p − q|."""
        return [
            float(np.abs(each.before - after).sum()) / 2
            for each, after in zip(self.columns, self.released, strict=True)
        ]

    def association_changes(self) -> list[float]:
        """Return by how much Cramér's V of each pair changed."""
        return [cramers_v(q) - cramers_v(p) for p, q in zip(self.before, self.after, strict=True)]


def sampled_rows(sizes: Ints, most: int | None) -> tuple[Ints, Floats]:
    """Return rows and their weights: all of them, or `most` records at even steps."""
    if most is None:
        return np.arange(len(sizes)), sizes.astype(np.float64)
    total = int(sizes.sum())
    steps = (np.arange(most) + 0.5) * (total / most)
    rows, count = np.unique(
        np.searchsorted(sizes.cumsum(), steps, side="right"), return_counts=True
    )
    return rows.astype(np.int64), count.astype(np.float64)
