"""How tables hang together: which column is a key, which repeats it, which table is the persons'.

A key has a value in every row, and no value twice. A column of another table hangs on it if it has
the same header, or the name of that table before `id`, and all its values are values of the key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from shoal.inference.column import ColumnFacts
from shoal.inference.headers import names_person, words_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What a table hangs on: a column of its own has the key of its parent."""

    parent: str
    foreign_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Linked tables, as they seem to be.

    Attributes:
        root: the table of the persons.
        keys: the key of each table that has one.
        parents: what each table but the root hangs on.
        others: of each table, further columns that repeat a key: they link rows, too.
        apart: tables that hang on nothing.
    """

    root: str
    keys: Mapping[str, str]
    parents: Mapping[str, Link]
    others: Mapping[str, tuple[str, ...]]
    apart: tuple[str, ...]


Holds = Callable[[str, str, str, str], bool]
"""Say whether all values of a table's column are values of another one's: (table, column, …)."""


def links_of(tables: Mapping[str, Sequence[ColumnFacts]], holds: Holds) -> Links | None:
    """Return how tables hang together; None where no table is the persons'.

    Of several tables that a row leads to, the one that hangs on most others is its parent: the
    stay of a prescription leads to the patient, too. The persons' table is the one that most
    tables hang on; of several, the one whose key names persons.
    """
    unique = {name: [c.name for c in columns if _is_key(c)] for name, columns in tables.items()}
    found = _all_links(tables, unique, holds)
    _without_circles(found, unique)
    best = _nearest(found)
    root = _persons(tables, best, unique)
    if root is None:
        return None
    mine = [name for name in tables if _root(name, best) == root]
    keys = {name: _key(name, mine, best, unique[name]) for name in mine}
    return Links(
        root=root,
        keys={name: key for name, key in keys.items() if key is not None},
        parents={name: best[name][0] for name in mine if name in best},
        others={name: _others(found[name], best[name]) for name in mine if name in best},
        apart=tuple(name for name in tables if name not in mine),
    )


def _nearest(found: Mapping[str, Sequence[tuple[Link, str]]]) -> dict[str, tuple[Link, str]]:
    """Return the parent of each table that hangs on some: the one that hangs on most others."""
    depth = {name: _depth(name, found, ()) for name in found}
    return {
        name: max(links, key=lambda each: depth[each[0].parent])
        for name, links in found.items()
        if links
    }


def _persons(
    tables: Collection[str],
    best: Mapping[str, tuple[Link, str]],
    unique: Mapping[str, Sequence[str]],
) -> str | None:
    """Return the table that most others hang on; None where none hangs on another."""
    below = {name: sum(_root(other, best) == name for other in tables) for name in tables}
    roots = [name for name in tables if name not in best and below[name] > 1]
    rank = {name: (below[name], any(map(names_person, unique[name]))) for name in roots}
    return max(roots, key=rank.__getitem__, default=None)


def _all_links(
    tables: Mapping[str, Sequence[ColumnFacts]], unique: Mapping[str, Sequence[str]], holds: Holds
) -> dict[str, list[tuple[Link, str]]]:
    """Return every column that repeats a key of another table, and that key."""
    pairs = [(p, key) for p, keys in unique.items() for key in keys]
    return {
        name: [
            (Link(parent=parent, foreign_key=column.name), key)
            for column in columns
            for parent, key in pairs
            if parent != name
            and _fits(column.name, parent, key)
            and holds(name, column.name, parent, key)
        ]
        for name, columns in tables.items()
    }


def _key(
    name: str,
    mine: Sequence[str],
    best: Mapping[str, tuple[Link, str]],
    unique: Sequence[str],
) -> str | None:
    """Return the key of a table: what others hang on, or what is called an id."""
    links = [best[other] for other in mine if other in best]
    asked = [key for link, key in links if link.parent == name]
    up = best[name][0].foreign_key if name in best else None
    named = [key for key in unique if key != up and words_of(key)[-1:] == ["id"]]
    return next(iter([*asked, *named]), None)


def _others(links: Sequence[tuple[Link, str]], taken: tuple[Link, str]) -> tuple[str, ...]:
    """Return the columns that repeat a key, but for the one that says the parent."""
    names = (link.foreign_key for link, _ in links)
    return tuple(name for name in dict.fromkeys(names) if name != taken[0].foreign_key)


def _is_key(column: ColumnFacts) -> bool:
    whole = 0 < column.records == column.distinct and not column.missing
    return whole and column.form not in ("decimal", "date", "boolean")


def _fits(column: str, parent: str, key: str) -> bool:
    """Say whether a header can name the key of a table: patient_id that of patients."""
    own, other = words_of(column), words_of(key)
    if own == other:
        return own != ["id"]
    table = words_of(parent)
    return other == ["id"] and own[-1:] == ["id"] and _singular(own[:-1]) == _singular(table)


def _singular(words: list[str]) -> list[str]:
    return [*words[:-1], *(word.removesuffix("s") for word in words[-1:])]


def _without_circles(
    found: dict[str, list[tuple[Link, str]]], unique: Mapping[str, Sequence[str]]
) -> None:
    """Of two tables with a row for each other's, let the one hang whose key the other names."""
    for name, links in found.items():
        for each in list(links):
            parent = each[0].parent
            back = [other for other in found[parent] if other[0].parent == name]
            if back and each[0].foreign_key in unique[name]:
                stem = _singular(words_of(each[1])[:-1])
                mine, other = (stem == _singular(words_of(table)) for table in (name, parent))
                if mine or (not other and name < parent):
                    links.remove(each)


def _depth(
    name: str, found: Mapping[str, Sequence[tuple[Link, str]]], below: tuple[str, ...]
) -> int:
    if name in below:  # a circle
        return 0
    way = (*below, name)
    return max((1 + _depth(link.parent, found, way) for link, _ in found[name]), default=0)


def _root(name: str, best: Mapping[str, tuple[Link, str]]) -> str:
    """Return the table at the top; of a circle, which has none, the table itself."""
    at, steps = name, 0
    while at in best and steps <= len(best):
        at, steps = best[at][0].parent, steps + 1
    return name if at in best else at
