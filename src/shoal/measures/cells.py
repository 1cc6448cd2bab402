"""What one released cell costs: by height, by level, and by leaves covered."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.core.grids import DASH, Span
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Kind
from shoal.table.domain import Domain
from shoal.table.rounding import read_span


class CellCost(NamedTuple):
    """Shares in 0 … 1 that a released cell loses.

    height: H(released node) / H(tree), or interval width / range ([netshiunda2020] and [lin2008]).
    level: level of the released node / height of the tree (precision, [lim2018]'s height).
    cover: leaves of the hierarchy under the released value / all leaves.
    """

    height: float
    level: float
    cover: float


NOTHING = CellCost(0.0, 0.0, 0.0)
EVERYTHING = CellCost(1.0, 1.0, 1.0)


def cost_of_run(domain: Domain, low: int, high: int) -> CellCost:
    """Return the cost of releasing the codes low … high as one cell."""
    if domain.is_blank and low != high:
        return EVERYTHING
    if domain.tree is not None:
        return cost_of_node(domain.tree, domain.released_node(low, high))
    if low == 0 and domain.has_missing:
        return cost_of_missing(domain) if high == 0 else EVERYTHING
    if low != high and domain.grid is not None and domain.span:
        return _cost_of_span(domain, domain.released_span(low, high))
    width = domain.cost(low, high)
    return CellCost(width, width, _line_cover(domain, low, high))


def _cost_of_span(domain: Domain, span: Span) -> CellCost:
    """Return the cost of an interval of a grid; it may go beyond the values that there are."""
    width = min((span.end - span.begin) / (domain.span or 1.0), 1.0)
    numbers = _ladder_numbers(domain)
    known = domain.position[int(domain.has_missing) :] if numbers is None else numbers
    inside = bisect_right(known, span.end) - bisect_left(known, span.begin)
    return CellCost(width, width, inside / _line_leaves(domain))


def costs_on_line(
    domain: Domain, low: NDArray[np.integer], high: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return what `cost_of_run` says of many runs of a column without a tree, one a row."""
    first, last = domain.position[low], domain.position[high]
    width = np.where(low == high, 0.0, (last - first) / (domain.span or 1.0))
    numbers = _ladder_numbers(domain)
    if numbers is None:
        inside = high.astype(np.int64) - low + 1
    else:
        inside = np.searchsorted(numbers, last, side="right") - np.searchsorted(numbers, first)
    costs = np.stack((width, width, inside / _line_leaves(domain)), axis=1)
    if domain.has_missing:
        costs[(low == 0) & (high == 0)] = cost_of_missing(domain)
        costs[(low == 0) & (high > 0)] = EVERYTHING
    return costs


def cost_of_missing(domain: Domain) -> CellCost:
    """Return the cost of an empty cell that is released as empty."""
    return CellCost(0.0, 0.0, 1 / _line_leaves(domain))


def cost_of_node(tree: Hierarchy, node: int) -> CellCost:
    """Return the cost of releasing one node of a tree."""
    height = max(tree.height, 1)
    level = 0 if tree.heights[node] == 0 else tree.height - tree.depths[node]
    return CellCost(
        tree.heights[node] / height,
        level / height,
        tree.leaf_counts[node] / tree.leaf_counts[tree.root],
    )


def leaves(domain: Domain) -> int:
    """Return the number of leaves that `cover` counts."""
    if domain.tree is not None:
        return domain.tree.leaf_counts[domain.tree.root]
    return _line_leaves(domain)


def _ladder_numbers(domain: Domain) -> list[float] | None:
    """Return the leaves of a numeric column's hierarchy as numbers, where they are numbers."""
    if domain.ladder is None or domain.kind is not Kind.NUMERIC:
        return None
    ladder = domain.ladder
    try:
        return sorted(
            float(ladder.labels[i]) for i in ladder.leaves if ladder.labels[i][0] != "\x00"
        )
    except ValueError:
        return None


def _line_leaves(domain: Domain) -> int:
    numbers = _ladder_numbers(domain)
    if numbers is None:
        return max(len(domain), 1)
    return len(numbers) + domain.has_missing


def _line_cover(domain: Domain, low: int, high: int) -> float:
    numbers = _ladder_numbers(domain)
    if numbers is None:
        return (high - low + 1) / len(domain)
    inside = bisect_right(numbers, domain.position[high]) - bisect_left(
        numbers, domain.position[low]
    )
    return inside / _line_leaves(domain)


def costs_of_labels(domain: Domain, labels: Sequence[str | None]) -> list[CellCost]:
    """Return the cost of all labels of a released column from their texts alone.

    A quarter or a year is an interval like others where intervals of a grid stand beside it;
    otherwise it is a level of the column's hierarchy, if that has it.
    """
    is_round = any(
        label is not None and DASH in label and read_span(domain, label) is not None
        for label in labels
    )
    return [cost_of_label(domain, label, is_round=is_round) for label in labels]


def cost_of_label(domain: Domain, label: str | None, *, is_round: bool = False) -> CellCost:
    """Return the cost of a released cell from its text alone.

    is_round: an interval of a grid that is a node of the hierarchy, too, costs what it spans.

    Raises:
        InputError: the text is no label of this column.
    """
    if label is None or label == "":
        if domain.tree is None:
            return cost_of_missing(domain)
        return CellCost(0.0, 0.0, 1 / leaves(domain))
    if domain.tree is not None:
        node = domain.tree.get(label)
        if node is not None:
            return cost_of_node(domain.tree, node)
    elif label == domain.root:
        return EVERYTHING
    else:
        code = {text: i for i, text in enumerate(domain.labels) if text is not None}
        run = run_of_label(code, label)
        if run is not None:
            return cost_of_run(domain, *run)
        rung = None if domain.ladder is None else domain.ladder.get(label)
        span = read_span(domain, label)
        if span is not None and (is_round or rung is None):
            return _cost_of_span(domain, span)
        if domain.ladder is not None and rung is not None:
            return cost_of_node(domain.ladder, rung)
    raise InputError(
        where=f"column {domain.name!r}",
        problem="the release holds a label that neither the table nor the hierarchy explains",
    )


def run_of_label(code: dict[str, int], label: str) -> tuple[int, int] | None:
    """Return the first and last code of an interval on a line, from the code of each value."""
    if label in code:
        return code[label], code[label]
    if not (label.startswith("[") and label.endswith("]")):
        return None
    parts = label[1:-1].split(", ")
    for i in range(1, len(parts)):  # an ordinal value may hold a comma itself
        low, high = ", ".join(parts[:i]), ", ".join(parts[i:])
        if low in code and high in code:
            return code[low], code[high]
    return None
