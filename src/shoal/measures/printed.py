"""What the labels of a release say about single records, counted in closed form.

An interval from the smallest to the largest value of a class prints two values: for each end
somebody in the class has it. A node with two children says that somebody has each of them. Where
all other columns of a class are single values, each end is even a whole tuple that must exist.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.schema.schema import Labels
from shoal.table.domain import Domain
from shoal.table.recoding import Recoding
from shoal.table.rounding import lifts


@dataclass(frozen=True, kw_only=True)
class Printed:
    """What the labels of classes give away, whoever the people are.

    Attributes:
        labels: round or tight.
        ends: ends of intervals that are values of the class.
        ends_of_one: those of them that exactly one record of the class has; None: not known.
        tuples: whole tuples that must exist, because an interval is all that a class hides.
        nodes: released nodes with exactly two children, both of which must be there.
    """

    labels: Labels
    ends: int
    ends_of_one: int | None
    tuples: int
    nodes: int

    def to_document(self) -> Document:
        """Return it as plain data."""
        return {**asdict(self), "labels": str(self.labels)}


def printed_values(recoding: Recoding, labels: Labels, *, has_members: bool = True) -> Printed:
    """Count what the labels of boxes give away.

    has_members: the recoding's rows are the tuples of the table, not whole classes.
    """
    shape = recoding.low.shape
    is_wide, has_ends = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    nodes = 0
    for j, domain in enumerate(recoding.table.domains):
        low, high = recoding.low[:, j], recoding.high[:, j]
        is_wide[:, j] = low < high
        if domain.tree is not None:
            nodes += _two_child_nodes(domain, low, high)
        elif domain.grid is None:
            has_ends[:, j] = is_wide[:, j] & ~((low == 0) & domain.has_missing)
    alone = has_ends.any(axis=1) & (is_wide.sum(axis=1) == 1)
    return Printed(
        labels=labels,
        ends=2 * int(has_ends.sum()),
        ends_of_one=_ends_of_one(recoding, has_ends) if has_members else None,
        tuples=2 * int(alone.sum()),
        nodes=nodes,
    )


def _two_child_nodes(domain: Domain, low: NDArray[np.int32], high: NDArray[np.int32]) -> int:
    """Count the released nodes that a round label would not have."""
    assert domain.tree is not None
    above = lifts(domain.tree)
    runs, times = np.unique(low.astype(np.int64) << 32 | high, return_counts=True)
    found = 0
    for run, count in zip(runs.tolist(), times.tolist(), strict=True):
        first, last = run >> 32, run & 0xFFFFFFFF
        node = domain.released_node(first, last)
        found += count if first != last and above[node] != node else 0
    return found


def _ends_of_one(recoding: Recoding, has_ends: NDArray[np.bool_]) -> int:
    kept = recoding.label >= 0
    label, row, count = recoding.label[kept], recoding.row[kept], recoding.count[kept]
    found = 0
    for j in np.flatnonzero(has_ends.any(axis=0)):
        codes = recoding.table.codes[row, j]
        for side in (recoding.low, recoding.high):
            at_end = codes == side[label, j]
            records = np.bincount(label[at_end], weights=count[at_end], minlength=recoding.classes)
            found += int(((records == 1) & has_ends[:, j]).sum())
    return found
