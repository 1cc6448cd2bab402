"""Correlations of the quasi-identifiers before and after: the paper's check of utility."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.methods.xk.rows import GENERALIZED, Rows

Matrix = tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlations:
    """Pearson's r of every two quasi-identifiers, in the table and in its release (Table 18).

    None where a column does not vary.
    """

    columns: tuple[str, ...]
    before: Matrix
    after: Matrix

    @property
    def largest_change(self) -> float | None:
        """Return the largest absolute change; None where nothing can be compared."""
        changes = [
            abs(new - old)
            for olds, news in zip(self.before, self.after, strict=True)
            for old, new in zip(olds, news, strict=True)
            if old is not None and new is not None
        ]
        return max(changes, default=None)

    def to_document(self) -> dict[str, object]:
        """Return the matrices as plain data."""
        return {
            "columns": list(self.columns),
            "before": [list(row) for row in self.before],
            "after": [list(row) for row in self.after],
            "largest_change": self.largest_change,
        }

    def table(self) -> str:
        """Return both matrices, lower halves side by side, as plain text."""
        width = max(9, *(len(name) for name in self.columns))
        head = [" " * width, *(name.rjust(width) for name in self.columns)]
        lines = ["  ".join((*head, "   ", *head[1:]))]
        for i, name in enumerate(self.columns):
            cells = [
                " ".rjust(width) if j > i else _text(matrix[i][j]).rjust(width)
                for matrix in (self.before, self.after)
                for j in range(len(self.columns))
            ]
            half = len(self.columns)
            lines.append("  ".join((name.ljust(width), *cells[:half], "   ", *cells[half:])))
        return "\n".join(line.rstrip() for line in lines)


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.5f}"


def correlations_of(before: Rows, after: Rows) -> Correlations:
    """Return the correlations of the quasi-identifiers before and after.

    A number or date stands at its place; a category at its place in the order of its
    column, as the paper numbers courses 0 … 15. A generalized cell stands at the mean place
    of the records that have its group in the table; a missing or suppressed cell is left
    out of the two columns' comparison. False records count like others.
    """
    return Correlations(
        columns=tuple(column.name for column in before.columns),
        before=_matrix(_positions(before, before), before.counts.astype(np.float64)),
        after=_matrix(
            _positions(before, after), np.where(after.kept, after.counts + after.false, 0.0)
        ),
    )


def _positions(before: Rows, after: Rows) -> NDArray[np.float64]:
    """Return float64[rows, columns]: where each cell of `after` stands; NaN: nowhere."""
    places = np.empty(after.codes.shape, dtype=np.float64)
    for j, column in enumerate(after.columns):
        # A group stands at the mean of its records. A value keeps its own place, even
        # where its text is a group's too; which of the two a cell is, its state tells.
        own = column.position[before.codes[:, j]]
        known = np.flatnonzero(~np.isnan(own))
        group = column.up[before.codes[known, j]]
        weight = before.counts[known].astype(np.float64)
        size = len(column.labels)
        summed = np.bincount(group, weights=weight * own[known], minlength=size)
        total = np.bincount(group, weights=weight, minlength=size)
        mean = np.divide(summed, total, out=np.full(size, np.nan), where=total > 0)
        mean[column.star] = np.nan
        codes = after.codes[:, j]
        is_group = after.cells[:, j] == GENERALIZED
        places[:, j] = np.where(is_group, mean[codes], column.position[codes])
    return places


def _matrix(places: NDArray[np.float64], weights: NDArray[np.float64]) -> Matrix:
    width = places.shape[1]
    found = [[None if i != j else 1.0 for j in range(width)] for i in range(width)]
    for i in range(width):
        for j in range(i):
            found[i][j] = found[j][i] = _pearson(places[:, i], places[:, j], weights)
    return tuple(tuple(row) for row in found)


def _pearson(
    x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]
) -> float | None:
    both = (weights > 0) & ~np.isnan(x) & ~np.isnan(y)
    x, y, w = x[both], y[both], weights[both]
    if not w.size or x.min() == x.max() or y.min() == y.max():
        return None  # rounding would give a column that does not vary a spread
    x, y = x - np.average(x, weights=w), y - np.average(y, weights=w)
    return float(w @ (x * y)) / math.sqrt(float(w @ x**2) * float(w @ y**2))
