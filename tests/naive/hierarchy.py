"""The slow, obvious twin of `shoal.hierarchies.tree`: trees as a dict from label to parent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Parents = Mapping[str, str | None]


def ancestors(parents: Parents, label: str) -> list[str]:
    """Return the label, its parent, … and the root."""
    path = [label]
    while (above := parents[path[-1]]) is not None:
        path.append(above)
    return path


def leaves(parents: Parents) -> list[str]:
    return [label for label in parents if label not in parents.values()]


def leaves_below(parents: Parents, label: str) -> list[str]:
    return [leaf for leaf in leaves(parents) if label in ancestors(parents, leaf)]


def height(parents: Parents, label: str) -> int:
    return max(ancestors(parents, leaf).index(label) for leaf in leaves_below(parents, label))


def depth(parents: Parents, label: str) -> int:
    return len(ancestors(parents, label)) - 1


def lca(parents: Parents, labels: Iterable[str]) -> str:
    first, *others = labels
    for candidate in ancestors(parents, first):
        if all(candidate in ancestors(parents, other) for other in others):
            return candidate
    raise AssertionError("a tree has a root")


def padded(parents: Parents, leaf: str) -> list[str]:
    """Return the levels of a leaf: its path, with the topmost node below the root repeated."""
    tree_height = max(depth(parents, label) for label in parents)
    *path, root = ancestors(parents, leaf)
    return path + path[-1:] * (tree_height - len(path)) + [root]


def levels(parents: Parents, label: str) -> list[str]:
    """Return the levels of any node: itself until some leaf has come so far, then that leaf's."""
    rows = [padded(parents, leaf) for leaf in leaves_below(parents, label)]
    arrived, row = min((row.index(label), row) for row in rows)
    return [label] * arrived + row[arrived:]


def row_levels(rows: list[tuple[str, ...]]) -> dict[str, list[str]]:
    """Return the levels of each value of rows that have one length: the rows themselves."""
    return {row[0]: list(row) for row in rows}
