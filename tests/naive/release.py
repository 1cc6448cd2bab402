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
from collections import Counter
from datetime import datetime
from fractions import Fraction
from itertools import combinations

from tests.naive import hierarchy, privacy

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


def violators(rows, quasi, promise, *, columns):
    """Return, for each model, the number of records in classes that break it.

    columns: facts about each column: kind, order, parents (label -> parent, root None).
    """
    groups = classes(rows, quasi)
    return [
        sum(len(members) for key, members in groups.items()
            if not _holds(model, key, members, rows, quasi, columns))
        for model in promise
    ]  # fmt: skip


def broken(rows, quasi, promise, *, columns):
    """Return the number of records in classes that break any model."""
    groups = classes(rows, quasi)
    return sum(
        len(members)
        for key, members in groups.items()
        if not all(_holds(model, key, members, rows, quasi, columns) for model in promise)
    )


def _holds(model, key, members, rows, quasi, columns):
    name = model["model"]
    if name == "k-anonymity":
        return len(members) >= model["k"]
    column = model["column"]
    space = Space([row[column] for row in rows], columns.get(column, {}))
    counts = space.histogram(members, column)
    if name == "l-diversity":
        kind = model.get("kind", "distinct")
        if kind == "distinct":
            return privacy.distinct_l(counts, model["l"])
        if kind == "entropy":
            return privacy.entropy_l(counts, model["l"])
        return privacy.recursive_l(counts, model["c"], model["l"])
    if name == "(alpha,k)-anonymity":
        return privacy.alpha_k(counts, model["alpha"], model["k"])
    distance = model.get("distance", "equal")
    most = Fraction(repr(model["t"])) + SLACK
    if name == "t-closeness":
        return space.distance(distance, counts, space.histogram(rows, column)) <= most
    assert name == "(n,t)-closeness", name
    return any(
        len(wider) >= model["n"]
        and space.distance(distance, counts, space.histogram(wider, column)) <= most
        for wider in _supersets(key, members, rows, quasi)
    )


def _supersets(key, members, rows, quasi):
    """The class itself, and what the table has in common with it on some columns only."""
    yield members
    for size in range(len(quasi)):
        for kept in combinations(range(len(quasi)), size):
            yield [row for row in rows if all(row[quasi[i]] == key[i] for i in kept)]


class Space:
    """The values of a sensitive column, in their order and with their ground distances."""

    def __init__(self, texts, facts):
        self.kind = facts.get("kind")
        self.order = list(facts.get("order", ()))
        self.parents = facts.get("parents")
        # A declared order is the whole scale, whether or not each step of it occurs.
        keys = sorted({self.key(text) for text in (*texts, *self.order)})
        self.place = {key: place for place, key in enumerate(keys)}

    def key(self, text):
        """What a text means, in a form that sorts: missing first."""
        if text == "":
            return (0,)
        if self.order:
            return (1, self.order.index(text))
        if self.parents is not None:
            return (1, _post_order(self.parents).index(text), text)
        if self.kind == "numeric":
            return (1, Fraction(text.strip()))
        if self.kind == "date":
            return (1, datetime.fromisoformat(text.strip()))
        return (1, text)

    def histogram(self, rows, column):
        found = Counter(self.place[self.key(row[column])] for row in rows)
        return [found[place] for place in range(len(self.place))]

    def distance(self, name, counts, reference):
        if name == "chi2":
            return privacy.chi_square(counts, reference)
        grounds = {
            "equal": privacy.equal_ground,
            "ordered": privacy.ordered_ground(len(self.place)),
            "hierarchical": self._ground,
        }
        return privacy.earth_movers_distance(counts, reference, grounds[name])

    def _ground(self, i, j):
        if i == j:
            return Fraction(0)
        labels = {place: key[2] for key, place in self.place.items() if key != (0,)}
        if i not in labels or j not in labels:  # a missing value is as far as can be
            return Fraction(1)
        root = next(label for label, above in self.parents.items() if above is None)
        meet = hierarchy.lca(self.parents, [labels[i], labels[j]])
        return Fraction(hierarchy.height(self.parents, meet), hierarchy.height(self.parents, root))


def _post_order(parents):
    def below(label):
        for child, above in parents.items():
            if above == label:
                yield from below(child)
        yield label

    root = next(label for label, above in parents.items() if above is None)
    return list(below(root))


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
    return any(low <= read_one(value) <= high for low, high in _intervals(label, read_one))


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
