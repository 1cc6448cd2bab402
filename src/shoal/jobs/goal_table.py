"""A release that goes into a database: the engine writes a private file, the job puts it there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from shoal.core.errors import OutputError
from shoal.engines.base import Output
from shoal.engines.choose import engine_for
from shoal.formats.database import Database
from shoal.formats.database_out import check_goal, released_to


def check_output(output: Output, table: object) -> None:
    """Refuse a place that cannot be written, before any work is done.

    table: what is released; its engine writes.
    """
    if not isinstance(output.out, Database):
        engine_for(table).check_output(output)
        return
    if engine_for(table).name != "local":
        problem = "a release goes into a database from the local engine; name a file"
        raise OutputError(where=output.out.where, problem=problem)
    engine_for(table).check_output(replace(output, out=Path("release.parquet")))
    goal = output.out
    if isinstance(table, Database) and (table.uri, table.table) == (goal.uri, goal.table):
        problem = "is also the input; choose another name for the output"
        raise OutputError(where=goal.where, problem=problem)
    check_goal(goal, replace=output.replace_table)


@contextmanager
def placed(output: Output) -> Iterator[Output]:
    """Give an output that an engine can write to.

    For a database this is a private file. What is published there goes into the database at the
    end, in one transaction, if nothing was raised.
    """
    if not isinstance(output.out, Database):
        yield output
        return
    with released_to(output.out, replace=output.replace_table) as place:
        yield replace(output, out=place)
