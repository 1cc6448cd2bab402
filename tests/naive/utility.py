"""Slow twins of the utility measures: sums over records, by the words of each definition."""

from __future__ import annotations

from collections import Counter
from math import exp, inf, log, log2


def measures(records, classes, costs):
    """Return the measures of a release.

    Args:
        records: for each record its class, or None where it is suppressed.
        classes: for each class and column, the share that a cell loses by height and level.
        costs: for each class and column, leaves covered and leaves there are.
    """
    n, width = len(records), len(classes[0])
    sizes = Counter(records)
    groups = list(sizes.values())
    lost = [
        sum(1.0 if label is None else classes[label][j] for label in records) / n
        for j in range(width)
    ]
    x = []
    for j in range(width):
        leaves = costs[0][j][1]
        covered = sum(1.0 if label is None else costs[label][j][0] / leaves for label in records)
        x.append(max((covered - n / leaves) / (n - n / leaves), 0.0) if leaves > 1 else 0.0)
    return {
        "il": sum(lost) * n,
        "ncp": sum(lost) / width,
        "dm": sum(n if label is None else sizes[label] for label in records),
        "aecs": n / len(groups),
        "entropy": -sum(size / n * log2(size / n) for size in groups),
        "height": sum(1 - share for share in lost),
        "precision": 1 - sum(lost) / width,
        "loss": exp(sum(log(1 + share) for share in x) / width) - 1,
    }


def minority(records, targets):
    """Return the share of records that are suppressed or differ from their class's majority."""
    inside: dict[object, Counter] = {}
    for label, target in zip(records, targets, strict=True):
        inside.setdefault(label, Counter())[target] += 1
    right = sum(max(counted.values()) for label, counted in inside.items() if label is not None)
    return 1 - right / len(records)


def mean_diversity(records, values, size):
    """Return the mean over classes of: distinct values / values there are."""
    inside: dict[object, set] = {}
    for label, value in zip(records, values, strict=True):
        if label is not None:
            inside.setdefault(label, set()).add(value)
    return sum(len(seen) / size for seen in inside.values()) / len(inside)


def mean_inverse(shares):
    """Return the mean of 1 / share, infinite where one is 0."""
    return inf if 0 in shares else sum(1 / share for share in shares) / len(shares)
