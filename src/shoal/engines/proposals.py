"""Hierarchies for quasi-identifiers that came without one: what `infer` proposes for them.

Only the distinct values of a column are looked at. Every engine has them when it codes the
column, so nothing is read for it, and all engines propose the same.
"""

from __future__ import annotations

import polars as pl

from shoal.core.dates import fitting_forms
from shoal.engines.column_facts import column_facts
from shoal.inference.propose import propose_attribute
from shoal.schema.attribute import Attribute, Kind, Proposals, Role

_ROWS = "\x00rows"


def proposed(distinct: pl.Series, attribute: Attribute, wanted: Proposals) -> Attribute | None:
    """Return a quasi-identifier as `infer` would describe it; None: as it is.

    Args:
        distinct: each raw value once (null allowed).
        attribute: what the schema says of the column; what it says is kept.
        wanted: what is proposed at all.
    """
    is_open = attribute.role is Role.QUASI and attribute.hierarchy is None
    if wanted is Proposals.NONE or not is_open or attribute.kind is Kind.ORDINAL:
        return None
    is_line = attribute.kind in (Kind.NUMERIC, Kind.DATE) or distinct.dtype.is_temporal()
    if is_line and wanted is Proposals.TREES:
        return None
    if isinstance(distinct.dtype, (pl.List, pl.Struct, pl.Array, pl.Object, pl.Binary)):
        return None  # refused with better words by whoever codes it
    counted = distinct.to_frame().with_columns(pl.lit(1).alias(_ROWS))
    facts = column_facts(attribute.name, counted, embedded=False)
    if facts.form == "text" and len(fitting_forms(facts.sample)) > 1:
        return None  # day or month first? nobody said so, and nobody asked for dates
    return propose_attribute(attribute, facts, levels=wanted is Proposals.LEVELS)
