"""Formulas in text columns, as `core.spreadsheet` guards them, for whole tables."""

from __future__ import annotations

from typing import TypeVar

import polars as pl

from shoal.core.spreadsheet import BARE, FORMULA, GUARDED, NUMBER

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)


def guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with an apostrophe before every text that begins like a formula."""
    changes = []
    for name in _texts(frame.schema):
        text = pl.col(name).cast(pl.String)
        is_formula = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
        safe = pl.concat_str([pl.lit("'"), text])
        changes.append(pl.when(is_formula).then(safe).otherwise(text).alias(name))
    return frame.with_columns(changes)


def is_guarded(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Say, as a query of one cell, whether a release was written with these apostrophes.

    It was if some text has one and no text begins like a formula. A value of the original may
    begin with an apostrophe too, and is not to be changed.
    """
    texts = [pl.col(name).cast(pl.String) for name in _texts(frame.collect_schema())]
    if not texts:
        return pl.LazyFrame({"is_guarded": [False]})
    bare = [(t.str.contains(BARE) & ~t.str.contains(NUMBER)).any() for t in texts]
    some = [t.str.contains(GUARDED).any() for t in texts]
    return frame.select((pl.any_horizontal(some) & ~pl.any_horizontal(bare)).alias("is_guarded"))


def unguarded(frame: FrameT) -> FrameT:
    """Return the table without these apostrophes."""
    texts = _texts(frame.collect_schema())
    return frame.with_columns(
        [pl.col(name).cast(pl.String).str.replace(GUARDED, "$1") for name in texts]
    )


def _texts(schema: pl.Schema) -> list[str]:
    return [n for n, t in schema.items() if isinstance(t, (pl.String, pl.Categorical, pl.Enum))]
