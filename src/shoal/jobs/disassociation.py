"""A table of sets as clusters and chunks: written, read again, and judged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import polars as pl

from shoal.core.errors import MethodError
from shoal.engines.local.disassociated import (
    CHUNK,
    CLUSTER,
    REST,
    as_recoding,
    check_rest,
    parts_of,
    query_error,
)
from shoal.engines.local.transactions import open_sets, read_sets
from shoal.formats.endings import separator_for
from shoal.jobs.requests import ReleaseRequest, VerifyRequest
from shoal.jobs.search import promise_of
from shoal.jobs.set_account import Prepared, account_of_sets
from shoal.jobs.set_answers import relational, verify_sets
from shoal.jobs.verified import check_verified
from shoal.methods.transactions.catalogue import Disassociation
from shoal.methods.transactions.disassociation import disassociated
from shoal.privacy import KmAnonymity
from shoal.reports.release import ReleaseReport, Risk, Verification
from shoal.schema.attribute import Attribute, Kind, Role
from shoal.schema.schema import Others, Schema

NOTE = (
    "sub-records of one cluster are not linked: a line is no person, and each cluster's records "
    "are told once for each of its chunks"
)
Writing = Callable[[pl.DataFrame], AbstractContextManager[object]]


def check_parts(request: ReleaseRequest, prepared: Prepared) -> KmAnonymity:
    """Return the promise; refuse what does not go with clusters and chunks.

    Raises:
        MethodError: columns beside the sets, another promise, or files of baskets.
    """
    promise = promise_of(request.schema)
    name = prepared.table.attribute.name
    problem = ""
    if prepared.others.width or relational(request.schema):
        problem = "releases a column of sets alone; drop the others"
    elif len(promise) != 1 or not isinstance(promise[0], KmAnonymity):
        problem = "keeps k^m-anonymity, and nothing else"
    elif name in (CLUSTER, CHUNK, REST):
        problem = f"writes columns cluster, chunk and rest; call {name!r} something else"
    elif request.output.file is not None and "basket" in Path(request.output.file).suffix:
        problem = "writes four columns, which a file of baskets does not have"
    if problem:
        raise MethodError(problem=f"--method disassociation {problem}")
    found = promise[0]
    assert isinstance(found, KmAnonymity)
    return found


def release_parts(
    request: ReleaseRequest, prepared: Prepared, method: Disassociation, writing: Writing
) -> tuple[pl.DataFrame, ReleaseReport]:
    """Take the records of a table apart, verify what is written, and only then publish it."""
    model = check_parts(request, prepared)
    baskets, attribute = prepared.baskets, prepared.table.attribute
    file, known = request.output.file, prepared.table.source.separator
    separator = None if file is None else separator_for(Path(file), known)
    clusters = disassociated(baskets, k=model.k, m=model.m, most=method.size)
    frame = parts_of(baskets, clusters, attribute)
    with writing(frame) as place:
        verified = _verified(request, place, frame.height, attribute, separator)
        again = _read(request, place, attribute, separator)
        check_rest(again, attribute.name, k=model.k, m=model.m)
    recoding = as_recoding(baskets, clusters)
    report = account_of_sets(request, prepared, recoding, verified)
    classes = [c.rows.size for c in clusters]
    after = Risk(
        records=baskets.records, classes=len(classes), smallest_class=min(classes), unique=0
    )
    sets = report.facts["sets"]
    assert isinstance(sets, dict)
    sets = {
        **sets, "query_error": query_error(baskets, clusters), "clusters": len(clusters),
        "chunks": sum(len(each.chunks) for each in clusters), "frequent_recall": None,
        "frequent_precision": None, "top_sets": None,
    }  # fmt: skip
    return frame, replace(
        report, risk_after=after, facts={**report.facts, "sets": sets}, classes=len(clusters),
        smallest_class=min(classes), notices=(*report.notices, NOTE),
    )  # fmt: skip


def _verified(
    request: ReleaseRequest, place: object, lines: int, attribute: Attribute,
    separator: str | None,
) -> Verification:  # fmt: skip
    """Judge each chunk of each cluster as a class of its own."""
    asked = _schema(request, attribute)
    found = verify_sets(VerifyRequest(table=place, schema=asked, separator=separator))
    check_verified(found, lines)
    return found


def _schema(request: ReleaseRequest, attribute: Attribute) -> Schema:
    beside = (
        Attribute(name=CLUSTER, role=Role.QUASI, kind=Kind.NUMERIC),
        Attribute(name=CHUNK, role=Role.QUASI, kind=Kind.NUMERIC),
    )
    return replace(
        request.schema.without_person() if request.schema.person else request.schema,
        attributes=(*beside, attribute), others=Others.DROP, target=None, waive=(),
    )  # fmt: skip


def _read(
    request: ReleaseRequest, place: object, attribute: Attribute, separator: str | None
) -> pl.DataFrame:
    """Return what was written, its sets as lists of items."""
    names = [CLUSTER, CHUNK, REST]
    found = open_sets(place, _schema(request, attribute), names, separator=separator)
    rest = read_sets(found.others[REST].cast(pl.String), attribute, found.where)
    return found.others.with_columns(found.sets, rest.alias(REST))
