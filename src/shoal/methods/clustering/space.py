"""From domains to the tables of losses that the clustering kernels look up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shoal.core.grids import Grid
from shoal.hierarchies.tree import Hierarchy
from shoal.kernels.clustering.space import LINE, SCALE, TABLE, TREE, Space
from shoal.methods.method import Setting
from shoal.table.domain import (
    MISSING_NODE,
    WEIGHTED,
    WEIGHTED_EXAMPLE,
    Domain,
    weighted_heights,
)

SHORT = 256
"""Columns of up to this many values get a full table: one look-up, and it stays in the cache."""

ROUND = 128
"""Lines of up to this many values are searched by their round intervals: to know all of them takes
up to a tenth of a second. Longer ones are searched by the values themselves."""

HEIGHT, LEAVES = "ncp", "loss"
"""What a box loses in a column: its height or width; or the share of the leaves below it."""


def measure_of(setting: Setting) -> str:
    """Return what a clustering minimizes in each column."""
    return LEAVES if setting.utility == LEAVES else HEIGHT


def space_of(
    domains: Sequence[Domain],
    *,
    measure: str = HEIGHT,
    is_round: bool = False,
    short: int = SHORT,
    power: float | None = None,
    example: bool = False,
) -> Space:
    """Return the columns' losses as whole numbers, SCALE for all of the heaviest column.

    A node of a tree costs its height, all heights alike ([netshiunda2020], definitions 12 to 14). A
    column whose distance is "weighted" or "weighted-example" costs the weighted hierarchical
    distance from its leaves instead (definition 5, by its formula or by its example), height
    weights with the column's beta, uniform ones with a beta of 0; `power` and `example` do
    the same for every other tree. A line costs its share of the range whatever its distance
    (definition 11). By LEAVES, a node costs the share of all leaves but one that it has beside
    one of its own, and a line the share of the leaves of its hierarchy, or else of its values.

    Where nodes give way to higher ones in round labels, what these cost counts; is_round: the same
    for intervals, so that the loss of a run is no longer the way from one end to the other.

    Guarantee:
        The loss of a run never falls when the run grows, and does not depend on `short`.
    """
    heaviest = max((domain.weight for domain in domains), default=1.0)
    units = [SCALE * domain.weight / heaviest for domain in domains]
    parts: list[NDArray[np.int32]] = []
    kinds = []
    for domain, unit in zip(domains, units, strict=True):
        steps = _places(domain, unit, measure)
        if domain.tree is not None and measure == LEAVES:
            steps = _tree_steps(domain, leaf_shares(domain.tree), unit)
        elif domain.tree is not None:
            is_own = domain.distance in (WEIGHTED, WEIGHTED_EXAMPLE)
            beta = domain.beta if is_own else power
            turned = domain.distance == WEIGHTED_EXAMPLE if is_own else example
            steps = _tree_steps(domain, _heights(domain.tree, beta, example=turned), unit)
        if len(domain) <= short:
            kinds.append(TABLE)
            table = _table(domain, steps, round(unit))
            parts.append(_rounded(table, domain, unit, measure) if is_round else table)
        elif domain.tree is None:
            kinds.append(LINE)
            parts.append(steps)
        else:
            kinds.append(TREE)
            parts.append(_sparse(steps))
    longest = max((len(domain) for domain in domains), default=0)
    starts = np.cumsum([0, *(part.size for part in parts)])
    facts = [
        (kind, len(d), start, d.has_missing and d.tree is None, round(unit), d.tree is not None)
        for kind, d, start, unit in zip(kinds, domains, starts[:-1], units, strict=True)
    ]
    return Space(
        column=np.array(facts, dtype=np.int64).reshape(-1, 6),
        flat=np.concatenate([np.zeros(0, dtype=np.int32), *(part.ravel() for part in parts)]),
        log=np.frexp(np.arange(longest + 1))[1].astype(np.int64) - 1,
    )


def _places(domain: Domain, unit: float, measure: str) -> NDArray[np.int32]:
    """Return the scaled positions of a line; the missing value's own is never used."""
    places = np.zeros(len(domain), dtype=np.int32)
    inner = domain.position[1:] if domain.has_missing else domain.position
    if domain.tree is None and len(inner):
        away = (inner - inner[0]) / (domain.span or 1.0)
        if measure == LEAVES:
            leaves = leaves_of_line(domain)
            rank = np.searchsorted(leaves, inner)
            away = (rank - rank[0]) / most_leaves(domain, leaves)
        places[len(domain) - len(inner) :] = np.rint(np.minimum(away, 1.0) * unit)
    return places


def leaves_of_line(domain: Domain) -> NDArray[np.float64]:
    """Return where the leaves of a line stand: of its hierarchy, or its values."""
    own = domain.position[int(domain.has_missing) :]
    if domain.ladder is None or domain.kind != "numeric":
        return own
    names = [domain.ladder.labels[i] for i in domain.ladder.leaves]
    try:
        return np.array(sorted(float(name) for name in names if name != MISSING_NODE))
    except ValueError:  # leaves that are no numbers
        return own


