"""Slow, obvious twin of every promise where persons are counted, straight from the definitions.

A class is a list of (person, value) pairs, one a record; a person who is None is nobody. The
table is all classes together. Nothing of shoal is used.
"""

from __future__ import annotations

import math
from fractions import Fraction

SLACK = 1e-12


def classes_of(rows, quasi, persons, column=None):
    """Return the classes of rows (dicts of texts): released tuple -> (person, value) pairs."""
    found = {}
    for row, person in zip(rows, persons, strict=True):
        key = tuple(row[name] for name in quasi)
        found.setdefault(key, []).append((person, None if column is None else row[column]))
    return found


def failing(classes, model):
    """Return the keys of the classes that break a model (plain data, as a schema has it)."""
    whole = [pair for pairs in classes.values() for pair in pairs]
    return {key for key, pairs in classes.items() if not holds(pairs, whole, model)}


def holds(pairs, whole, model):
    """Say whether a class keeps a model."""
    people = {person for person, _ in pairs if person is not None}
    if not people:
        return False
    return _RULES[model["model"]](pairs, whole, model, people)


def _k(pairs, whole, model, people):
    return len(people) >= model["k"]


def _pairs(pairs):
    return {(person, value) for person, value in pairs if person is not None}


def _counts(pairs):
    """Return the number of persons who have each value."""
    counts = {}
    for _, value in _pairs(pairs):
        counts[value] = counts.get(value, 0) + 1
    return counts


def _reaches(pairs, wanted):
    """Say whether so many values have different persons, by trying every pair for the first one."""
    return wanted <= 0 or any(
        _reaches({pair for pair in pairs if pair[0] != one and pair[1] != value}, wanted - 1)
        for one, value in pairs
    )


def _diversity(pairs, whole, model, people):
    counts = sorted(_counts(pairs).values(), reverse=True)
    wanted, kind = model["l"], model.get("kind", "distinct")
    if kind == "distinct":
        return _reaches(_pairs(pairs), wanted)
    if kind == "entropy":
        total = sum(counts)
        entropy = -sum(n / total * math.log(n / total) for n in counts)
        return entropy >= math.log(wanted) - SLACK
    tail = sum(counts[wanted - 1 :])
    return len(counts) >= wanted and counts[0] < Fraction(str(model["c"])) * tail


def _share(pairs, value):
    people = {person for person, _ in pairs if person is not None}
    return Fraction(_counts(pairs).get(value, 0), len(people))


def _alpha(pairs, whole, model, people):
    most = max(_share(pairs, value) for value in _counts(pairs))
    return len(people) >= model["k"] and float(most) <= model["alpha"]


def _beta(pairs, whole, model, people):
    gains = [_share(pairs, v) / _share(whole, v) - 1 for v in _counts(whole)]
    return max(gains) <= model["beta"] * (1 + SLACK)


def _delta(pairs, whole, model, people):
    if set(_counts(pairs)) != set(_counts(whole)):
        return False
    logs = [abs(math.log(_share(pairs, v) / _share(whole, v))) for v in _counts(whole)]
    return max(logs) < model["delta"] * (1 - SLACK)


def _distance(pairs, whole):
    own, all_of = _counts(pairs), _counts(whole)
    here, there = sum(own.values()), sum(all_of.values())
    far = [abs(Fraction(own.get(v, 0), here) - Fraction(n, there)) for v, n in all_of.items()]
    return sum(far) / 2


def _closeness(pairs, whole, model, people):
    return float(_distance(pairs, whole)) <= model["t"] * (1 + SLACK)


_RULES = {
    "k-anonymity": _k,
    "l-diversity": _diversity,
    "(alpha,k)-anonymity": _alpha,
    "beta-likeness": _beta,
    "delta-disclosure": _delta,
    "t-closeness": _closeness,
}
