"""How labels of several items are written in a cell, and read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from shoal.core.errors import InputError
from shoal.hierarchies.tree import Hierarchy

Nodes = Mapping[frozenset[str], str]
"""The names of the inner nodes of a hierarchy of items, by the items below them."""


def joiner(separator: str) -> str:
    """Return what stands between the items of a label: never what stands between labels.

    Example:
        >>> joiner("|"), joiner(",")
        (', ', '; ')
    """
    return next(mark for mark in (", ", "; ", ",", ";") if separator not in mark)


def write_label(items: Sequence[str], separator: str) -> str:
    """Return the text of a label.

    One item is written as it is; several in brackets, those in quotes that would be misread.

    Example:
        >>> write_label(["wine"], "|"), write_label(["beer", "wine, red"], "|")
        ('wine', '(beer, "wine, red")')
    """
    if len(items) == 1 and not _is_joined(items[0]):
        return items[0]
    return f"({joiner(separator).join(map(_quoted, items))})"


def _is_joined(text: str) -> bool:
    return text.startswith("(") and text.endswith(")")


def _quoted(item: str) -> str:
    plain = not any(mark in item for mark in '",;()') and item == item.strip() and item
    return item if plain else '"' + item.replace('"', '""') + '"'


def read_label(text: str, separator: str) -> tuple[str, ...]:
    """Return the items of a label, as `write_label` wrote it.

    Example:
        >>> read_label('(beer, "wine, red")', "|")
        ('beer', 'wine, red')
    """
    if not _is_joined(text):
        return (text,)
    found, rest, mark = [], text[1:-1], joiner(separator)
    while True:
        if rest.startswith('"'):
            end = 1
            while end < len(rest) and not (rest[end] == '"' and rest[end + 1 : end + 2] != '"'):
                end += 2 if rest[end] == '"' else 1
            found.append(rest[1:end].replace('""', '"'))
            rest = rest[end + 1 :]
        else:
            item, _, _ = rest.partition(mark)
            found.append(item)
            rest = rest[len(item) :]
        if not rest.startswith(mark):
            return tuple(found) if not rest else (text,)
        rest = rest[len(mark) :]


def check_items(items: Iterable[str], separator: str, where: str) -> None:
    """Refuse items that could not be told apart once they are written in one cell.

    Raises:
        InputError: says how many; never which.
    """
    broken = sum(separator in item or "\n" in item or "\r" in item for item in items)
    if broken:
        raise InputError(
            where=where,
            problem=f"{broken} items hold {separator!r} or a line break, which separates items; "
            "choose another separator (--set-sep), or rename them",
        )


def nodes_of(tree: Hierarchy | None, items: Sequence[str]) -> Nodes:
    """Return the names of sets of items that are exactly what a node of the hierarchy stands for.

    A node that shares its name with an item, or with another node, is named with its level.
    """
    if tree is None:
        return {}
    found: dict[frozenset[str], str] = {}
    taken = set(items)
    for level, groups in enumerate(item_groups(tree, items)[:-1], start=1):
        members: dict[int, list[str]] = {}
        for item, group in zip(items, groups, strict=True):
            members.setdefault(group, []).append(item)
        for group, below in members.items():
            name = tree.labels[group]
            if name in taken or _is_joined(name):
                name = f"{name} (level {level})"
            if len(below) > 1 and frozenset(below) not in found and name not in taken:
                found[frozenset(below)] = name
                taken.add(name)
    return found


def item_groups(tree: Hierarchy, items: Sequence[str]) -> list[list[int]]:
    """Return the node above each item at each level, from the first above it up to the root.

    Raises:
        InputError: items are missing from the hierarchy; their number is told.
    """
    places = [tree.get(item) if item in tree else tree.get(item.strip()) for item in items]
    missing = sum(place is None for place in places)
    if missing:
        raise InputError(
            where=f"hierarchy {tree.name}",
            problem=f"{missing} of {len(items)} items are missing; add them as leaves",
        )
    height = max(tree.height, 1)
    known = [place for place in places if place is not None]
    return [[tree.ancestor(place, level) for place in known] for level in range(1, height + 1)]
