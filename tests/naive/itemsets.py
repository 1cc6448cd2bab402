"""Promises about sets of items, from their definitions: every subset of every record is counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

Record = frozenset[str]


def subsets(record: Record, most: int | None) -> Iterable[Record]:
    """Yield the subsets of one to `most` labels; None: of any number."""
    for size in range(1, (len(record) if most is None else most) + 1):
        for each in combinations(sorted(record), size):
            yield frozenset(each)


def support(records: Sequence[Record], wanted: Record) -> int:
    """Count the records that hold all of some labels."""
    return sum(wanted <= record for record in records)


def rarest(records: Sequence[Record], most: int | None) -> int:
    """Return the least support of a set that occurs; 0: none does."""
    found = {each for record in records for each in subsets(record, most)}
    return min((support(records, each) for each in found), default=0)


def rare_records(records: Sequence[Record], k: int, most: int | None) -> int:
    """Count the records with a set that fewer than k records have."""
    return sum(any(support(records, s) < k for s in subsets(r, most)) for r in records)


def confidence(records: Sequence[Record], item: str, most: int | None) -> float:
    """Return how sure anybody can be of an item who knows up to `most` others, of any record."""
    held = [record for record in records if item in record]
    shares = [len(held) / len(records)] if held else [0.0]
    for record in records:
        for each in subsets(record - {item}, most):
            both = sum(each <= other and item in other for other in records)
            shares.append(both / support(records, each))
    return max(shares)
