"""Measuring a release by what is written in it, against the table it came from."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shoal.core.errors import InputError
from shoal.core.schema import Schema
from shoal.engines.local.coding import code_column
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import Source, with_codes
from shoal.measures.cells import cost_of_label, leaves
from shoal.measures.utility import Grouping, column_losses, utility_of

_ROWS = "\x00rows"


def measure_release(
    before: Source, after: Source, schema: Schema, *, starred: bool = False
) -> dict[str, Any]:
    """Return records, suppressed, classes and every utility measure.

    The release carries no link to the input, so measures that compare a class with
    the very records it was made from (usefulness) are not known here and are None.
    With `starred`, records whose every quasi-identifier is the root count as suppressed;
    without, they are a class that lost everything.
    """
    quasi = list(schema.quasi)
    absent = [name for name in quasi if name not in after.columns]
    if absent:
        named = ", ".join(repr(name) for name in absent)
        raise InputError(where=after.where, problem=f"has no column {named}; check the names")
    table = frequencies(before, before.scan(quasi, coded=quasi), schema, sensitive=()).table
    target = schema.target or (schema.sensitive[0] if schema.sensitive else None)
    columns = [*quasi]
    if target is not None and target in after.columns and target not in quasi:
        columns.append(target)
    cells = after.collect(
        after.scan(columns, coded=columns).group_by(columns).agg(after.records.alias(_ROWS))
    )
    if len(columns) > len(quasi) and target is not None:
        # Texts that mean the same value (7 and 7.0) are one value of the target, too.
        texts = with_codes(cells.lazy().select(target), [target]).collect()[target]
        coder = code_column(texts.unique(), schema.attribute(target), marks=schema.missing)
        cells = cells.with_columns(pl.Series(target, coder.codes(texts)))
        cells = cells.group_by(columns).agg(pl.col(_ROWS).sum())
    classes = cells.group_by(quasi).agg(pl.col(_ROWS).sum(), pl.col(_ROWS).max().alias("\x00top"))
    is_root = _all_root(classes, {d.name: d.root for d in table.domains})
    stars = int(classes.filter(is_root)[_ROWS].sum()) if starred else 0
    if stars:
        classes = classes.filter(~is_root)
    sizes = classes[_ROWS].to_numpy().astype(np.int64)
    suppressed = table.records - int(sizes.sum())
    if suppressed < 0:
        raise InputError(
            where=after.where, problem="has more records than the original; is it another table?"
        )
    height, level, cover = (np.empty((len(sizes), len(quasi))) for _ in range(3))
    for j, domain in enumerate(table.domains):
        texts = classes[domain.name].cast(pl.String)
        known = {text: cost_of_label(domain, text) for text in texts.unique().to_list()}
        costs = np.array([known[text] for text in texts.to_list()]).reshape(-1, 3)
        height[:, j], level[:, j], cover[:, j] = costs.T
    grouping = Grouping(
        records=table.records,
        suppressed=suppressed,
        sizes=sizes,
        height=height,
        level=level,
        cover=cover,
        leaves=np.array([leaves(domain) for domain in table.domains], dtype=np.int64),
        minority=int(sizes.sum() - classes["\x00top"].sum()) if len(columns) > len(quasi) else None,
    )
    return {
        "records": table.records,
        "released": int(sizes.sum()) + stars,
        "suppressed": suppressed,
        "classes": len(sizes),
        "smallest_class": int(sizes.min()) if len(sizes) else 0,
        "utility": utility_of(grouping),
        "column_loss": column_losses(grouping, schema.quasi),
    }


def _all_root(classes: pl.DataFrame, roots: dict[str, str]) -> pl.Series:
    flags = [classes[name].cast(pl.String) == root for name, root in roots.items()]
    found = flags[0]
    for flag in flags[1:]:
        found = found & flag
    return found.fill_null(value=False)
