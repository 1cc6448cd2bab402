"""Linked tables: whole persons are made alike, with all rows of all tables that hang on them.

The rows of a person form a tree: a patient, stays below the patient, prescriptions below each
stay. Its *shape* says how many rows hang on each row. Persons are grouped by shape, all rows of
a person in a group are one long row, and the method searches these: a class of it is at least k
persons who release the same tree (multirelational k-anonymity, [nergiz2009]). A group needs k
persons. Where fewer have a shape, they are joined with those of another one and all release what
both shapes have; the surplus rows are suppressed, with all that hangs on them. Where even that
costs more rows than these persons have, they are left out.

Within a row the rows below it are ordered by how much hangs on them, then by their values: rows
that stand at the same place of two persons are as alike as such an order makes them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from shoal.core.errors import MethodError
from shoal.kernels.clustering.space import SCALE
from shoal.methods.catalogue import BestCut
from shoal.methods.clustering.clusters import box_losses
from shoal.methods.clustering.space import space_of
from shoal.methods.linked.shapes import Gathered, LinkedCounts, Numbers, Position, Shapes
from shoal.methods.linked.views import Group, boxes_of, failing
from shoal.methods.method import Method, Setting
from shoal.methods.persons import with_merged
from shoal.privacy import KAnonymity
from shoal.table.domain import Domain
from shoal.table.frequency import join_rows
from shoal.table.recoding import SUPPRESSED, Recoding, recoding_of

STEPS = (1, 2, 4, 8, 16, 64)
"""How many times k persons groups are tried with: larger groups lose less, but more rows."""


class TableRecoding(NamedTuple):
    """What the records of one table release.

    Attributes:
        recoding: the table's rows in classes, those with the same labels joined, for measures.
        cells: a class for each place of a class of persons: what is written.
        label: of each record, its class of `cells`; -1: it is suppressed.
    """

    recoding: Recoding
    cells: Recoding
    label: Numbers


def search_linked(
    tables: Sequence[LinkedCounts], k: int, method: Method, setting: Setting
) -> tuple[TableRecoding, ...]:
    """Find recodings in which at least k persons release each tree of tuples.

    Guarantee:
        What is promised of sensitive values holds for the persons with the same tree, for each
        place in it, for each way from the person down to a tuple, and for each tuple alone.

    Raises:
        MethodError: the method does not release intervals and common ancestors of its own.
    """
    if method.family == "lattice" or method.spreads:
        raise MethodError(
            problem=f"--method {method.name} does not make whole persons alike; of linked tables "
            "take bestcut, mondrian or refine"
        )
    shapes = Shapes.of(tables, max(k, 1))
    plain = replace(setting, suppression_limit=0.0, target=None)
    chosen = _chosen(tables, shapes, setting.suppression_limit, plain)
    groups = _held(tables, shapes, chosen, method, plain)
    return tuple(_released(tables, groups, at) for at in range(len(tables)))


def _chosen(
    tables: Sequence[LinkedCounts], shapes: Shapes, limit: float, setting: Setting
) -> list[Gathered]:
    """Return the groups that lose least, as `bestcut` finds it, within what may be suppressed."""
    total = sum(each.records for each in tables)
    budget = math.floor(limit * total + 1e-9)
    best: tuple[tuple[int, float], list[Gathered]] | None = None
    seen: set[tuple[int, ...]] = set()
    for times in STEPS:
        groups = shapes.gathered(times * shapes.k)
        kept = sum(len(each.persons) * (1 + int(each.shape.sum())) for each in groups)
        sizes = tuple(len(each.persons) for each in groups)
        if sizes in seen:
            continue
        if best is not None and best[0][0] == 0 and total - kept > budget:
            break
        seen.add(sizes)
        suppressed, lost = _lost(tables, _held(tables, shapes, groups, BestCut(), setting))
        rank = max(suppressed - budget, 0), lost
        if best is None or rank < best[0]:
            best = rank, groups
    return best[1] if best is not None else []


def _held(
    tables: Sequence[LinkedCounts],
    shapes: Shapes,
    groups: Sequence[Gathered],
    method: Method,
    setting: Setting,
) -> list[Group]:
    """Search groups, and merge classes until every promise holds."""
    found = [
        _searched(tables, *shapes.filled(group), shapes.k, method, setting) for group in groups
    ]
    return _holding(tables, found)


def _lost(tables: Sequence[LinkedCounts], groups: Sequence[Group]) -> tuple[int, float]:
    """Return how many rows are suppressed, and what is lost by that and by recoding."""
    whole = [sum(domain.weight for domain in each.table.domains) for each in tables]
    gone = [each.records for each in tables]
    lost = 0.0
    for group in groups:
        domains = group.recoding.table.domains
        losses = box_losses(space_of(domains), group.recoding.low, group.recoding.high)
        heaviest = max((domain.weight for domain in domains), default=1.0)
        lost += float((losses * group.recoding.sizes).sum()) * heaviest / SCALE
        for position in group.positions:
            gone[position.table] -= len(group.records)
    return sum(gone), lost + sum(n * full for n, full in zip(gone, whole, strict=True))


def _searched(
    tables: Sequence[LinkedCounts],
    positions: tuple[Position, ...],
    records: Numbers,
    k: int,
    method: Method,
    setting: Setting,
) -> Group:
    """Search the long rows of persons whose trees have one shape."""
    parts = [
        tables[position.table].table.codes[tables[position.table].row[records[:, at]]]
        for at, position in enumerate(positions)
    ]
    domains = _domains(tables, positions)
    codes = np.ascontiguousarray(np.concatenate(parts, axis=1))
    ones = np.ones(len(records), dtype=np.int64)
    long, number = join_rows(domains, codes, ones)
    if domains:
        recoding = method.search(long, (KAnonymity(k),), setting)
    else:  # nothing but the shape is known of them
        none = np.zeros((1, 0), dtype=np.int32)
        one = np.zeros(1, dtype=np.int64)
        recoding = Recoding(long, none, none, one, one, np.array([len(records)]))
    # Members are sorted by row: so are the persons, and the two can be laid side by side.
    ordered = records[np.argsort(number, kind="stable")]
    member = recoding.label >= 0
    if not member.all():  # a method that leaves persons out leaves them out here, too
        ordered = ordered[np.repeat(member, recoding.count)]
        members = (recoding.row[member], recoding.label[member], recoding.count[member])
        recoding = Recoding(long, recoding.low, recoding.high, *members)
    return Group(positions, ordered, recoding)


def _domains(tables: Sequence[LinkedCounts], positions: Sequence[Position]) -> tuple[Domain, ...]:
    return tuple(d for position in positions for d in tables[position.table].table.domains)


def _holding(tables: Sequence[LinkedCounts], groups: list[Group]) -> list[Group]:
    """Merge classes of persons until every promise about sensitive values holds.

    What cannot be mended, because it is the last class of its group, is suppressed.
    """
    if not any(each.promise for each in tables):
        return groups
    while groups:
        wrong = failing(tables, groups)
        if not any(each.any() for each in wrong):
            break
        mended = (with_merged(g.recoding, bad) for g, bad in zip(groups, wrong, strict=True))
        pairs = zip(groups, mended, strict=True)
        groups = [replace(group, recoding=found) for group, found in pairs if found is not None]
    return groups


def _released(tables: Sequence[LinkedCounts], groups: Sequence[Group], at: int) -> TableRecoding:
    """Return what the records of one table release: each the box of its place."""
    each, boxes = tables[at], boxes_of(tables, groups, at)
    label = np.full(each.records, SUPPRESSED, dtype=np.int64)
    for g, group in enumerate(groups):
        own = [i for i, position in enumerate(group.positions) if position.table == at]
        label[group.records[:, own]] = boxes.at[g][group.label]
    members = (each.row, label, np.ones(each.records, dtype=np.int64))
    joined = recoding_of(each.table, boxes.low, boxes.high, members)
    return TableRecoding(joined, Recoding(each.table, boxes.low, boxes.high, *members), label)
