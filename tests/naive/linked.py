"""Slow, obvious twin of promises about linked tables, straight from the definition.

Tables are lists of rows (dicts of texts) by name; links say of each table its key, its parent and
the column that has the parent's key. The tree of a person is their tuple and, table by table, the
sorted list of the trees that hang on it. Nothing of shoal is used.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.naive import persons as naive


class Link(NamedTuple):
    """How a table is linked, and its quasi-identifiers."""

    quasi: list[str]
    key: str | None = None
    parent: str | None = None
    foreign: str | None = None


def key_faults(tables, links):
    """Return what is wrong with keys, as (table, what) pairs."""
    found = set()
    for name, link in links.items():
        keys = [row[link.key] for row in tables[name]] if link.key else []
        if any(not key for key in keys):
            found.add((name, "no key"))
        if len(set(keys)) < len(keys):
            found.add((name, "twice"))
        for row in tables[name]:
            if link.parent and not row[link.foreign]:
                found.add((name, "no parent"))
            elif link.parent:
                above = {other[links[link.parent].key] for other in tables[link.parent]}
                if row[link.foreign] not in above:
                    found.add((name, "dangling"))
    return found


def tree(tables, links, name, row):
    """Return what hangs on a row, itself included."""
    own = tuple(row[column] for column in links[name].quasi)
    below = []
    for child, link in sorted(links.items()):
        if link.parent == name:
            rows = [r for r in tables[child] if r[link.foreign] == row[links[name].key]]
            below.append((child, sorted((tree(tables, links, child, r) for r in rows), key=repr)))
    return (own, below)


def root_of(links):
    """Return the table of the persons."""
    (found,) = (name for name, link in links.items() if link.parent is None)
    return found


def ancestors(tables, links, name, row):
    """Return a row and those above it, as (table, row), the person first."""
    found = [(name, row)]
    while links[name].parent:
        parent = links[name].parent
        (row,) = (r for r in tables[parent] if r[links[parent].key] == row[links[name].foreign])
        found.insert(0, (parent, row))
        name = parent
    return found


def alike(tables, links):
    """Return how many persons share each tree."""
    root = root_of(links)
    counts = {}
    for row in tables[root]:
        whole = repr(tree(tables, links, root, row))
        counts[whole] = counts.get(whole, 0) + 1
    return counts


def rarest(tables, links, name):
    """Return, for each person with a row in a table, the persons who share their rarest tuple."""
    of_tuple, of_person = {}, {}
    for row in tables[name]:
        _, above = ancestors(tables, links, name, row)[0]
        person = above[links[root_of(links)].key]
        own = tuple(row[column] for column in links[name].quasi)
        of_tuple.setdefault(own, set()).add(person)
        of_person.setdefault(person, set()).add(own)
    return [min(len(of_tuple[own]) for own in tuples) for tuples in of_person.values()]


def violating(tables, links, model):
    """Return the rows that break a model in some view, as (table, position) pairs."""
    root = root_of(links)
    where = [model["column"].partition(".")[0]] if "column" in model else list(links)
    wrong = set()
    for name in where:
        seen = [_views(tables, links, name, row) for row in tables[name]]
        if "column" not in model:
            sizes = alike(tables, links)
            wrong |= {
                (name, i) for i, view in enumerate(seen) if sizes[view["tree"]] < model["k"]
            }  # fmt: skip
            continue
        column = model["column"].partition(".")[2]
        for view in ("tree", "place", "way", "own"):
            classes = {}
            for row, keys in zip(tables[name], seen, strict=True):
                classes.setdefault(keys[view], []).append((keys["person"], row[column]))
            failing = naive.failing(classes, model)
            wrong |= {(name, i) for i, keys in enumerate(seen) if keys[view] in failing}
    assert root
    return wrong


def _views(tables, links, name, row):
    """Return what a row can be told apart by, and whose it is."""
    path = ancestors(tables, links, name, row)
    root, person = path[0]
    tuples = [tuple(r[column] for column in links[table].quasi) for table, r in path]
    return {
        "person": person[links[root].key],
        "tree": repr(tree(tables, links, root, person)),
        "place": repr([tree(tables, links, table, r) for table, r in path]),
        "way": repr(tuples),
        "own": repr(tuples[-1]),
    }
