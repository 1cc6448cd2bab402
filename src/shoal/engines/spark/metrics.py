"""Measuring a release on Spark: both tables are counted there, the rest is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shoal.core.errors import InputError
from shoal.core.schema import Schema
from shoal.engines.local.coding import code_column
from shoal.engines.local.metrics import _all_root
from shoal.engines.local.source import with_codes
from shoal.engines.spark.frequencies import cells, code_table
from shoal.engines.spark.piles import ROWS
from shoal.engines.spark.source import SparkSource
from shoal.measures.cells import cost_of_label, leaves
from shoal.measures.utility import Grouping, column_losses, utility_of


def measure_release(
    before: SparkSource, after: SparkSource, schema: Schema, *, starred: bool = False
) -> dict[str, Any]:
    """Return records, suppressed, classes and every utility measure.

    Only the values of the original's columns and its number of records are needed here, so
    its frequency table stays where it is. See the local engine's function of this name.
    """
    quasi = list(schema.quasi)
    after.check(quasi)
    domains = code_table(before, schema, sensitive=()).domains
    records = before.frame.count()
    classes, has_target = _classes(after, schema)
    is_root = _all_root(classes, {domain.name: domain.root for domain in domains})
    stars = int(classes.filter(is_root)[ROWS].sum()) if starred else 0
    if stars:
        classes = classes.filter(~is_root)
    sizes = classes[ROWS].to_numpy().astype(np.int64)
    suppressed = records - int(sizes.sum())
    if suppressed < 0:
        raise InputError(
            where=after.where, problem="has more records than the original; is it another table?"
        )
    height, level, cover = (np.empty((len(sizes), len(quasi))) for _ in range(3))
    for j, domain in enumerate(domains):
        texts = classes[domain.name].cast(pl.String)
        known = {text: cost_of_label(domain, text) for text in texts.unique().to_list()}
        costs = np.array([known[text] for text in texts.to_list()]).reshape(-1, 3)
        height[:, j], level[:, j], cover[:, j] = costs.T
    grouping = Grouping(
        records=records, suppressed=suppressed, sizes=sizes, height=height, level=level,
        cover=cover, leaves=np.array([leaves(domain) for domain in domains], dtype=np.int64),
        minority=int(sizes.sum() - classes["top"].sum()) if has_target else None,
    )  # fmt: skip
    return {
        "records": records,
        "released": int(sizes.sum()) + stars,
        "suppressed": suppressed,
        "classes": len(sizes),
        "smallest_class": int(sizes.min()) if len(sizes) else 0,
        "utility": utility_of(grouping),
        "column_loss": column_losses(grouping, schema.quasi),
    }


def _classes(after: SparkSource, schema: Schema) -> tuple[pl.DataFrame, bool]:
    """Return the classes of a release: sizes, and the records of the commonest target value."""
    quasi = list(schema.quasi)
    target = schema.target or (schema.sensitive[0] if schema.sensitive else None)
    columns = [*quasi]
    if target is not None and target in after.columns and target not in quasi:
        columns.append(target)
    found = after.polars(cells(after, columns))
    found = found.rename({f"g{j}": name for j, name in enumerate(columns)})
    if len(columns) > len(quasi) and target is not None:
        # Texts that mean the same value (7 and 7.0) are one value of the target, too.
        texts = with_codes(found.lazy().select(target), [target]).collect()[target]
        coder = code_column(texts.unique(), schema.attribute(target), marks=schema.missing)
        found = found.with_columns(pl.Series(target, coder.codes(texts)))
        found = found.group_by(columns).agg(pl.col(ROWS).sum())
    # In a fixed order: sums of floats must not depend on which task ended first.
    order = [pl.col(name).cast(pl.String) for name in quasi]
    grouped = found.group_by(quasi).agg(pl.col(ROWS).sum(), pl.col(ROWS).max().alias("top"))
    return grouped.sort(order, nulls_last=False), len(columns) > len(quasi)
