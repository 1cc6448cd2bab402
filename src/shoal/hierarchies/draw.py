"""A hierarchy as a drawing for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.hierarchies.tree import Hierarchy


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
