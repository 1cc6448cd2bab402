"""Round labels: what a release writes instead of the smallest and the largest value of a class.

Intervals of numbers and dates end at the public places of a grid; a node of a hierarchy with
exactly two children, both of which must be there where it is released, gives way to the one above
it. Only the domains change: boxes, members and searches stay as they are, and everything that
is worked out of a box (its label, its cost, the cell of a model) follows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from shoal.core.grids import ClockGrid, DateGrid, Grid, NumberGrid, RankGrid, Span, digits_of
from shoal.hierarchies.build import Dates, Mask
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Attribute, Kind, Schema
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding, joined


def rounded(recoding: Recoding, schema: Schema) -> Recoding:
    """Return the recoding with round labels; classes that now release the same are one.

    Centroids and levels of full-domain recoding are no people's values and stay as they are.

    Guarantee:
        What a class releases covers all its members, and it loses no less than before.
    """
    if recoding.released is not None or recoding.node is not None:
        return recoding
    return joined(replace(recoding, table=round_table(recoding.table, schema)))


def round_table(table: FrequencyTable, schema: Schema) -> FrequencyTable:
    """Return the table whose classes release round labels."""
    domains = tuple(round_domain(d, schema.attribute(d.name)) for d in table.domains)
    return replace(table, domains=domains)


def round_domain(domain: Domain, attribute: Attribute) -> Domain:
    """Return a column whose classes release round labels."""
    if domain.tree is None:
        return replace(domain, grid=grid_of(domain, attribute))
    # What a mask or a calendar may hide is known to everybody: more than two values.
    if isinstance(attribute.hierarchy, (Mask, Dates)):
        return domain
    return replace(domain, lift=lifts(domain.tree))


def lifts(tree: Hierarchy) -> tuple[int, ...]:
    """Return the node that is released for each node: the next one without exactly two children.

    Example:
        >>> tree = Hierarchy.from_tree("x", {"*": {"a": ["b", "c"], "d": ["e", "f", "g"]}})
        >>> [tree.labels[node] for node in lifts(tree)]
        ['b', 'c', '*', 'e', 'f', 'g', 'd', '*']
    """
    children = Counter(tree.parents)
    found = list(range(len(tree)))
    for node in range(len(tree) - 2, -1, -1):  # the root, the last one, has nothing above it
        if children[node] == 2:
            found[node] = found[tree.parents[node]]
    return tuple(found)


def grid_of(domain: Domain, attribute: Attribute) -> Grid | None:
    """Return the grid of a line; None where the values themselves are all that is known of it."""
    texts = [text for text in domain.labels if text is not None]
    if not texts:
        return None
    if domain.kind is Kind.NUMERIC:
        return NumberGrid(max(map(digits_of, texts)), _bounds(domain, attribute))
    if domain.kind is not Kind.DATE:
        return RankGrid(attribute.order) if attribute.order else None
    if texts[0][2:3] == ":":
        return ClockGrid()
    return DateGrid(attribute.date_format if attribute.dates == "same" else None)


def _bounds(domain: Domain, attribute: Attribute) -> tuple[float, float] | None:
    """Return the declared domain; None where values lie outside: cut-off labels would name them."""
    inner = domain.position[int(domain.has_missing) :]
    if attribute.bounds is None or not len(inner):
        return None
    low, high = attribute.bounds
    return attribute.bounds if low <= inner[0] and inner[-1] <= high else None


def read_span(domain: Domain, label: str) -> Span | None:
    """Return the interval that a round label of a line stands for; None if it is none."""
    if domain.kind is Kind.NUMERIC:
        return NumberGrid(0).read(label)
    if domain.kind is Kind.DATE:
        return DateGrid().read(label) or ClockGrid().read(label)
    return None
