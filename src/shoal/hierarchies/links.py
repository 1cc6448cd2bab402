"""What a hierarchy is read from: rows, nested trees and maps of parents, all as links.

Links are the parent of each label, None for the root, in order of first appearance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise
from typing import NoReturn

from shoal.core.errors import HierarchyError
from shoal.core.numbers import number_text

Links = dict[str, str | None]
Row = tuple[str, ...]


def refuse(name: str, problem: str) -> NoReturn:
    """Raise the fault of a hierarchy."""
    raise HierarchyError(hierarchy=name, problem=problem)


def _counted(places: Iterable[int], where: str, how: str) -> str:
    """Say how many values stand where: "level 2: 3 values stand under two parents"."""
    return ", ".join(
        f"{where} {place}: {count} {'values stand' if count > 1 else 'value stands'} {how}"
        for place, count in sorted(Counter(places).items())
    )


def _label(name: str, label: object) -> str:
    if isinstance(label, bool) or not isinstance(label, str | int | float):
        refuse(name, "a label is neither text nor a number; write labels in quotes")
    text = label.strip() if isinstance(label, str) else number_text(label)
    return text or refuse(name, "a label is empty; give every value a text")


def clean_rows(name: str, rows: Iterable[Sequence[str]], strip: bool) -> list[Row]:
    """Return rows as tuples of texts, without empty ones.

    Raises:
        HierarchyError: a row of something else, an empty label, or no row at all.
    """
    given = list(rows)
    is_text = [issubclass(kind, str) for kind in {*map(type, given)}]
    if any(is_text) or not all(
        issubclass(x, str) for x in {*map(type, chain.from_iterable(given))}
    ):
        refuse(name, "a row is not a list of texts; give value, level 1, …, root")
    cells = (tuple(map(str.strip, row)) if strip else tuple(row) for row in given)
    cleaned = [row for row in cells if any(row)]
    if not cleaned:
        refuse(name, "it is empty; give at least one row of value, level 1, …, root")
    blank = [i for row in cleaned if "" in row for i, cell in enumerate(row) if not cell]
    if blank:
        refuse(name, f"{_counted(blank, 'level', 'without a label')}; give every cell a text")
    return cleaned


def _pairs(rows: Iterable[Row]) -> list[set[tuple[str, str]]]:
    """Return, for each level, the different pairs of a label and the label after it."""
    by_width: dict[int, list[Row]] = {}
    for row in rows:
        by_width.setdefault(len(row), []).append(row)
    pairs: list[set[tuple[str, str]]] = [set() for _ in range(max(by_width) - 1)]
    for alike in by_width.values():  # by column, because that loop is not Python's
        for found, two in zip(pairs, pairwise(zip(*alike, strict=True)), strict=False):
            found.update(zip(*two, strict=True))
    return pairs


def links_of_rows(name: str, rows: Sequence[Row]) -> Links:
    """Return the links of rows of the form value, level 1, …, root."""
    found: Links = {}
    twice: dict[str, int] = {}
    for level, pairs in enumerate(_pairs(rows)):
        for label, above in pairs:
            if label != above and found.setdefault(label, above) != above:
                twice.setdefault(label, level)
    tops = {row[-1] for row in rows}
    if twice or not tops.isdisjoint(found):
        _refuse_cycles(name, rows)
    if len(tops) > 1:
        refuse(
            name,
            f"level {max(map(len, rows)) - 1}: {len(tops)} different labels stand at the top, so "
            "there is no single root; end every row with the same label, such as *",
        )
    if twice:
        where = _counted(twice.values(), "level", "under two parents")
        refuse(name, f"{where}; give each one parent, or tell labels of the same name apart")
    return {label: found.get(label) for label in dict.fromkeys(chain.from_iterable(rows))}


def _refuse_cycles(name: str, rows: Iterable[Row]) -> None:
    cycles: dict[str, int] = {}
    for row in rows:
        path = [label for label, _ in groupby(row)]
        for label, times in Counter(path).items():
            if times > 1:
                cycles.setdefault(label, row.index(label))
    if cycles:
        where = _counted(cycles.values(), "level", "above itself (a cycle)")
        refuse(
            name,
            f"{where}; let each row only go up, and tell labels of the same name apart",
        )


def links_of_tree(name: str, tree: object) -> Links:
    """Return the links of a nested tree, as YAML or JSON gives it."""
    links: Links = {}
    twice: list[int] = []
    pending: list[tuple[str | None, int, object]] = [(None, 0, tree)]
    while pending:
        above, depth, children = pending.pop()
        for label, below in _children(name, children):
            if label in links:
                # Never followed again: a document may contain itself. A repeated leaf is harmless.
                if links[label] != above or below is not None:
                    twice.append(depth)
                continue
            links[label] = above
            if below is not None:
                pending.append((label, depth + 1, below))
    if twice:
        where = _counted(twice, "depth", "under two parents or above itself")
        refuse(name, f"{where}; give each one place, or tell labels of the same name apart")
    return links


def _children(name: str, children: object) -> Iterator[tuple[str, object]]:
    items = children if isinstance(children, list | tuple) else [children]
    for item in items:
        if isinstance(item, Mapping):
            for label, below in item.items():
                yield _label(name, label), below
        else:
            yield _label(name, item), None


def links_of_parents(name: str, parents: Mapping[str, str | None]) -> Links:
    """Return the links of a mapping from each label to its parent, the root's `None` or absent."""
    links: Links = {}
    for label, above in parents.items():
        links.setdefault(_label(name, label), None)
        if above is not None:
            links.setdefault(_label(name, above), None)
    for label, above in parents.items():
        if above is not None:
            links[_label(name, label)] = _label(name, above)
    return links


