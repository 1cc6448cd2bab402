"""Sets of items merged and chosen on dictionaries and sets, line by line as it is described."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product

Records = Sequence[frozenset[int]]
Sets = dict[int, frozenset[int]]


def relabelled(records: Records, sets: Mapping[int, frozenset[int]]) -> list[frozenset[int]]:
    """Return the heads of the sets that each record holds."""
    head = {item: top for top, members in sets.items() for item in members}
    return [frozenset(head[item] for item in record) for record in records]


def support(records: Records, wanted: frozenset[int]) -> int:
    """Count the records that hold all of these."""
    return sum(wanted <= record for record in records)


def rare_pairs(records: Records, label: int, labels: Sequence[int], k: int) -> int:
    """Count the rare pairs of a label, itself included."""
    return sum(0 < support(records, frozenset({label, other})) < k for other in labels)


def merged(records: Records, items: int, k: int, levels: Sequence[Sequence[int]]) -> Sets:
    """Merge the set with most rare pairs with what removes most for each unit of loss."""
    sets: Sets = {item: frozenset({item}) for item in range(items)}
    level, stuck = 0, set()
    while len(sets) > 1:
        held = relabelled(records, sets)
        rare = {top: rare_pairs(held, top, list(sets), k) for top in sets}
        open_ = [top for top in sets if rare[top] and top not in stuck]
        if not open_:
            if not any(rare.values()) or level + 1 == len(levels):
                return sets
            level, stuck = level + 1, set()
            continue
        one = max(open_, key=lambda top: (rare[top], -top))
        group = levels[level]
        others = [top for top in sets if top != one and group[top] == group[one]]
        if not others:
            stuck.add(one)
            continue
        other = _partner(records, sets, held, rare, one, others, k)
        sets[one] |= sets.pop(other)
    return sets


def _partner(
    records: Records, sets: Sets, held: Records, rare: Mapping[int, int], one: int,
    others: Sequence[int], k: int,
) -> int:  # fmt: skip
    def occurrences(top: int) -> int:
        return sum(len(record & sets[top]) for record in records)

    best, gain = None, 0.0
    losses = {}
    for other in others:
        loss = occurrences(one) * len(sets[other]) + occurrences(other) * len(sets[one])
        losses[other] = loss
        joined = {**sets, one: sets[one] | sets[other]}
        del joined[other]
        after = rare_pairs(relabelled(records, joined), one, list(joined), k)
        both = 0 < support(held, frozenset({one, other})) < k
        removed = rare[one] + rare[other] - both - after
        if removed > 0 and (best is None or removed * losses[best] > gain * loss):
            best, gain = other, removed
    return best if best is not None else min(others, key=lambda other: (losses[other], other))


def is_frequent(records: Sequence[frozenset[object]], k: int, m: int) -> bool:
    """Say whether all sets of up to m labels that occur are held by k records."""
    found = {
        frozenset(each)
        for record in records
        for size in range(1, m + 1)
        for each in combinations(sorted(record, key=repr), size)
    }
    return all(sum(each <= record for record in records) >= k for each in found)


def best_cut(
    records: Records, ladder: Sequence[Sequence[int]], k: int, m: int,
    loss: Callable[[tuple[int, ...]], float],
) -> float:  # fmt: skip
    """Return the least loss of any cut of a hierarchy that holds; every one is tried."""
    items = range(len(ladder[0]))
    best = float("inf")
    for cut in product(range(len(ladder)), repeat=len(ladder[0])):
        whole = all(
            cut[other] >= cut[item]
            for item in items
            for other in items
            if ladder[cut[item]][other] == ladder[cut[item]][item]
        )
        if not whole:
            continue
        held = [frozenset((cut[i], ladder[cut[i]][i]) for i in record) for record in records]
        if is_frequent(held, k, m):
            best = min(best, loss(cut))
    return best


def released_items(
    records: Records, labels: Mapping[tuple[int, int], frozenset[int] | None]
) -> list[frozenset[frozenset[int]]]:
    """Return the labels of each record, from those of (record, item); None: suppressed."""
    return [
        frozenset(label for item in record if (label := labels[row, item]) is not None)
        for row, record in enumerate(records)
    ]
