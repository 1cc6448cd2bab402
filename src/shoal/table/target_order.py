"""What the values of a column say of a target: where they stand, and in which order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.schema.schema import Kind
from shoal.table.frequency import FrequencyTable

MOST_GROUPS = 20
"""Values of a target that are told apart; a line with more of them is parted."""
PARTS = 8
"""Parts of such a line, each with as many records."""
PRIOR = 5.0
"""Records of the whole table that are laid beside those of each value."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def groups_of(table: FrequencyTable, column: int) -> Ints:
    """Return the group of the target of each row: its value, or its part of a line.

    Raises:
        MethodError: it has many values that stand on no line.
    """
    domain = table.sensitive_domains[column]
    codes = table.sensitive[:, column].astype(np.int64)
    if len(domain) <= MOST_GROUPS:
        return codes
    if domain.kind is Kind.CATEGORICAL:
        raise MethodError(
            problem=f"--for {domain.name}: has {len(domain):,} values; a target has up to "
            f"{MOST_GROUPS}, or is a number"
        )
    held = np.bincount(codes, weights=table.counts, minlength=len(domain))
    before = held.cumsum() - held
    part = np.minimum(before * PARTS // max(held.sum(), 1), PARTS - 1).astype(np.int64)
    return np.unique(part[codes], return_inverse=True)[1].astype(np.int64)


def rates_of(table: FrequencyTable, column: int, groups: Ints) -> Floats:
    """Return where each code stands, 0 … 1: on its line, or by what it says of the target."""
    domain = table.domains[column]
    if domain.tree is None and domain.kind is not Kind.ORDINAL:
        first = int(domain.has_missing)
        inner = domain.position[first:]
        found = np.zeros(len(domain))
        found[first:] = (inner - inner[0]) / (domain.span or 1.0) if len(inner) else inner
        return found
    rates = _told(table, column, groups, 1)
    rates = np.maximum.accumulate(rates) if domain.kind is Kind.ORDINAL else rates
    low, high = float(rates.min(initial=1.0)), float(rates.max(initial=0.0))
    scaled: Floats = (rates - low) / (high - low) if high > low else np.zeros(len(rates))
    return scaled


def _told(table: FrequencyTable, column: int, groups: Ints, k: int) -> Floats:
    """Return the mean group of each code, groups by how common they are, drawn to the whole."""
    size = int(groups.max(initial=0)) + 1
    often = np.bincount(groups, weights=table.counts, minlength=size)
    rank = np.empty(size)
    rank[np.argsort(-often, kind="stable")] = np.arange(size)
    codes = table.codes[:, column].astype(np.int64)
    values = len(table.domains[column])
    held = np.bincount(codes, weights=table.counts, minlength=values)
    said = np.bincount(codes, weights=table.counts * rank[groups], minlength=values)
    usual = float(said.sum() / max(held.sum(), 1.0))
    every = np.arange(table.rows)
    few = table.persons_of(every, codes, table.counts, values) < k
    told: Floats = np.where(few, usual, (said + PRIOR * usual) / (held + PRIOR))
    return told


def target_orders(table: FrequencyTable, target: str, *, k: int) -> Mapping[str, tuple[str, ...]]:
    """Return, of each column of categories, its values in the order of what they say of a target.

    Values of fewer than k persons say nothing by themselves: they stand where the whole table does,
    by their texts.
    """
    at = [domain.name for domain in table.sensitive_domains].index(target)
    groups = groups_of(table, at)
    found = {}
    for column, domain in enumerate(table.domains):
        if domain.tree is None:
            continue
        told = _told(table, column, groups, k)
        values = [
            (float(told[c]), text) for c, text in enumerate(domain.labels) if text is not None
        ]
        found[domain.name] = tuple(text for _, text in sorted(values))
    return found
