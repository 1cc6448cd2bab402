"""PCTA on sets of records: the constraint nearest to being met, merged with what costs least."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

Records = Sequence[frozenset[int]]
Partition = list[frozenset[int]]


def holding(records: Records, members: frozenset[int]) -> set[int]:
    """Return the records that hold any of some items."""
    return {row for row, record in enumerate(records) if record & members}


def fitting(records: Records, sets: Partition, required: Sequence[int]) -> int:
    """Count the records whose labels may stand for all items of a constraint."""
    rows = set(range(len(records)))
    for item in required:
        own = next((each for each in sets if item in each), frozenset())
        rows &= holding(records, own)
    return len(rows)


def loss(records: Records, members: frozenset[int], items: int) -> float:
    """Return UL of a label: its subsets, of all, in its records."""
    every = 2**items - 1
    return (2 ** len(members) - 1) / every * len(holding(records, members)) / len(records)


def pcta(records: Records, items: int, k: int, required: Sequence[tuple[int, ...]]) -> Partition:
    """Return the sets of items; an item that is suppressed is in none."""
    sets: Partition = [frozenset({item}) for item in range(items)]
    while True:
        open_ = [(fitting(records, sets, each), each) for each in required]
        open_ = [each for each in open_ if 0 < each[0] < k]
        if not open_:
            return sets
        _, constraint = max(open_, key=lambda each: each[0])
        while 0 < fitting(records, sets, constraint) < k:
            sets = _merged(records, sets, constraint, items)


def _merged(records: Records, sets: Partition, constraint: Sequence[int], items: int) -> Partition:
    touched = [each for each in sets if each & set(constraint)]
    pairs = [(one, other) for one in touched for other in sets if other != one]
    if not pairs:
        rarest = min(touched, key=lambda each: len(holding(records, each)))
        return [each for each in sets if each != rarest]
    one, other = min(
        pairs,
        key=lambda pair: (
            loss(records, pair[0] | pair[1], items)
            - loss(records, pair[0], items)
            - loss(records, pair[1], items)
        ),
    )
    return [each for each in sets if each not in (one, other)] + [one | other]


def total_loss(records: Records, sets: Partition, items: int) -> float:
    """Return UL of a whole partition."""
    held = set(chain.from_iterable(records))
    return sum(loss(records, each, items) for each in sets if each & held)
