"""MDAV, V-MDAV and the best cut of a path in plain Python, record by record, from the papers.

A point is a tuple of numbers, a record is its place in the list of points, a group a list of
records. Of equally distant records the first one is taken.
"""

from __future__ import annotations

from math import sqrt


def squared(a, b):
    return sum((x - y) * (x - y) for x, y in zip(a, b, strict=True))


def mean(points, group):
    columns = range(len(points[0]))
    return tuple(sum(points[i][c] for i in group) / len(group) for c in columns)


def furthest(points, left, point):
    return max(left, key=lambda i: (squared(points[i], point), -i))


def nearest(points, left, point, number):
    return sorted(left, key=lambda i: (squared(points[i], point), i))[:number]


def without(left, group):
    return [i for i in left if i not in group]


def mdav(points, k):
    """Domingo-Ferrer and Torra 2005, Algorithm 3 with means and Euclidean distances."""
    left = list(range(len(points)))
    groups = []
    while len(left) >= 3 * k:
        r = furthest(points, left, mean(points, left))
        group = nearest(points, left, points[r], k)
        groups.append(group)
        left = without(left, group)
        s = furthest(points, left, points[r])
        group = nearest(points, left, points[s], k)
        groups.append(group)
        left = without(left, group)
    if len(left) >= 2 * k:
        r = furthest(points, left, mean(points, left))
        group = nearest(points, left, points[r], k)
        groups.append(group)
        left = without(left, group)
    if left:
        groups.append(left)
    return groups


def vmdav(points, k, gamma):
    """Solanas and Martínez-Ballesté 2006, Algorithm 1."""
    left = list(range(len(points)))
    if len(left) < k:
        return [left] if left else []
    middle = mean(points, left)
    groups = []
    while len(left) > k - 1:
        e = furthest(points, left, middle)
        group = nearest(points, left, points[e], k)
        left = without(left, group)
        while len(group) < 2 * k - 1 and left:
            inward = {i: min(squared(points[i], points[m]) for m in group) for i in left}
            closest = min(left, key=lambda i: (inward[i], i))
            others = [i for i in left if i != closest]
            outward = min((squared(points[closest], points[i]) for i in others), default=None)
            if outward is None:
                if gamma == 0:
                    break
            elif not sqrt(inward[closest]) < gamma * sqrt(outward):
                break
            group.append(closest)
            left.remove(closest)
        groups.append(group)
    middles = [mean(points, group) for group in groups]
    settled = [list(group) for group in groups]
    for i in left:
        gaps = [squared(points[i], middle) for middle in middles]
        settled[gaps.index(min(gaps))].append(i)
    return settled


def error(points, groups):
    """The sum of squared errors."""
    total = 0.0
    for group in groups:
        middle = mean(points, group)
        total += sum(squared(points[i], middle) for i in group)
    return total


def path(points):
    """The outermost record, then always the nearest one that is left."""
    left = list(range(len(points)))
    here = furthest(points, left, mean(points, left))
    way = [here]
    left.remove(here)
    while left:
        here = nearest(points, left, points[here], 1)[0]
        way.append(here)
        left.remove(here)
    return way


def cuts(way, k):
    """Every way to cut a path into runs of k to 2k - 1 records."""
    if not way:
        yield []
    for size in range(k, min(2 * k - 1, len(way)) + 1):
        for rest in cuts(way[size:], k):
            yield [way[:size], *rest]


def groupings(records, k):
    """Every way to share records out to groups of at least k."""
    if not records:
        yield []
        return
    first, rest = records[0], records[1:]
    for chosen in range(1 << len(rest)):
        group = [first] + [r for bit, r in enumerate(rest) if chosen >> bit & 1]
        if len(group) >= k:
            others = [r for r in rest if r not in group]
            for more in groupings(others, k):
                yield [group, *more]
