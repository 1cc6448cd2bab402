"""A table of sets as clusters and chunks: written, read again, and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from shoal.core.errors import MethodError, UnsafeReleaseError
from shoal.engines.local.transactions import open_sets, read_sets, written_sets
from shoal.formats.endings import separator_for
from shoal.jobs.requests import ReleaseRequest, VerifyRequest
from shoal.jobs.search import promise_of
from shoal.jobs.set_account import Prepared, account_of_sets
from shoal.jobs.set_answers import relational, verify_sets
from shoal.jobs.verified import check_verified
from shoal.measures.transactions import QUERIES
from shoal.methods.transactions.catalogue import Disassociation
from shoal.methods.transactions.disassociation import Cluster, disassociated, item_bits_of
from shoal.privacy import KmAnonymity
from shoal.reports.release import ReleaseReport, Risk, Verification
from shoal.schema.attribute import Attribute, Kind, Role
from shoal.schema.schema import Others, Schema
from shoal.table.baskets import Baskets, SetRecoding

CLUSTER, CHUNK, REST = "cluster", "chunk", "rest"
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
    clusters = disassociated(baskets, k=model.k, m=model.m, most=method.size)
    frame = parts_of(baskets, clusters, attribute)
    with writing(frame) as place:
        verified = _verified(request, place, frame.height, attribute)
        again = _read(request, place, frame, attribute, prepared.table.source.separator)
        check_rest(again, attribute.name, k=model.k, m=model.m)
    recoding = _as_recoding(baskets, clusters)
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


def parts_of(baskets: Baskets, clusters: Sequence[Cluster], attribute: Attribute) -> pl.DataFrame:
    """Return a line a sub-record: its cluster, its chunk, its items, and the cluster's rest."""
    lines: list[tuple[int, int, list[str], list[str]]] = []
    for number, cluster in enumerate(clusters):
        rest = [baskets.items[item] for item in cluster.rest]
        for place, chunk in enumerate(cluster.chunks or ((),)):
            inside = set(chunk)
            for row in cluster.rows.tolist():
                codes = baskets.codes[baskets.starts[row] : baskets.starts[row + 1]].tolist()
                held = [baskets.items[code] for code in codes if code in inside]
                lines.append((number, place, held, rest))
    lines.sort()  # within a chunk by the items: the order of the records says nothing
    columns = list(zip(*lines, strict=True))
    items, rest = (
        written_sets(pl.Series(name, columns[at], dtype=pl.List(pl.String)), attribute)
        for name, at in ((attribute.name, 2), (REST, 3))
    )
    return pl.DataFrame([pl.Series(CLUSTER, columns[0]), pl.Series(CHUNK, columns[1]), items, rest])


def check_rest(frame: pl.DataFrame, name: str, *, k: int, m: int | None) -> None:
    """Hold what is written to what the promise of clusters asks beside that of chunks.

    Each chunk of a cluster has the same number of lines, k at least; no item stands in two of its
    parts; and where no rest is told, its sub-records can be put together in enough ways.

    frame: cluster and chunk, and the items of each line and of the rest, as lists.

    Raises:
        UnsafeReleaseError: something of this does not hold.
    """
    for _, cluster in frame.group_by(CLUSTER):
        chunks = cluster.partition_by(CHUNK)
        sizes = {chunk.height for chunk in chunks}
        items = [set(chunk[name].explode().drop_nulls()) for chunk in chunks]
        rests = {tuple(rest) for rest in cluster[REST].to_list()}
        parts = [*items, set(next(iter(rests)))]
        wrong = len(sizes) != 1 or min(sizes) < k or len(rests) != 1
        wrong = wrong or sum(map(len, parts)) != len(set().union(*parts))
        known = len(chunks) if m is None else min(m, len(chunks))
        told = int((cluster[name].list.len() > 0).sum())
        if not wrong and len(chunks) > 1 and not parts[-1]:
            wrong = told < min(sizes) + k * (known - 1)
        if wrong:
            raise UnsafeReleaseError(
                problem="a cluster does not keep what was promised; nothing was published"
            )


def _verified(
    request: ReleaseRequest, place: object, lines: int, attribute: Attribute
) -> Verification:
    """Judge each chunk of each cluster as a class of its own."""
    asked = _schema(request, attribute)
    table = place if request.output.file is not None else pl.DataFrame(place)
    found = verify_sets(VerifyRequest(table=table, schema=asked, separator=None))
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
    request: ReleaseRequest, place: object, frame: pl.DataFrame, attribute: Attribute,
    separator: str | None,
) -> pl.DataFrame:  # fmt: skip
    """Return what was written, its sets as lists of items."""
    file = request.output.file
    names = [CLUSTER, CHUNK, REST]
    found = open_sets(
        place if file is not None else frame, _schema(request, attribute), names,
        separator=None if file is None else separator_for(Path(file), separator),
    )  # fmt: skip
    rest = read_sets(found.others[REST].cast(pl.String), attribute, found.where)
    return found.others.with_columns(found.sets, rest.alias(REST))


def _as_recoding(baskets: Baskets, clusters: Sequence[Cluster]) -> SetRecoding:
    """Return what is told with a record as it is, and what is told without one as suppressed."""
    choice = baskets.codes.copy()
    for cluster in clusters:
        gone = np.array(cluster.rest, dtype=np.int32)
        for row in cluster.rows.tolist() if gone.size else ():
            part = slice(int(baskets.starts[row]), int(baskets.starts[row + 1]))
            choice[part] = np.where(np.isin(baskets.codes[part], gone), -1, baskets.codes[part])
    return SetRecoding(baskets, SetRecoding.of_items(baskets).labels, choice)


def query_error(baskets: Baskets, clusters: Sequence[Cluster], *, seed: int = 0) -> float | None:
    """Return the average relative error of counts of records with two items.

    Items of two chunks of a cluster are taken to be independent of each other, and an item of its
    rest to be held by one record.
    """
    pairs = np.flatnonzero(np.diff(baskets.starts) > 1)
    if not pairs.size:
        return None
    chance = np.random.default_rng(seed)
    asked = []
    for row in chance.choice(pairs, QUERIES):
        held = baskets.codes[baskets.starts[row] : baskets.starts[row + 1]]
        asked.append(tuple(chance.choice(held, 2, replace=False).tolist()))
    true, seen = dict.fromkeys(asked, 0.0), dict.fromkeys(asked, 0.0)
    for cluster in clusters:
        bits = item_bits_of(baskets, cluster.rows)
        chunk_of = {item: n for n, chunk in enumerate(cluster.chunks) for item in chunk}
        for one, two in true:
            if one in bits and two in bits:
                both = (bits[one] & bits[two]).bit_count()
                true[one, two] += both
                if one in chunk_of and chunk_of[one] == chunk_of.get(two):
                    seen[one, two] += both
                    continue
                held = [bits[i].bit_count() if i in chunk_of else 1 for i in (one, two)]
                seen[one, two] += held[0] * held[1] / cluster.rows.size
    return float(np.mean([abs(true[each] - seen[each]) / max(true[each], 1.0) for each in asked]))
