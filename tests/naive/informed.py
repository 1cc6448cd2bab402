"""Cuts by information, by the definition: every cut is tried on lists of records."""

from __future__ import annotations

from collections import Counter
from math import log2


def unknown(groups) -> float:
    """Bits that are not known of the targets of some records."""
    held = Counter(groups)
    total = sum(held.values())
    return -sum(n * log2(n / total) for n in held.values())


def width(place, missing, codes) -> float:
    low, high = min(codes), max(codes)
    if low == high:
        return 0.0
    return 1.0 if missing and low == 0 else place[high] - place[low]


def worth(records, column, last, place, missing, weight) -> float:
    """What a cut behind a code gains, more than chance, and what less is lost in its column."""
    sides = (
        [r for r in records if r[0][column] <= last],
        [r for r in records if r[0][column] > last],
    )
    gain = unknown([r[1] for r in records]) - sum(unknown([r[1] for r in s]) for s in sides)
    lost = [
        len(part) * width(place[column], missing[column], [r[0][column] for r in part])
        for part in (records, *sides)
    ]
    return max(gain - 2.0, 0.0) + weight * (lost[0] - lost[1] - lost[2])


def cut(records, place, missing, k, weight):
    """Return the parts; records are (codes, group), each one record."""
    best = None
    for column in range(len(place)):
        for last in sorted({r[0][column] for r in records})[:-1]:
            few = sum(r[0][column] <= last for r in records)
            if min(few, len(records) - few) >= k:
                found = worth(records, column, last, place, missing, weight)
                if found > (1e-9 if best is None else best[0] + 1e-9):
                    best = found, column, last
    if best is None:
        return [records]
    _, column, last = best
    sides = (
        [r for r in records if r[0][column] <= last],
        [r for r in records if r[0][column] > last],
    )
    return [part for side in sides for part in cut(side, place, missing, k, weight)]
