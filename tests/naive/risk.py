"""Slow twins of the risks: sums over records, integrals, and SUDA by definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from tests.naive.infer import classes


def expected_inverse(f, p, *, steps=200_000):
    """Return E[1 / F] given f, for F negative binomial: the integral of Benedetti and Franconi.

    With u = p e^-t / (1 - q e^-t) it is the integral of u^(f-1) p / (p + q u) over 0 … 1.
    """
    q = 1 - p
    width = 1 / steps
    return (
        sum(((i + 0.5) * width) ** (f - 1) * p / (p + q * (i + 0.5) * width) for i in range(steps))
        * width
    )


def global_risk(rows):
    """Return the mean of 1 / class size over the records."""
    sizes = classes(rows, range(len(rows[0])))
    return sum(1 / sizes[tuple(row)] for row in rows) / len(rows)


def records_below(rows, limit):
    sizes = classes(rows, range(len(rows[0])))
    return sum(sizes[tuple(row)] < limit for row in rows)


def minimal_uniques(rows):
    """Return, for each row, the minimal sets of columns on which it is alone."""
    width = len(rows[0])
    subsets = [c for size in range(1, width + 1) for c in combinations(range(width), size)]
    counted = {c: classes(rows, c) for c in subsets}
    found = []
    for row in rows:
        alone = [c for c in subsets if counted[c][tuple(row[i] for i in c)] == 1]
        found.append([c for c in alone if not any(set(d) < set(c) for d in alone)])
    return found


def household(risks, homes):
    """Return 1 - Π(1 - risk) of each household, by household."""
    left = {}
    for risk, home in zip(risks, homes, strict=True):
        left[home] = left.get(home, 1.0) * (1 - risk)
    return {home: 1 - rest for home, rest in left.items()}


def persons_at_risk(keys, persons):
    """Return the risk of each person: 1 / persons of the smallest class with a record of theirs.

    keys: the class of each record; persons: who it is about, None: nobody.
    """
    classes = {}
    for key, person in zip(keys, persons, strict=True):
        if person is not None:
            classes.setdefault(key, set()).add(person)
    found = {}
    for members in classes.values():
        for person in members:
            found[person] = max(found.get(person, 0), Fraction(1, len(members)))
    return found
