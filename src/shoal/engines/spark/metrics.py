"""Measuring a release on Spark: both tables are counted there, the rest is the same."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.core.documents import Document
from shoal.engines.released_cells import ROWS as CELL_ROWS
from shoal.engines.released_cells import ReleasedCells
from shoal.engines.spark.chunks import ROWS
from shoal.engines.spark.frequencies import cells, code_table
from shoal.engines.spark.source import SparkSource
from shoal.schema.schema import Schema


def measure_release(
    before: SparkSource, after: SparkSource, schema: Schema, *, starred: bool | None = None
) -> Document:
    """Return records, suppressed, classes and every utility measure.

    Only the values of the original's columns and its number of records are needed here, so
    its frequency table stays where it is. See the local engine's function of this name.
    """
    after.check(list(schema.quasi))
    sensitive = [name for name in schema.sensitive if name in after.columns]
    coded = code_table(before, schema, sensitive=sensitive)

    def counted(columns: Sequence[str]) -> pl.DataFrame:
        found = after.polars(cells(after, columns))
        return found.rename({f"g{j}": name for j, name in enumerate(columns)} | {ROWS: CELL_ROWS})

    release = ReleasedCells(
        where=after.where,
        columns=after.columns,
        cells=counted,
        records=before.frame.count(),
        domains=coded.domains,
        sensitive=dict(zip(sensitive, coded.sensitive_domains, strict=True)),
    )
    return release.measured(schema, starred=starred)
