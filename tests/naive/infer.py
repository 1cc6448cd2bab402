"""Slow twins: column sets by brute force over every subset."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import log2


def classes(rows, columns):
    """Return how many rows share each combination of the columns."""
    return Counter(tuple(row[i] for i in columns) for row in rows)


def measures(rows, columns):
    """Return residual entropy, distinction and separation of a set of columns."""
    sizes = classes(rows, columns).values()
    n = len(rows)
    entropy = -sum(size / n * log2(size / n) for size in sizes)
    pairs = n * (n - 1) / 2
    together = sum(size * (size - 1) / 2 for size in sizes)
    return log2(n) - entropy, len(sizes) / n, 1 - together / pairs if pairs else 1.0


def minimal_sets(rows, *, max_size, threshold):
    """Return the sets under the threshold none of whose parts is under it."""
    width = len(rows[0])
    found = []
    for size in range(1, min(max_size, width) + 1):
        for columns in combinations(range(width), size):
            if any(set(small) <= set(columns) for small in found):
                continue
            residual = measures(rows, columns)[0]
            alone = max(classes(rows, columns).values()) == 1
            if residual < threshold - 1e-9 or alone:
                found.append(columns)
    return found
