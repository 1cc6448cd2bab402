"""Measure a release against the table it was made from."""

from __future__ import annotations

from dataclasses import replace

from shoal.core.documents import Document
from shoal.engines.choose import engine_for
from shoal.jobs.proposals import proposals
from shoal.jobs.requests import MetricsRequest
from shoal.jobs.set_answers import measure_sets


def measure(request: MetricsRequest) -> Document:
    """Return records, suppressed, classes and every utility measure, by the labels alone."""
    if request.schema.sets:
        return measure_sets(request)
    engine = engine_for(request.table)
    original = engine.open(request.table, separator=request.separator)
    schema = request.schema.without_person()  # loss weighs records
    known = replace(schema, privacy=(), proposals=proposals(infer=request.infer))
    fitted = known.fit(original.columns, where=original.where)
    return original.measure(
        request.release, fitted, starred=request.starred, separator=request.separator
    )