def most_leaves(domain: Domain, leaves: NDArray[np.float64]) -> int:
    """Return how many leaves the whole column has beside one of its own."""
    return max(len(leaves) + domain.has_missing - 1, 1)


def leaf_shares(tree: Hierarchy) -> NDArray[np.float64]:
    """Return for each node the share of all leaves but one that it has beside one of its own."""
    own = np.asarray(tree.leaf_counts, dtype=np.float64)
    shares: NDArray[np.float64] = np.maximum(own - 1, 0) / max(float(own[tree.root]) - 1, 1.0)
    return shares


def _heights(tree: Hierarchy, beta: float | None, *, example: bool) -> NDArray[np.float64]:
    heights = np.asarray(tree.heights)
    if beta is None:
        return heights / max(tree.height, 1)
    rises = weighted_heights(tree.height, beta=beta, example=example)
    found: NDArray[np.float64] = rises[heights]
    return found


def _tree_steps(domain: Domain, shares: NDArray[np.float64], unit: float) -> NDArray[np.int32]:
    """Return two rows: each value's own loss, and the loss of what it and the next are part of.

    shares: what each node of the tree loses; of two on a way up, the higher one no less.
    """
    tree = domain.tree
    if tree is None:
        raise TypeError("a line has no heights")
    first, parents = np.asarray(tree.first), np.asarray(tree.parents)
    nodes = domain.position.astype(np.int64)
    steps = np.zeros((2, len(domain)), dtype=np.int32)
    steps[0] = np.rint(shares[nodes] * unit)
    if len(nodes) > 1:
        # Neighbours meet where a climb from the later one reaches the earlier one's place.
        goal, place = nodes[:-1], nodes[1:].copy()
        while (behind := first[place] > goal).any():
            place[behind] = parents[place[behind]]
        released = place if domain.lift is None else np.asarray(domain.lift)[place]
        steps[1, :-1] = np.rint(shares[released] * unit)
    return steps


def _rounded(
    table: NDArray[np.int32], domain: Domain, unit: float, measure: str
) -> NDArray[np.int32]:
    """Return a short line's table with what its round intervals lose, where it has them."""
    gone = int(domain.has_missing)
    number = len(domain) - gone
    if domain.tree is not None or domain.grid is None or not 1 < number <= ROUND:
        return table
    begin, end = _spans(domain.grid, tuple(str(text) for text in domain.labels[gone:]))
    table[gone:, gone:] = np.rint(round_shares(domain, begin, end, measure) * unit)
    np.fill_diagonal(table, 0)
    # A longer interval may have fewer values: a search counts on its losing no less.
    np.maximum.accumulate(table, axis=1, out=table)
    table[::-1] = np.maximum.accumulate(table[::-1], axis=0)
    return np.triu(table)


def round_shares(
    domain: Domain, begin: NDArray[np.float64], end: NDArray[np.float64], measure: str
) -> NDArray[np.float64]:
    """Return what intervals of a grid lose."""
    if measure == LEAVES:
        leaves = leaves_of_line(domain)
        inside = np.searchsorted(leaves, end, side="right") - np.searchsorted(leaves, begin)
        lost = np.maximum(inside - 1, 0) / most_leaves(domain, leaves)
    else:
        lost = (end - begin) / (domain.span or 1.0)
    found: NDArray[np.float64] = np.minimum(lost, 1.0)
    return found


@lru_cache(maxsize=32)
def _spans(grid: Grid, texts: tuple[str, ...]) -> NDArray[np.float64]:
    """Return where the intervals around any two values begin, and where they end."""
    found = np.zeros((2, len(texts), len(texts)))
    for low, first in enumerate(texts):
        for high in range(low + 1, len(texts)):
            span = grid.span(first, texts[high])
            found[:, low, high] = span.begin, span.end
    return found


def _table(domain: Domain, steps: NDArray[np.int32], unit: int) -> NDArray[np.int32]:
    size = len(domain)
    table = np.zeros((size, size), dtype=np.int32)
    if domain.tree is None:
        table[:] = np.triu(steps[None, :] - steps[:, None])
        if domain.has_missing:
            table[0, 1:] = unit
        return table
    for low in range(size):
        table[low, low] = steps[0, low]
        table[low, low + 1 :] = np.maximum.accumulate(steps[1, low:-1])
    return table


def _sparse(steps: NDArray[np.int32]) -> NDArray[np.int32]:
    rows = [steps[0], steps[1]]
    width = 1
    while 2 * width < len(steps[1]):
        longer = rows[-1].copy()
        longer[:-width] = np.maximum(rows[-1][:-width], rows[-1][width:])
        rows.append(longer)
        width *= 2
    return np.stack(rows)
