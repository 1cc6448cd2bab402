"""Slow, obvious twin of promises about trajectories, straight from the definition.

The trajectory of a person is the sorted list of all their tuples. Rows are dicts of texts, a person
who is None is nobody. Nothing of shoal is used.
"""

from __future__ import annotations

from tests.naive import persons as naive


def trajectories(rows, quasi, persons):
    """Return the trajectory of each person."""
    found = {}
    for row, person in zip(rows, persons, strict=True):
        if person is not None:
            found.setdefault(person, []).append(tuple(row[name] for name in quasi))
    return {person: tuple(sorted(tuples, key=repr)) for person, tuples in found.items()}


def alike(rows, quasi, persons):
    """Return how many persons share each trajectory."""
    counts = {}
    for trajectory in trajectories(rows, quasi, persons).values():
        counts[trajectory] = counts.get(trajectory, 0) + 1
    return counts


def violating(rows, quasi, persons, model):
    """Return the positions of the records that break a model in some view of the table."""
    whose = trajectories(rows, quasi, persons)
    tuples = [tuple(row[name] for name in quasi) for row in rows]
    paths = [whose.get(person) for person in persons]
    views = [paths]
    if "column" in model:
        views += [list(zip(paths, tuples, strict=True)), tuples]
    wrong = set()
    for view in views:
        classes = {}
        for row, person, key in zip(rows, persons, view, strict=True):
            value = row[model["column"]] if "column" in model else None
            classes.setdefault(key, []).append((person, value))
        failing = naive.failing(classes, model)
        wrong |= {place for place, key in enumerate(view) if key in failing}
    return wrong
