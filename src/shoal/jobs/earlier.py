"""The class of each record of a table in earlier releases of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.core.errors import MethodError
from shoal.engines.choose import engine_for
from shoal.engines.local.compose import Original
from shoal.engines.local.source import open_source
from shoal.jobs.encode import encode
from shoal.jobs.requests import EncodeRequest, ReleaseRequest
from shoal.schema.schema import Others, Schema

if TYPE_CHECKING:
    from shoal.engines.base import ClassNumbers


def earlier_classes(request: ReleaseRequest, schema: Schema) -> ClassNumbers:
    """Return the class of each record in the release that a new one is to be nested in.

    schema: the request's, fitted to the table.

    Raises:
        MethodError: the table is on Spark, which keeps no order.
        InputError: the file is not of this table.
    """
    place = request.nested_in
    assert place is not None
    if engine_for(request.table).name != "local":
        raise MethodError(problem="--nested-in needs the local engine: Spark keeps no order")
    original = original_of(request.table, schema, request.separator)
    if Path(place).suffix.lower() == ".json":
        made = encoded(request.table, place, request.separator)
        found = original.classes_by_release(made)
    else:
        found = original.classes_by_file(place)
    return found.astype("int32")


def original_of(table: object, schema: Schema, separator: str | None) -> Original:
    """Return a table as releases are compared with it; what has no role is kept beside."""
    source = open_source(table, separator=separator)
    fitted = replace(schema, others=Others.KEEP).fit(source.columns, where=source.where)
    return Original(source, fitted)


def encoded(table: object, model: str | Path, separator: str | None) -> object:
    """Return what a model releases of a table, every record in its place."""
    source = open_source(table, separator=separator)
    frame = source.collect(source.scan(source.columns))
    return encode(EncodeRequest(table=frame, model=model)).table
