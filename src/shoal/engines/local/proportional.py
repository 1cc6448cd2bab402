"""Draw a sample in which every stratum keeps its share of the records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.core.errors import InputError
from shoal.engines.local.source import open_source
from shoal.engines.refusals import check_columns
from shoal.methods.xk.sampling import proportional_shares

_ROW, _DRAWN, _STRATUM, _PLACE, _SHARE = "\x00row", "\x00drawn", "\x00at", "\x00place", "\x00share"


def proportional_sample(
    table: object, by: Sequence[str], records: int, *, seed: int = 0, separator: str | None = None
) -> pl.DataFrame:
    """Draw records at random from every stratum, as many as its share of the table.

    As [brown2019] does: a random number for each record, and of each stratum those with the
    smallest numbers.

    Args:
        table: a path, or a Polars, pandas or Arrow table.
        by: the columns whose values make the strata; a missing value is a value of its own.
        records: how many to draw in all.
        seed: same seed and table, same records.
        separator: of a CSV file; found out if None.

    Returns:
        The records, raw, in the order of the table.

    Raises:
        InputError: a column that the table does not have, or none named.
        MethodError: more records than there are.
    """
    source = open_source(table, separator=separator)
    if not by:
        raise InputError(where=source.where, problem="has no column for the strata; name some")
    check_columns(source.where, source.columns, by)
    frame = source.collect(source.scan(source.columns))
    drawn = np.random.default_rng(seed).random(frame.height)
    marked = frame.select(by).with_columns(
        pl.int_range(pl.len()).alias(_ROW), pl.Series(_DRAWN, drawn)
    )
    strata = marked.group_by(by, maintain_order=True).agg(pl.len().alias(_STRATUM))
    shares = proportional_shares(strata[_STRATUM].to_list(), records)
    strata = strata.with_columns(pl.Series(_SHARE, shares, dtype=pl.Int64))
    ranked = marked.with_columns(pl.col(_DRAWN).rank("ordinal").over(by).alias(_PLACE))
    kept = ranked.join(strata, on=list(by), how="left", nulls_equal=True)
    rows = kept.filter(pl.col(_PLACE) <= pl.col(_SHARE))[_ROW].sort()
    return frame[rows].with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
