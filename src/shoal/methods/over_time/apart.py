"""Classes of different signatures that would be written alike are told apart, or wait.

A reader knows a class by its labels. Two classes with the same labels are one, and the values of
one would join the signature of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering.space import Space
from shoal.methods.over_time.cuts import losses
from shoal.table.domain import Domain

Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]
Labels = tuple[str | None, ...]

NEAREST = 8
"""Boxes that are widened in one more column, where none of those before has labels of its own."""

STEPS = 64
"""Values by which an end is moved, one at a time; then all the way."""


def told_apart(
    domains: Sequence[Domain],
    space: Space,
    boxes: tuple[Codes, Codes],
    bucket: Numbers,
    sizes: Numbers,
) -> NDArray[np.bool_]:
    """Widen boxes, in place, until no two of different buckets have the same labels.

    Args:
        domains: the columns, as they are written.
        space: their losses.
        boxes: the lowest and the highest codes of every class.
        bucket: of each class.
        sizes: of each class; of those with the same labels, the bucket with the largest keeps them.

    Returns:
        bool[classes]: the class has labels of its own bucket; otherwise no label was left.
    """
    low, high = boxes
    owner: dict[Labels, int] = {}
    kept = np.zeros(len(bucket), dtype=np.bool_)
    for each in np.lexsort((np.arange(len(bucket)), -sizes)).tolist():
        own = _labels(domains, low[each], high[each])
        if owner.setdefault(own, int(bucket[each])) == bucket[each]:
            kept[each] = True
            continue
        found = _free_box(domains, space, (low[each], high[each]), owner, int(bucket[each]))
        if found is None:
            continue
        low[each], high[each] = found
        owner[_labels(domains, low[each], high[each])] = int(bucket[each])
        kept[each] = True
    return kept


def _free_box(
    domains: Sequence[Domain],
    space: Space,
    box: tuple[Codes, Codes],
    owner: dict[Labels, int],
    bucket: int,
) -> tuple[Codes, Codes] | None:
    """Return a wider box whose labels no other bucket has: in one column, in two, and so on."""
    frontier = [box]
    for _ in domains:
        wider = [found for each in frontier for found in _wider(domains, *each)]
        free = [f for f in wider if owner.get(_labels(domains, *f), bucket) == bucket]
        found = free or wider
        if not found:
            return None
        lost = losses(space, np.stack([a for a, _ in found]), np.stack([b for _, b in found]))
        if free:
            return free[int(lost.argmin())]
        frontier = [wider[at] for at in np.argsort(lost, kind="stable")[:NEAREST].tolist()]
    return None


def _labels(domains: Sequence[Domain], low: Codes, high: Codes) -> Labels:
    ends = zip(domains, low.tolist(), high.tolist(), strict=True)
    return tuple(domain.label(begin, end) for domain, begin, end in ends)


def _wider(domains: Sequence[Domain], low: Codes, high: Codes) -> Iterator[tuple[Codes, Codes]]:
    """Yield boxes that are wider in one column, and have another label there."""
    for j, domain in enumerate(domains):
        begin, end, last = int(low[j]), int(high[j]), len(domain) - 1
        ends = [(begin, at) for at in range(end + 1, min(end + STEPS, last) + 1)]
        ends += [(at, end) for at in range(begin - 1, max(begin - STEPS, 0) - 1, -1)]
        seen = {domain.label(begin, end)}
        for pair in [*ends, (begin, last), (0, end), (0, last)]:
            label = domain.label(*pair)
            if label in seen:
                continue
            seen.add(label)
            wider_low, wider_high = low.copy(), high.copy()
            wider_low[j], wider_high[j] = pair
            yield wider_low, wider_high
