"""New numbers for the persons of a release that links their records.

Persons are numbered in the order of what they release, all their records together. So a number
says nothing that the release does not say without it: not where the person stood in the table,
not who it is; and the same request gives the same bytes.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.engines.local.order import order_of

_CONTENT, _FIRST, _WHO = "\x00content", "\x00first", "\x00number"


def numbered(released: pl.DataFrame, person: str, *, keep_order: bool) -> pl.DataFrame:
    """Return a release with a number of its own for each person, in place of what links records.

    Args:
        released: every record in a row of its own.
        person: the column that says which records are of one person.
        keep_order: leave the rows where they are; they are sorted by what they release otherwise.

    Law:
        What links the records decides nothing but which are linked: any other names of the same
        persons give the same release, and so does any order of the rows, if it is not kept.
    """
    others = [name for name in released.columns if name != person]
    texts = (
        released.select(pl.col(others).cast(pl.String))
        if others
        else released.select(pl.repeat("", pl.len()).alias(_CONTENT))
    )
    place = pl.struct(pl.all()).rank("dense").cast(pl.String)
    content = texts.select(place.str.zfill(len(str(released.height)))).to_series()
    records = pl.DataFrame([released[person].alias(_WHO), content.alias(_CONTENT)])
    whole = (
        records.with_row_index(_FIRST)
        .filter(pl.col(_WHO).is_not_null())
        .group_by(_WHO)
        .agg(pl.col(_CONTENT).sort().str.join(" "), pl.col(_FIRST).min())
        .sort(_CONTENT, _FIRST)
    )
    digits = len(str(whole.height))
    number = pl.int_range(1, pl.len() + 1).cast(pl.String).str.zfill(digits)
    names = whole.select(_WHO, pl.concat_str(pl.lit("p"), number).alias(person))
    new = records.join(names, on=_WHO, how="left", maintain_order="left")[person]
    changed = released.with_columns(new)
    if keep_order:
        return changed
    return changed[order_of(changed, last=np.zeros(changed.height, dtype=np.bool_))]
