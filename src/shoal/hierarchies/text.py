"""Hierarchies as text: the common CSV layout, nested documents, and a drawing."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from shoal.core.errors import HierarchyError
from shoal.hierarchies.tree import Hierarchy

_SEPARATORS = (";", ",", "\t")


def parse_csv(name: str, text: str) -> Hierarchy:
    r"""Read the common layout: a row a value, then its levels up to the root; no header.

    The separator is `;`, `,` or a tab, whichever gives rows of one width that end in
    one root. Quotes work as in any CSV file. Empty cells at the end of a row, as
    spreadsheets write them, are left out.

    Raises:
        HierarchyError: the text cannot be read as CSV, or is not a tree.

    Example:
        >>> parse_csv("sex", "female;*\nmale;*\n").labels
        ('female', 'male', '*')
    """
    body = text.removeprefix("\ufeff")
    used = [mark for mark in _SEPARATORS if mark in body] or [_SEPARATORS[0]]
    readings: list[list[list[str]]] = []
    broken: list[int] = []
    for mark in used:
        reader = csv.reader(io.StringIO(body, newline=""), delimiter=mark, strict=True)
        try:
            readings.append([_without_tail(row) for row in reader])
        except csv.Error:
            broken.append(reader.line_num)
    if not readings:
        raise HierarchyError(
            hierarchy=name,
            problem=f"line {broken[0]} cannot be read as CSV; close every quote, and double "
            "the quotes inside quoted cells",
        )
    return Hierarchy.from_rows(name, max(readings, key=_plausibility))


def _without_tail(row: list[str]) -> list[str]:
    while row and not row[-1].strip():
        row.pop()
    return row


def _plausibility(rows: Iterable[Sequence[str]]) -> tuple[bool, bool, bool]:
    """Rank a reading of the file; the earlier separator wins a tie."""
    filled = [row for row in rows if row]
    widths = {len(row) for row in filled}
    roots = {row[-1].strip() for row in filled}
    return max(widths, default=0) > 1, len(roots) == 1, len(widths) == 1


def to_csv(hierarchy: Hierarchy) -> str:
    r"""Write a hierarchy in the common layout, separated by `;`; `parse_csv` reads it back.

    Example:
        >>> to_csv(Hierarchy.flat("sex", ["female", "male"]))
        'female;*\nmale;*\n'
    """
    out = io.StringIO()
    csv.writer(out, delimiter=";", lineterminator="\n").writerows(hierarchy.to_rows())
    return out.getvalue()


def parse_tree(name: str, document: object) -> Hierarchy:
    """Read a document as YAML or JSON gives it: a nested tree, a list of rows, or our own.

    Our own is what `Hierarchy.to_document` wrote. A tree has a single key, its root, so
    the three cannot be mistaken for each other.

    Example:
        >>> parse_tree("place", {"*": {"Europe": ["France", "Italy"], "Asia": ["Japan"]}}).labels
        ('France', 'Italy', 'Europe', 'Japan', 'Asia', '*')
    """
    if isinstance(document, Mapping) and {"labels", "parents"} <= set(document):
        return Hierarchy.from_document(name, document)
    if isinstance(document, list) and document and all(isinstance(row, list) for row in document):
        return Hierarchy.from_rows(name, document)
    return Hierarchy.from_tree(name, document)


def draw(hierarchy: Hierarchy, max_lines: int = 200) -> str:
    """Draw the tree, at most `max_lines` lines (but at least three).

    A tree that does not fit is cut at the lowest depth that does, and says how many
    leaves a branch that was cut off has.

    Example:
        >>> print(draw(Hierarchy.from_tree("x", {"*": {"Europe": ["France", "Italy"]}})))
        *
        └── Europe
            ├── France
            └── Italy
    """
    budget = max(3, max_lines)
    depth = _depth_that_fits(hierarchy, budget)
    children: dict[int, list[int]] = {}
    for node, above in enumerate(hierarchy.parents[:-1]):
        if hierarchy.depths[node] <= depth:
            children.setdefault(above, []).append(node)
    room = budget - 2  # only a root with too many children exceeds it: see _depth_that_fits
    below = children.get(hierarchy.root, [])
    rest = below[room:] if len(below) > budget - 1 else []
    children[hierarchy.root] = below[: len(below) - len(rest)]
    lines = _lines(hierarchy, children, more=bool(rest))
    if rest:
        count = sum(hierarchy.leaf_counts[node] for node in rest)
        lines.append(f"└── … {len(rest)} more ({_leaves(count)})")
    return "\n".join(lines)


def _lines(hierarchy: Hierarchy, children: Mapping[int, list[int]], *, more: bool) -> list[str]:
    lines: list[str] = []
    stack = [(hierarchy.root, "", "")]
    while stack:
        node, lead, prefix = stack.pop()
        below = children.get(node, [])
        cut = not below and hierarchy.heights[node] > 0
        note = f" ({_leaves(hierarchy.leaf_counts[node])})" if cut else ""
        lines.append(lead + _printable(hierarchy.labels[node]) + note)
        for place, child in reversed(list(enumerate(below, start=1))):
            last = place == len(below) and not (more and node == hierarchy.root)
            branch, bar = ("└── ", "    ") if last else ("├── ", "│   ")
            stack.append((child, prefix + branch, prefix + bar))
    return lines


def _depth_that_fits(hierarchy: Hierarchy, budget: int) -> int:
    """Return the greatest depth at which the tree has no more lines than the budget, or 1."""
    counts = [0] * (hierarchy.height + 1)
    for depth in hierarchy.depths:
        counts[depth] += 1
    lines = 0
    for depth, count in enumerate(counts):
        lines += count
        if lines > budget:
            return max(1, depth - 1)
    return hierarchy.height


def _leaves(count: int) -> str:
    return f"{count} leaf" if count == 1 else f"{count} leaves"


def _printable(label: str) -> str:
    """Escape what could move a terminal's cursor or break a line."""
    if label.isprintable():
        return label
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in label)
