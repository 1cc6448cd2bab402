"""A seeded set of count queries, answered from the original and from the release by overlap.

"How many records have an age of 30 to 45 and live in 12***?": a conjunction over one to three
columns, each a run of values around those of a record that is drawn, so that no answer is 0. The
average relative error, |answer − truth| / truth, is the workload measure of SECRETA
([poulis2014]) and of LeFevre et al. What is suppressed is missing from every answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.measures.fidelity.columns import Column, Floats, Ints
from shoal.measures.fidelity.marginals import sampled_rows

QUERIES = 200
MOST_COLUMNS = 3
WIDEST = 0.3
"""The share of a line's values that a query spans at most."""
SAMPLED = 1_000_000


class Part(NamedTuple):
    """One condition of a query: a column, and a run of its codes."""

    column: int
    low: int
    high: int


Query = tuple[Part, ...]


def make_queries(
    columns: Sequence[Column], codes: NDArray[np.int32], counts: Ints, *, seed: int = 0
) -> list[Query]:
    """Return the queries; the same table and seed give the same ones."""
    rng = np.random.default_rng(seed)
    ends = counts.cumsum()
    anchors = np.searchsorted(ends, rng.integers(0, ends[-1], QUERIES), side="right")
    found = []
    for row in anchors:
        size = int(rng.integers(1, min(MOST_COLUMNS, len(columns)) + 1))
        chosen = sorted(rng.choice(len(columns), size=size, replace=False).tolist())
        found.append(tuple(_part(columns[j], j, int(codes[row, j]), rng) for j in chosen))
    return found


def _part(column: Column, place: int, code: int, rng: np.random.Generator) -> Part:
    """Return a run of codes around one; below a node of the tree, or on the line."""
    first, last = column.first, len(column.domain) - 1
    if code < first:
        return Part(place, 0, 0)
    tree = column.domain.tree
    if tree is None:
        most = max(int(WIDEST / 2 * (last - first + 1)), 1)
        before, after = rng.integers(0, most + 1, 2).tolist()
        return Part(place, max(code - before, first), min(code + after, last))
    node = int(column.domain.position[code])
    path = [node]
    while tree.parents[path[-1]] not in (-1, tree.root):
        path.append(tree.parents[path[-1]])
    above = path[int(rng.integers(0, len(path)))]
    at = column.domain.position[first:]
    low = int(np.searchsorted(at, tree.first[above], side="left"))
    high = int(np.searchsorted(at, above, side="right")) - 1
    return Part(place, first + low, first + high)


def truths(queries: Sequence[Query], codes: NDArray[np.int32], counts: Floats) -> Floats:
    """Return how many records of the original each query counts."""
    found = np.zeros(len(queries))
    for number, query in enumerate(queries):
        rows: Ints | None = None
        for part in query:
            column = codes[:, part.column] if rows is None else codes[rows, part.column]
            inside = np.flatnonzero((column >= part.low) & (column <= part.high))
            rows = inside if rows is None else rows[inside]
        found[number] = counts[rows].sum()
    return found


def answers(queries: Sequence[Query], columns: Sequence[Column], sizes: Ints) -> Floats:
    """Return what the release says to each query."""
    found = np.zeros(len(queries))
    for number, query in enumerate(queries):
        rows: Ints | None = None
        held = sizes.astype(np.float64)
        for part in query:
            column = columns[part.column]
            shares = column.shares_in(part.low, part.high)
            share = shares[column.where if rows is None else column.where[rows]]
            inside = np.flatnonzero(share)
            rows = inside if rows is None else rows[inside]
            held = held[inside] * share[inside]
        found[number] = held.sum()
    return found


class QueryErrors(NamedTuple):
    """Relative errors of the answers. sampled: records that were looked at, if not all."""

    mean: float
    median: float
    sampled: int | None


def query_errors(
    columns: Sequence[Column], codes: NDArray[np.int32], counts: Ints, sizes: Ints, *, seed: int = 0
) -> QueryErrors:
    """Return how far the answers of the release are from those of the original."""
    queries = make_queries(columns, codes, counts, seed=seed)
    most = SAMPLED if len(counts) > SAMPLED else None
    rows, weights = sampled_rows(counts, most)
    if most is not None:
        weights *= counts.sum() / weights.sum()
        codes = codes[rows]
    true = truths(queries, codes, weights)
    known = true > 0  # a sample may miss the record that a query was made around
    errors = np.abs(answers(queries, columns, sizes) - true)[known] / true[known]
    return QueryErrors(float(errors.mean()), float(np.median(errors)), most)
