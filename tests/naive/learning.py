"""Scores of models by hand, pair by pair and record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def macro_f1(true: Sequence[int], said: Sequence[int]) -> float:
    """Return the mean over the values of 2·precision·recall/(precision + recall)."""
    found = []
    for value in {*true, *said}:
        right = sum(a == b == value for a, b in zip(true, said, strict=True))
        of_said, of_true = list(said).count(value), list(true).count(value)
        precision = right / of_said if of_said else 0.0
        recall = right / of_true if of_true else 0.0
        found.append(2 * precision * recall / (precision + recall) if right else 0.0)
    return sum(found) / len(found)


def area(true: Sequence[bool], score: Sequence[float]) -> float | None:
    """Return how often a true record is scored above one that is not, pair by pair."""
    ones = [s for s, is_true in zip(score, true, strict=True) if is_true]
    others = [s for s, is_true in zip(score, true, strict=True) if not is_true]
    pairs = [(a > b) + (a == b) / 2 for a in ones for b in others]
    return sum(pairs) / len(pairs) if pairs else None


def line_cell(values: Sequence[str | None], low: float, high: float) -> tuple[float, float, float]:
    """Return low, high and the mean of the values between them, each as often as it occurs."""
    inside = [float(v) for v in values if v is not None and low <= float(v) <= high]
    return low, high, sum(inside) / len(inside) if inside else (low + high) / 2


def shares_below(values: Sequence[str | None], below: Sequence[str]) -> dict[str, float]:
    """Return how often each value occurs among those below a node, as shares."""
    counted = Counter(value for value in values if value in below)
    total = sum(counted.values())
    return {str(value): count / total for value, count in counted.items()}
