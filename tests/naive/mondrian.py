"""Mondrian, slow and obvious: lists of records, cut again and again (LeFevre et al., 2006).

Twin of `shoal.kernels.mondrian.mondrian`. Records are tuples of codes; nothing is counted ahead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

Record = tuple[tuple[int, ...], tuple[int, ...]]  # quasi-identifier codes, sensitive codes
Holds = Callable[[Sequence[Record]], bool]
Width = Callable[[int, int, int], float]  # column, lowest code, highest code


def mondrian(
    records: Sequence[Record], width: Width, holds: Holds, *, relaxed: bool
) -> Counter[tuple[tuple[int, int], ...]]:
    """Return how many records each box of codes holds; equal boxes are one class."""
    waiting = [sorted(records)]
    done: Counter[tuple[tuple[int, int], ...]] = Counter()
    while waiting:
        part = waiting.pop()
        cut = find_cut(part, width, holds, relaxed=relaxed)
        if cut is None:
            done[box_of(part)] += len(part)
        else:
            waiting += cut
    return done


def box_of(part: Sequence[Record]) -> tuple[tuple[int, int], ...]:
    columns = range(len(part[0][0]))
    return tuple((min(r[0][j] for r in part), max(r[0][j] for r in part)) for j in columns)


def find_cut(
    part: list[Record], width: Width, holds: Holds, *, relaxed: bool
) -> tuple[list[Record], list[Record]] | None:
    box = box_of(part)
    widths = [width(j, low, high) for j, (low, high) in enumerate(box)]
    for j in sorted(range(len(box)), key=lambda column: (-widths[column], column)):
        if widths[j] <= 0:
            return None
        for left, right in candidates(part, j, relaxed=relaxed):
            if left and right and holds(left) and holds(right):
                return left, right
    return None


def candidates(
    part: list[Record], j: int, *, relaxed: bool
) -> list[tuple[list[Record], list[Record]]]:
    """Return the cuts to try in column j, best first."""
    codes = sorted(record[0][j] for record in part)
    half = (len(codes) + 1) // 2
    median = codes[half - 1]  # the smallest code that half of the records do not exceed
    below = [r for r in part if r[0][j] < median]
    at = [r for r in part if r[0][j] == median]
    above = [r for r in part if r[0][j] > median]
    if relaxed:
        share = len(part) // 2 - len(below)
        return [(sorted(below + at[:share]), sorted(at[share:] + above))]
    after = (sorted(below + at), above)
    before = (below, sorted(at + above))
    uneven_after = abs(len(after[0]) - len(after[1]))
    uneven_before = abs(len(before[0]) - len(before[1]))
    return [after, before] if uneven_after <= uneven_before else [before, after]
