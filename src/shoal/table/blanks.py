"""Blank cells: columns in which a value is released as it is, or not at all.

Only the domains change, as with round labels: boxes and members stay as they are, and everything
that is worked out of a box (its label, its cost, the cell of a model) follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Kind
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


def blank_table(table: FrequencyTable) -> FrequencyTable:
    """Return the table whose classes release a value that all of them share, or a blank."""
    return replace(table, domains=tuple(replace(each, is_blank=True) for each in table.domains))


def flat_table(table: FrequencyTable) -> FrequencyTable:
    """Return the table in which a column of a class loses nothing or everything.

    Every value, a missing one too, stands directly below the root, where blanks are.
    """
    return replace(table, domains=tuple(_flat(domain) for domain in table.domains))


def _flat(domain: Domain) -> Domain:
    texts = [f"{code}" for code in range(len(domain))]
    return Domain(
        name=domain.name, kind=Kind.CATEGORICAL, labels=tuple(texts), weight=domain.weight,
        tree=Hierarchy.flat(domain.name, texts), position=np.arange(len(texts), dtype=np.float64),
    )  # fmt: skip


def blanked(recoding: Recoding) -> Mapping[str, int]:
    """Return how many released cells of each column are blank."""
    is_blank = recoding.low != recoding.high
    cells = (recoding.sizes[:, None] * is_blank).sum(axis=0).tolist()
    names = [domain.name for domain in recoding.table.domains]
    return dict(zip(names, map(int, cells), strict=True))
