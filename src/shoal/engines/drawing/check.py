"""The checker of drawn releases: every cell lies in its label, and all else is as it was.

What is verified is the generalized release that the draw is a function of. This file, which knows
nothing of how cells are drawn (no weights, no pools, no codes), reads the drawn release as it is
written beside that one, record by record: numbers exactly, moments by the calendar, categories by
the parents of the hierarchy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.dates import moment_of
from shoal.core.errors import UnsafeReleaseError
from shoal.core.grids import DASH, ClockGrid, DateGrid
from shoal.core.numbers import number_label
from shoal.formats.types import texts_of
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Kind
from shoal.table.domain import Domain

Value = Decimal | datetime | int
"""Something that can be compared with its like."""


def check_drawn(
    drawn: pl.DataFrame,
    labels: pl.DataFrame,
    order: NDArray[np.int64],
    domains: Sequence[Domain],
    forms: Mapping[str, str | None],
) -> None:
    """Refuse a drawn release that is not what the generalized one leaves open.

    Args:
        drawn: it, as it was read again.
        labels: the generalized release that was verified, as it was read again.
        order: the record of `labels` that each record of `drawn` was drawn from.
        domains: the columns that are drawn: their kind, their hierarchy, their order.
        forms: how dates of a column are written; None: ISO dates.

    Raises:
        UnsafeReleaseError: says how many records are wrong, and in which column.
    """
    if drawn.columns != labels.columns:
        raise _unsafe("the drawn release has other columns than the one that was verified")
    if drawn.height != labels.height or drawn.height != len(order):
        raise _unsafe("the drawn release has other records than the one that was verified")
    if not np.array_equal(np.sort(order), np.arange(labels.height)):
        raise _unsafe("a record of the verified release was drawn twice, or not at all")
    origin = labels[order]
    known = {domain.name: domain for domain in domains}
    for name in drawn.columns:
        cells, where = texts_of(drawn[name]), texts_of(origin[name])
        if name not in known:
            wrong = drawn.height - int(cells.eq_missing(where).sum())
        else:
            wrong = _outside(cells, where, known[name], forms.get(name))
        if wrong:
            raise _unsafe(
                f"{wrong} of {drawn.height} drawn cells of {name!r} do not lie in their label"
            )


def _unsafe(problem: str) -> UnsafeReleaseError:
    return UnsafeReleaseError(problem=f"{problem}; nothing was published")


def _outside(cells: pl.Series, labels: pl.Series, domain: Domain, form: str | None) -> int:
    """Count the cells that do not lie in their label; each different pair is looked at once."""
    pairs = pl.DataFrame({"cell": cells, "label": labels})
    counted = pairs.group_by("cell", "label").len()
    lies = partial(lies_in, domain=domain, form=form)
    return sum(n for cell, label, n in counted.iter_rows() if not lies(cell or None, label or None))


def lies_in(cell: str | None, label: str | None, *, domain: Domain, form: str | None) -> bool:
    """Say whether a label leaves a cell open.

    The missing value lies in itself and in the root alone.
    """
    if label == cell:
        return True
    if label is None:
        return False
    tree = domain.tree or domain.ladder
    root = "*" if tree is None else tree.labels[tree.root]
    if cell is None:
        return label == root
    if tree is not None and label in tree:
        return _is_below(tree, cell, label)
    if domain.tree is not None:
        return False
    at = _value(cell, domain, form)
    if label == root:
        return at is not None
    ends = _ends(label, domain, form)
    if at is None or ends is None:
        return False
    return bool(ends[0] <= at <= ends[1])  # type: ignore[operator]


def _is_below(tree: Hierarchy, cell: str, label: str) -> bool:
    """Climb from a cell to the root, past its label or not."""
    if cell not in tree:
        cell = number_label(cell) or cell  # a column of floats writes 30 as 30.0
    if cell not in tree:
        return False
    node, wanted = tree.index(cell), tree.index(label)
    while node != wanted and node != tree.root:
        node = tree.parents[node]
    return node == wanted


def _value(text: str, domain: Domain, form: str | None) -> Value | None:
    """Return a value as something that can be compared; None: it is none of the column."""
    if domain.kind is Kind.ORDINAL:
        return domain.labels.index(text) if text in domain.labels else None
    if domain.kind is Kind.NUMERIC:
        try:
            return Decimal(text)
        except InvalidOperation:
            return None
    if text[2:3] == ":":
        text = f"0001-01-01 {text}"
    moment = moment_of(text) or moment_of(text, form)
    return None if moment is None else moment.replace(tzinfo=None)


def _ends(label: str, domain: Domain, form: str | None) -> tuple[Value, Value] | None:
    """Return the smallest and the largest value of a label; None: it is none of the column."""
    point = _value(label, domain, form)
    if point is not None:
        return point, point
    if label.startswith("[") and label.endswith("]"):
        parts = label[1:-1].split(", ")
        for at in range(1, len(parts)):  # an ordinal value, or a date, may hold a comma itself
            low = _value(", ".join(parts[:at]), domain, form)
            high = _value(", ".join(parts[at:]), domain, form)
            if low is not None and high is not None:
                return low, high
        return None
    if domain.kind is Kind.NUMERIC:
        low_text, dash, high_text = label.partition(DASH)
        low, high = _value(low_text, domain, form), _value(high_text, domain, form)
        return (low, high) if dash and low is not None and high is not None else None
    if domain.kind is Kind.DATE:
        span = DateGrid().read(label) or ClockGrid().read(label)
        if span is not None:
            low, high = _value(span.low, domain, None), _value(span.high, domain, None)
            return (low, high) if low is not None and high is not None else None
    return None
