"""Carry out a preset: infer what the columns are, release by its rules, look at what is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

import polars as pl

from shoal.core.documents import Document
from shoal.core.errors import MethodError, UnsafeReleaseError
from shoal.core.watch import tell
from shoal.engines.base import Progress, Written
from shoal.engines.choose import engine_for
from shoal.engines.local.records import LocalWritten
from shoal.inference.safe_harbor import NOT_K, checklist, harbor_schema, remains
from shoal.jobs.release import Release, release
from shoal.jobs.requests import ReleaseRequest
from shoal.schema.schema import Schema


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a preset makes of a table.

    Attributes:
        schema: what is done to each column; a promise may be added to it.
        checklist: a line for each kind of identifier.
        notices: what a person must still do.
    """

    schema: Schema
    checklist: tuple[Document, ...]
    notices: tuple[str, ...]


def plan_preset(
    table: object,
    name: str,
    *,
    as_of: date | None = None,
    identifying: Sequence[str] = (),
    separator: str | None = None,
) -> Plan:
    """Say what a preset such as hipaa-safe-harbor does to each column of a table.

    Args:
        table: see `LearnRequest`.
        name: of the preset.
        as_of: the day that decides who is over 89; today if None.
        identifying: further columns to remove.
        separator: of a CSV file.
    """
    engine = engine_for(table)
    if engine.name != "local":
        raise MethodError(problem="a preset needs the local engine")
    opened = engine.open(table, separator=separator)
    found = opened.infer(max_size=1, seconds=1.0, threshold=1.0)
    preset = found.preset(name, as_of=as_of)
    schema = harbor_schema(preset, found.columns, found.verdicts, identifying)
    schema = schema.fit(opened.columns, where=opened.where)
    lines = checklist(schema, found.verdicts)
    return Plan(schema=schema, checklist=lines, notices=(NOT_K, *preset.notices))


def release_preset(
    plan: Plan, request: ReleaseRequest, *, progress: Progress = tell
) -> Release[object]:
    """Release a table by a plan; what is written is looked at before it is published.

    Raises:
        UnsafeReleaseError: a written column still shows what Safe Harbor removes.
    """

    def look(written: Written) -> None:
        assert isinstance(written, LocalWritten)
        source = written.source
        faults = []
        for column in source.columns:
            technique = plan.schema.attribute(column).release
            if column in request.schema.waive:
                continue
            values = source.collect(source.scan([column]).unique())[column]
            texts: Iterator[str] = iter(values.cast(pl.String).drop_nulls().to_list())
            shown = sorted({what for t in texts if (what := remains(t, technique)) is not None})
            if shown:
                faults.append(f"column {column!r} still shows {', '.join(shown)}")
        if faults:
            raise UnsafeReleaseError(
                problem=f"{'; '.join(faults)}. Remove them with --identifying, or, if they are "
                "meant, say --waive; nothing was written"
            )

    made = release(request, progress=progress, look=look)
    report = replace(
        made.report,
        checklist=plan.checklist,
        notices=(*made.report.notices, *plan.notices),
    )
    return replace(made, report=report)
