"""What a search for sets of items must reach, and how it looks whether it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.hierarchies.tree import Hierarchy
from shoal.table.baskets import Baskets, SetRecoding


@dataclass(frozen=True, slots=True, kw_only=True)
class SetGoal:
    """What must hold of released labels.

    Attributes:
        k: the least support.
        m: of any so many labels of a record; None: of any number; 0: of none.
        required: of these sets of items, by their codes, or none of their records.
        tree: the hierarchy of the items; None: there is none.
        utility: sets of items that labels must not cross; empty: there are none.
    """

    k: int
    m: int | None = 2
    required: tuple[tuple[int, ...], ...] = ()
    tree: Hierarchy | None = None
    utility: tuple[tuple[int, ...], ...] = ()


def bits_of(recoding: SetRecoding) -> tuple[list[int], list[list[int]]]:
    """Return the records of each label, as the bits of a number, and the labels of each record."""
    starts, codes = recoding.released()
    held = [codes[a:b].tolist() for a, b in pairwise(starts.tolist())]
    bits = []
    records = np.repeat(np.arange(len(held)), np.diff(starts))
    for label in range(len(recoding.labels)):
        mask = np.zeros(len(held), dtype=np.bool_)
        mask[records[codes == label]] = True
        bits.append(int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little"))
    return bits, held


def item_bits(baskets: Baskets) -> list[int]:
    """Return the records of each item, as the bits of a number."""
    return bits_of(SetRecoding.of_items(baskets))[0]


def rare_sets(recoding: SetRecoding, k: int, m: int | None) -> Iterator[tuple[int, ...]]:
    """Yield the smallest sets of up to m labels of a record that fewer than k records hold."""
    bits, held = bits_of(recoding)
    if m is None:
        for labels in dict.fromkeys(map(tuple, held)):
            together = -1
            for label in labels:
                together &= bits[label]
            if labels and together.bit_count() < k:
                yield labels
        return
    if m > 0:
        later = [(label, mask) for label, mask in enumerate(bits) if mask]
        yield from rare_beside((), -1, later, k, m)


def rare_beside(
    chosen: tuple[int, ...], together: int, later: list[tuple[int, int]], k: int, m: int
) -> Iterator[tuple[int, ...]]:
    """Yield the smallest rare sets that begin with some labels; see `rare_sets`.

    together: the records that hold these. later: the labels that may follow, and their records.
    """
    frequent = []
    for label, mask in later:
        both = together & mask
        if both and both.bit_count() < k:
            yield (*chosen, label)
        elif both:
            frequent.append((label, both))
    if len(chosen) + 1 < m:
        for place, (label, mask) in enumerate(frequent):
            yield from rare_beside((*chosen, label), mask, frequent[place + 1 :], k, m)


def fits(recoding: SetRecoding, items: tuple[int, ...]) -> int:
    """Count the records whose labels may stand for all these items."""
    bits, _ = bits_of(recoding)
    together = (1 << recoding.baskets.records) - 1
    for item in items:
        covered = 0
        for label, members in enumerate(recoding.labels):
            if item in members:
                covered |= bits[label]
        together &= covered
    return together.bit_count()


def reaches(recoding: SetRecoding, goal: SetGoal) -> bool:
    """Say whether released labels are as they must be."""
    if next(rare_sets(recoding, goal.k, goal.m), None) is not None:
        return False
    return not any(0 < fits(recoding, each) < goal.k for each in goal.required)
