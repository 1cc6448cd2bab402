"""Step 1 of xk-anonymity on a table: every mark of an empty cell becomes the missing value."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.core.errors import InputError
from shoal.methods.xk.steps import unify


def refuse_nested(batch: pl.DataFrame) -> None:
    """Refuse columns whose values are not plain ones."""
    for name, kind in batch.schema.items():
        if kind.is_nested() or kind in (pl.Object, pl.Binary):
            raise InputError(
                where=f"column {name!r}", problem=f"holds {kind.base_type()} values, not plain ones"
            )


def unified(batch: pl.DataFrame, columns: Sequence[str], marks: Sequence[str]) -> pl.DataFrame:
    """Return the table with its empty marks as missing values (step 1)."""
    changes = []
    for name in columns:
        if not isinstance(batch[name].dtype, (pl.Categorical, pl.Enum, pl.String)):
            continue
        texts = batch[name].unique().drop_nulls().cast(pl.String).to_list()
        empty = [text for text, new in zip(texts, unify(texts, marks), strict=True) if new is None]
        if empty:
            is_empty = pl.col(name).cast(pl.String).is_in(empty)
            changes.append(pl.when(is_empty).then(None).otherwise(pl.col(name)).alias(name))
    return batch.with_columns(changes)
