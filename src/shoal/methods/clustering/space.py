"""From domains to the tables of losses that the clustering kernels look up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering.space import LINE, SCALE, TABLE, TREE, Space
from shoal.table.domain import WEIGHTED, WEIGHTED_EXAMPLE, Domain, weighted_heights

SHORT = 256
"""Columns of up to this many values get a full table: one look-up, and it stays in the cache."""


def space_of(
    domains: Sequence[Domain],
    *,
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
    (definition 11).

    Guarantee:
        The loss of a run never falls when the run grows, and does not depend on `short`.
    """
    heaviest = max((domain.weight for domain in domains), default=1.0)
    units = [SCALE * domain.weight / heaviest for domain in domains]
    parts: list[NDArray[np.int32]] = []
    kinds = []
    for domain, unit in zip(domains, units, strict=True):
        steps = _places(domain, unit)
        if domain.tree is not None:
            is_own = domain.distance in (WEIGHTED, WEIGHTED_EXAMPLE)
            beta = domain.beta if is_own else power
            turned = domain.distance == WEIGHTED_EXAMPLE if is_own else example
            steps = _tree_steps(domain, unit, beta, example=turned)
        if len(domain) <= short:
            kinds.append(TABLE)
            parts.append(_table(domain, steps, round(unit)))
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


def _places(domain: Domain, unit: float) -> NDArray[np.int32]:
    """Return the scaled positions of a line; the missing value's own is never used."""
    inner = domain.position[1:] if domain.has_missing else domain.position
    span = domain.span or 1.0
    places = np.zeros(len(domain), dtype=np.int32)
    if len(inner):
        places[len(domain) - len(inner) :] = np.rint((inner - inner[0]) / span * unit)
    return places


def _tree_steps(
    domain: Domain, unit: float, beta: float | None, *, example: bool
) -> NDArray[np.int32]:
    """Return two rows: each value's own height, and the height at which it meets the next."""
    tree = domain.tree
    if tree is None:
        raise TypeError("a line has no heights")
    heights = np.asarray(tree.heights) / max(tree.height, 1)
    if beta is not None:
        rises = weighted_heights(tree.height, beta=beta, example=example)
        heights = rises[np.asarray(tree.heights)]
    first, parents = np.asarray(tree.first), np.asarray(tree.parents)
    nodes = domain.position.astype(np.int64)
    steps = np.zeros((2, len(domain)), dtype=np.int32)
    steps[0] = np.rint(heights[nodes] * unit)
    if len(nodes) > 1:
        # Neighbours meet where a climb from the later one reaches the earlier one's place.
        goal, place = nodes[:-1], nodes[1:].copy()
        while (behind := first[place] > goal).any():
            place[behind] = parents[place[behind]]
        steps[1, :-1] = np.rint(heights[place] * unit)
    return steps


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
