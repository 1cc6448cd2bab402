"""What a release of sets lost, from the definitions: occurrence by occurrence, subset by subset."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

Label = frozenset[str]
Record = frozenset[str]
Released = Sequence[dict[str, Label | None]]
"""Of each record, the label of each of its items; None: it was suppressed."""


def losses(released: Released, items: int) -> list[float]:
    """Return what each occurrence loses: the other items of its label, of all others; or all."""
    return [
        1.0 if label is None else (len(label) - 1) / max(items - 1, 1)
        for record in released
        for label in record.values()
    ]


def kept(released: Released) -> int:
    """Count the occurrences that are released as their item."""
    return sum(label == {item} for record in released for item, label in record.items())


def suppressed(released: Released) -> int:
    """Count the occurrences that are not released."""
    return sum(label is None for record in released for label in record.values())


def cells(released: Released) -> list[frozenset[Label]]:
    """Return the labels of each record."""
    return [frozenset(label for label in r.values() if label is not None) for r in released]


def utility_loss(released: Released, items: Sequence[str]) -> float:
    """Return UL: of each label, the subsets it may stand for, of all there are, by its records."""
    held = cells(released)
    total = 0.0
    every = sum(1 for n in range(1, len(items) + 1) for _ in combinations(items, n))
    for label in {label for record in held for label in record}:
        own = sum(1 for n in range(1, len(label) + 1) for _ in combinations(sorted(label), n))
        total += own / every * sum(label in record for record in held) / len(held)
    return total


def frequent(records: Sequence[Record], least: float) -> dict[Record, int]:
    """Return the sets of one and two items that so many records hold."""
    every = sorted({item for record in records for item in record})
    found = {}
    for size in (1, 2):
        for each in combinations(every, size):
            support = sum(frozenset(each) <= record for record in records)
            if support >= least:
                found[frozenset(each)] = support
    return found


def estimate(held: Sequence[frozenset[Label]], one: str, two: str) -> float:
    """Return how many records a reader of a release takes to hold two items.

    A label of n items holds each of them with the chance 1/n, whatever the others hold.
    """

    def chance(record: frozenset[Label], item: str) -> float:
        absent = 1.0
        for label in record:
            if item in label:
                absent *= 1 - 1 / len(label)
        return 1 - absent

    return sum(chance(record, one) * chance(record, two) for record in held)
