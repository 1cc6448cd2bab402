"""The class of each record of a table in earlier releases of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.engines.local.compose import Original
from shoal.engines.local.source import Source
from shoal.engines.local.table import local_source
from shoal.jobs.encode import encode
from shoal.jobs.requests import EncodeRequest, ReleaseRequest
from shoal.schema.schema import Others, Schema

if TYPE_CHECKING:
    from shoal.engines.base import ClassNumbers, Table


def earlier_classes(request: ReleaseRequest, table: Table, schema: Schema) -> ClassNumbers:
    """Return the class of each record in the release that a new one is to be nested in.

    schema: the request's, fitted to the table.

    Raises:
        MethodError: the table is on Spark, which keeps no order.
        InputError: the file is not of this table.
    """
    place = request.nested_in
    assert place is not None
    original = original_of(local_source(table, "--nested-in"), schema)
    if Path(place).suffix.lower() == ".json":
        found = original.classes_by_release(encoded(original.source, place))
    else:
        found = original.classes_by_file(place)
    return found.astype("int32")


def original_of(source: Source, schema: Schema) -> Original:
    """Return a table as releases are compared with it; what has no role is kept beside."""
    fitted = replace(schema, others=Others.KEEP).fit(source.columns, where=source.where)
    return Original(source, fitted)


def encoded(source: Source, model: str | Path) -> object:
    """Return what a model releases of a table, every record in its place."""
    frame = source.collect(source.scan(source.columns))
    return encode(EncodeRequest(table=frame, model=model)).table
