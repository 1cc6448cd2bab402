"""The least that k-anonymity must lose, by trying every way to group a tiny table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

Record = int


def squared_cost(points: Sequence[Sequence[float]]) -> Fraction:
    """Return the squared distances of points from their mean."""
    total = Fraction(0)
    for column in zip(*points, strict=True):
        exact = [Fraction(float(value)) for value in column]
        mean = sum(exact) / len(exact)
        total += sum((value - mean) ** 2 for value in exact)
    return total


def groups_of(records: Sequence[Record], k: int) -> Iterator[tuple[Record, ...]]:
    """Yield every group of k to 2k - 1 records."""
    for size in range(k, min(2 * k - 1, len(records)) + 1):
        yield from combinations(records, size)


def least(records: Sequence[Record], k: int, cost: Callable[[Sequence[Record]], float]) -> float:
    """Return the least total cost of sharing records out to groups of at least k."""
    if not records:
        return 0
    first, rest = records[0], records[1:]
    found = float("inf")
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            left = [record for record in rest if record not in others]
            if left and len(left) < k:
                continue
            found = min(found, float(cost((first, *others))) + least(left, k, cost))
    return found
