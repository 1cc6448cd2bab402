"""The independent checker of a release: plain Python over the written file.

It knows nothing of shoal. A release is read with the csv module; classes are the rows
that share their quasi-identifiers; every model is judged from its definition in exact
fractions. An empty cell is a missing value, which is a value of its own.

Promises are plain data, as a schema file has them:
{"model": "l-diversity", "l": 2, "kind": "entropy", "column": "diagnosis"}.
"""

from __future__ import annotations

import csv
import gzip
from datetime import datetime
from fractions import Fraction
from itertools import combinations

from tests.naive import hierarchy, privacy, rounding
from tests.naive.sensitive import Space

SLACK = Fraction(1, 10**12)  # shoal's own tolerance where a float meets a bound


def read(path, *, separator=","):
    """Return the rows of a CSV file as dicts of texts."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter=separator, strict=True))
    header = rows[0]
    assert len(set(header)) == len(header), "a column stands twice"
    body = [row or [""] for row in rows[1:]]  # a line with one empty cell is an empty line
    assert all(len(row) == len(header) for row in body), "ragged rows in a release"
    return [dict(zip(header, row, strict=True)) for row in body]


def classes(rows, quasi):
    """Return the classes: released tuple -> its rows."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in quasi), []).append(row)
    return found


def judged(rows, quasi, promise, *, columns):
    """Return, for each model, the worst value, and the classes that break it.

    columns: facts about each column: kind, order, parents (label -> parent, root None) and
    what else `Space` reads.

    Raises:
        Refused: a sensitive column has no scale that all of its values fit.
    """
    groups = classes(rows, quasi)
    found = []
    for model in promise:
        space = None
        if "column" in model:
            asked = {m.get("distance") for m in promise if m.get("column") == model["column"]}
            texts = [row[model["column"]] for row in rows]
            facts = columns.get(model["column"], {})
            ordered, climbed = "ordered" in asked, "hierarchical" in asked
            space = Space(texts, facts, ordered=ordered, climbed=climbed)
        values, wrong = [], []
        for key, members in groups.items():
            value, holds = _judge(model, key, members, rows, quasi, space)
            values.append(value)
            wrong += [] if holds else [key]
        is_high = model["model"] in ("k-anonymity", "l-diversity")
        found.append((min(values) if is_high else max(values), wrong))
    return found


def violators(rows, quasi, promise, *, columns):
    """Return, for each model, the number of records in classes that break it."""
    groups = classes(rows, quasi)
    found = judged(rows, quasi, promise, columns=columns)
    return [sum(len(groups[key]) for key in wrong) for _, wrong in found]


def broken(rows, quasi, promise, *, columns):
    """Return the number of records in classes that break any model."""
    groups = classes(rows, quasi)
    found = judged(rows, quasi, promise, columns=columns)
    return sum(len(groups[key]) for key in {key for _, wrong in found for key in wrong})


def _judge(model, key, members, rows, quasi, space):
    """Return what a class attains, and whether that is enough."""
    name = model["model"]
    if name == "k-anonymity":
        return len(members), len(members) >= model["k"]
    column = model["column"]
    counts = space.histogram(members, column)
    if name == "l-diversity":
        kind = model.get("kind", "distinct")
        if kind == "distinct":
            return sum(count > 0 for count in counts), privacy.distinct_l(counts, model["l"])
        if kind == "entropy":
            return privacy.effective_values(counts), privacy.entropy_l(counts, model["l"])
        depth = sum(privacy.recursive_l(counts, model["c"], l) for l in range(1, len(counts) + 1))
        return depth, privacy.recursive_l(counts, model["c"], model["l"])
    if name == "(alpha,k)-anonymity":
        if model.get("values") is not None:
            named = {space.place.get(key) for key in space.known(model["values"])}
            counts = [count if place in named else 0 for place, count in enumerate(counts)]
        share = Fraction(max(counts), len(members))
        return share, len(members) >= model["k"] and share <= Fraction(repr(model["alpha"]))
    distance = model.get("distance", "equal")
    most = Fraction(repr(model["t"])) + SLACK
    if name == "t-closeness":
        value = space.distance(distance, counts, space.histogram(rows, column))
        return value, value <= most
    assert name == "(n,t)-closeness", name
    if len(members) >= model["n"]:
        return Fraction(0), True
    if len(rows) < model["n"]:
        return Fraction(1), False
    value = space.distance(distance, counts, space.histogram(rows, column))
    if value > most:  # only then are other sets around it looked for
        sets = _supersets(key, members, rows, quasi)
        near = [space.histogram(wider, column) for wider in sets if len(wider) >= model["n"]]
        value = min(space.distance(distance, counts, each) for each in near)
    return value, value <= most


def _supersets(key, members, rows, quasi):
    """The class itself, and what the table has in common with it on some columns only."""
    yield members
    for size in range(len(quasi)):
        for kept in combinations(range(len(quasi)), size):
            yield [row for row in rows if all(row[quasi[i]] == key[i] for i in kept)]


def covers(label, value, facts):
    """Say whether a released label stands for an original value.

    facts: kind, order, parents, and `values`, those of the whole column: where one of them
    is called *, the label for all of them has more stars.
    """
    parents = facts.get("parents")
    root = "*" if parents is None else next(x for x, above in parents.items() if above is None)
    while parents is None and root in facts.get("values", ()):
        root += "*"
    if label == root:
        return True
    if value.strip() == "":
        return label == ""
    if label == "":
        return False
    if parents is not None:
        return label in hierarchy.ancestors(parents, value.strip())
    read_one = {
        "numeric": lambda text: Fraction(text.strip()),
        "date": lambda text: datetime.fromisoformat(text.strip()),
        "ordinal": lambda text: facts["order"].index(text.strip()),
    }.get(facts["kind"])
    if read_one is None:
        return label == value
    if facts["kind"] == "date" and _in_calendar(label, read_one(value)):
        return True
    if facts["kind"] in ("numeric", "date") and "–" in label:
        return rounding.covers(label, value, facts["kind"])
    if facts["kind"] == "numeric" and label.startswith("[") and label.endswith(")"):
        low, high = map(read_one, label[1:-1].split(", "))
        return low <= read_one(value) < high
    return any(low <= read_one(value) <= high for low, high in _intervals(label, read_one))


def _in_calendar(label, moment):
    """Say whether a label is the day, month, quarter, year or decade of a moment."""
    year, month = moment.year, moment.month
    quarter, decade = (month + 2) // 3, year // 10 * 10
    return label in (
        f"{year:04d}-{month:02d}-{moment.day:02d}", f"{year:04d}-{month:02d}",
        f"{year:04d}-Q{quarter}", f"{year:04d}", f"{decade:04d}s",
    )  # fmt: skip


def _intervals(label, read_one):
    """Every way to read a label: a single value, or "[low, high]" cut at some comma."""
    pairs = [(label, label)]
    if label.startswith("[") and label.endswith("]"):
        parts = label[1:-1].split(", ")
        pairs += [(", ".join(parts[:cut]), ", ".join(parts[cut:])) for cut in range(1, len(parts))]
    for low, high in pairs:
        try:
            yield read_one(low), read_one(high)
        except ValueError:
            continue
