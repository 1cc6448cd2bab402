"""Measuring a release by what is written in it, against the table it came from."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.core.documents import Document
from shoal.engines.coding import coder_of
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import Source
from shoal.engines.refusals import check_columns
from shoal.engines.released_cells import ROWS, ReleasedCells
from shoal.schema.schema import Schema
from shoal.table.domain import Domain


def measure_release(
    before: Source, after: Source, schema: Schema, *, starred: bool | None = None
) -> Document:
    """Return records, suppressed, classes, utility and fidelity, and why one is not known.

    Args:
        before: the table that the release was made from.
        after: the release.
        schema: names the quasi-identifiers and sensitive columns.
        starred: whether records that are the root in every quasi-identifier count as
            suppressed, or as a class that lost everything. None: as suppressed, with a notice.
    """
    quasi = list(schema.quasi)
    check_columns(after.where, after.columns, quasi)
    table = frequencies(before, before.scan(quasi, coded=quasi), schema, sensitive=()).table

    def cells(columns: Sequence[str]) -> pl.DataFrame:
        lazy = after.scan(columns, coded=columns)
        return after.collect(lazy.group_by(columns).agg(after.records.alias(ROWS)))

    def domain(name: str) -> Domain:
        values = before.collect(before.scan([name], coded=[name]).unique())[name]
        return coder_of(values, schema, name).domain

    sensitive = [name for name in schema.sensitive if name in after.columns]
    release = ReleasedCells(
        where=after.where,
        columns=after.columns,
        cells=cells,
        records=table.records,
        domains=table.domains,
        sensitive={name: domain(name) for name in sensitive},
        table=table,
    )
    return release.measured(schema, starred=starred)