def post_order(name: str, links: Links) -> tuple[list[str], list[int]]:
    """Return the labels in post-order, and the place of each one's parent; -1 for the root.

    Raises:
        HierarchyError: there is no label, no single root, or a cycle.
    """
    children: dict[str, list[str]] = {}
    roots: list[str] = []
    for label, above in links.items():
        (roots if above is None else children.setdefault(above, [])).append(label)
    if not links:
        refuse(name, "it is empty; give at least one value")
    if len(roots) > 1:
        refuse(
            name,
            f"depth 0: {len(roots)} values have no parent, so there is no single "
            "root; put them under one, such as *",
        )
    order, stack = [], list(roots)
    while stack:  # the mirror image of a pre-order is a post-order
        label = stack.pop()
        order.append(label)
        stack.extend(children.get(label, ()))
    if len(order) < len(links):
        refuse(
            name,
            f"{len(links) - len(order)} values never reach the root (a cycle); let "
            "each chain of parents end at it",
        )
    order.reverse()
    place = {label: node for node, label in enumerate(order)}
    return order, [-1 if (above := links[x]) is None else place[above] for x in order]


def steps_of_rows(name: str, rows: Sequence[Row], links: Links) -> list[dict[str, str]]:
    """Return, for each level but the last, where a label that stands there goes next."""
    width = max(map(len, rows))
    steps: list[dict[str, str]] = [{} for _ in range(width - 1)]
    clashes: set[tuple[int, str]] = set()
    for level, pairs in enumerate(_pairs(row for row in rows if len(row) == width)):
        for label, above in pairs:
            if steps[level].setdefault(label, above) != above:
                clashes.add((level + 1, label))
    if clashes:
        where = _counted([level for level, _ in clashes], "level", "repeated in some rows only")
        refuse(name, f"{where}; let all rows leave a label at the same level")
    inner = set(links.values())
    for row in rows:
        if len(row) < width and row[0] not in inner:
            padded = (*row[:-1], *row[-2:-1] * (width - len(row)), row[-1])
            label = row[0]
            for level in range(width - 1):  # where other rows have been, it follows them
                label = steps[level].setdefault(label, padded[level + 1])
    return steps
