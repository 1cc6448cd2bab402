"""Release half of a table, and look for the people of both halves in it.

A unique record that stands in a drawn release as it is need not have been in the table: a value
drawn for somebody else may make it. Only beside people who were not in the table is it told what a
match says; and only beside the labels, what the draw adds to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import polars as pl

from shoal.core.documents import Document
from shoal.core.watch import NOBODY, watched_by
from shoal.engines.base import Checks, Output
from shoal.engines.choose import engine_for
from shoal.engines.local.reappearing import Halves
from shoal.engines.local.source import open_source
from shoal.jobs.requests import ReleaseRequest
from shoal.schema.attribute import Labels
from shoal.schema.schema import Schema


def reappearing(
    request: ReleaseRequest, schema: Schema, released: Callable[[ReleaseRequest], object]
) -> Document | None:
    """Return who reappears; None: the table stays on a cluster.

    Args:
        request: for the whole table.
        schema: as the table was released by.
        released: makes the release that a request asks for, and returns its table.
    """
    if engine_for(request.table).name != "local":
        return None
    source = open_source(request.table, separator=request.separator)
    halves = Halves.of(source, schema, seed=request.seed)
    asked = replace(
        request, table=halves.members, output=Output(), checks=Checks(attacks="none"),
        separator=None, nested_in=None, ledger=None, waive_composition=(),
        epsilon=None, budget=None,  # exact ones at the worst: nothing is charged for a trial
    )  # fmt: skip
    labelled = replace(asked, release=None, schema=replace(asked.schema, labels=Labels.TIGHT))
    with watched_by(NOBODY):
        drawn, labels = (cast("pl.DataFrame", released(each)) for each in (asked, labelled))
    return halves.reappear(drawn, labels)
