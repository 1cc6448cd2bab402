"""Drawing, line by line: pools, weights and quotas as a reader of the guide would work them out."""

from __future__ import annotations


def pools(persons: list[int], k: int) -> list[tuple[int, ...]]:
    """Common values alone; then rare ones in order, until k persons are together."""
    common = [(code,) for code, held in enumerate(persons) if held >= k]
    rare: list[list[int]] = [[]]
    for code, held in enumerate(persons):
        if 0 < held < k:
            rare[-1].append(code)
            if sum(persons[c] for c in rare[-1]) >= k:
                rare.append([])
    last = rare.pop()
    if rare:
        rare[-1] += last
    return common + [tuple(each) for each in rare]


def expected(runs, sizes, weights) -> list[float]:
    """Each label shares its records out over its values by their weights."""
    found = [0.0] * len(weights)
    for (first, last), size in zip(runs, sizes, strict=True):
        total = sum(weights[first:last])
        for value in range(first, last):
            found[value] += size * weights[value] / total
    return found


def misfit(runs, sizes, pool, wanted, weights) -> float:
    """Half of what all pools are away from what is wanted, of all records."""
    total = sum(sizes)
    drawn = [0.0] * len(wanted)
    for value, often in enumerate(expected(runs, sizes, weights)):
        if pool[value] >= 0:
            drawn[pool[value]] += often
    goal = [each * total / sum(wanted) for each in wanted]
    return sum(abs(a - b) for a, b in zip(drawn, goal, strict=True)) / (2 * total)


def rake(runs, sizes, pool, wanted, rounds: int) -> tuple[list[float], float]:
    """Multiply the weight of every pool by what it lacks, damped and clipped; keep the best."""
    total = sum(sizes)
    goal = [each * total / sum(wanted) for each in wanted]
    held = [pool.count(p) for p in range(len(wanted))]
    known = [goal[p] / held[p] for p in pool if p >= 0]
    weights = [goal[p] / held[p] if p >= 0 else sum(known) / len(known) for p in pool]
    weights = [max(each / max(weights), 1e-9) for each in weights]
    best = None
    for _ in range(rounds):
        away = misfit(runs, sizes, pool, wanted, weights)
        if best is None or away < best[1]:
            best = list(weights), away
        drawn = [0.0] * len(wanted)
        for value, often in enumerate(expected(runs, sizes, weights)):
            if pool[value] >= 0:
                drawn[pool[value]] += often
        for value, p in enumerate(pool):
            if p >= 0:
                step = goal[p] / drawn[p] if drawn[p] > 0 else 1.0
                weights[value] *= min(max(step, 1 / 4), 4) ** 0.7
        weights = [max(each / max(weights), 1e-9) for each in weights]
    return best


def quotas(weights, size: int, start: float) -> list[int]:
    """Walk along the weights with even steps, and take the value that each step ends in."""
    step = sum(weights) / size
    found = []
    for number in range(size):
        at, value = (number + start) * step, 0
        while value < len(weights) - 1 and at >= sum(weights[: value + 1]):
            value += 1
        found.append(value)
    return found


def lies_in(cell, label, *, order=None, parents=None) -> bool:
    """A cell lies in itself, in the root, between the ends of an interval, or below a node."""
    if cell == label or label == "*":
        return True
    if cell is None or label is None:
        return False
    if parents is not None:
        while cell in parents:
            cell = parents[cell]
            if cell == label:
                return True
        return False
    low, high = label[1:-1].split(", ")
    if order is not None:
        return order.index(low) <= order.index(cell) <= order.index(high)
    return float(low) <= float(cell) <= float(high)
