"""Releases that may stand beside an earlier one of the same table.

Whoever holds two releases looks into the meet of their classes. Where each class of one is a union
of classes of the other, the meet is the finer of the two, and keeps what that one keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.core.errors import MethodError, NoSolutionError
from shoal.methods.arrays import promise_of
from shoal.methods.clustering.clusters import Clusters, boxes_of, histograms_of, least_records
from shoal.methods.clustering.merge import merge_failing
from shoal.methods.clustering.regroup import Atoms, regroup
from shoal.methods.clustering.space import space_of
from shoal.methods.coarse import Learned, Search, learn_partition, repaired, subtable
from shoal.methods.judging import failing_classes
from shoal.methods.method import Method, Setting
from shoal.methods.partition import Partition
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import SUPPRESSED, Recoding, join_boxes, recoding_of

NEAR = 512
"""Classes that each one looks at for a merger, before they are grouped anew."""

COARSER, FINER = "coarser", "finer"

Numbers = NDArray[np.int64]


def search_nested(
    table: FrequencyTable, models: Sequence[Promise], method: Method, setting: Setting
) -> Recoding:
    """Find classes that are unions of those of the earlier release, or lie inside them.

    Where every earlier class keeps the promise, the method searches inside each of them. Where
    some do not, classes are merged, and grouped anew (see `regroup`). Records that the earlier
    release left out are suppressed: whoever knows that somebody was not in it would look for them
    among so few.

    table: has `earlier`.

    Where the domains have round labels, classes are joined and judged by these.

    Guarantee:
        Every class keeps the promise. So does what shares a class in both releases in a finer view;
        in a coarser one it is an earlier class. A record is either in both releases or in neither,
        but for earlier classes that are suppressed whole.

    Raises:
        MethodError: the method does not release boxes.
    """
    assert table.earlier is not None
    if method.family not in ("mondrian", "clustering"):
        raise MethodError(
            problem=f"--nested-in joins and divides classes of intervals and common ancestors, and "
            f"--method {method.name} releases something else; take bestcut, refine or mondrian"
        )
    rows = np.flatnonzero(table.earlier >= 0)
    if not len(rows):
        raise NoSolutionError(problem="the earlier release has none of the records")
    label = np.unique(table.earlier[rows], return_inverse=True)[1].astype(np.int64)
    part = _some_rows(table, rows)
    if failing_classes(_whole_classes(part, label), models).any():
        allowed = setting.suppression_limit * table.records - (table.records - part.records)
        limit = max(allowed, 0.0) / part.records
        found, view = _coarser(part, models, label, limit=limit, seed=setting.seed), COARSER
    else:
        within = replace(setting, suppression_limit=0.0)  # what is left of a class may be one

        def search(own: FrequencyTable) -> Recoding:
            return method.search(own, models, within)

        found, view = _finer(part, models, label, search), FINER
    facts: Document = {"view": view, "earlier_classes": int(label.max()) + 1}
    left = np.flatnonzero(table.earlier < 0)
    members = (
        np.concatenate((rows[found.row], left)),
        np.concatenate((found.label, np.full(len(left), SUPPRESSED))),
        np.concatenate((found.count, table.counts[left])),
    )
    plain = replace(table, earlier=None)
    return recoding_of(
        plain, found.low, found.high, members, facts={**found.facts, "nested": facts}
    )


def _some_rows(table: FrequencyTable, rows: Numbers) -> FrequencyTable:
    """Return some rows as a table of its own; what is not in it is not released."""
    return replace(
        table,
        codes=np.ascontiguousarray(table.codes[rows]),
        counts=table.counts[rows],
        sensitive=np.ascontiguousarray(table.sensitive[rows]),
        persons=None if table.persons is None else table.persons[rows],
        earlier=None,
    )


def _whole_classes(table: FrequencyTable, label: Numbers, *, join: bool = False) -> Recoding:
    """Return the classes that rows are in as a recoding; join: see `recoding_of`."""
    boxes = boxes_of(table.codes, label)
    members = (np.arange(table.rows), label, table.counts)
    return recoding_of(table, *boxes, members, join=join)


def _coarser(
    table: FrequencyTable, models: Sequence[Promise], label: Numbers, *, limit: float, seed: int
) -> Recoding:
    """Merge classes until each keeps the promise; within the limit some are suppressed whole."""
    if table.persons is not None:  # a merger is judged by who is in both
        whole = _whole_classes(table, label, join=True)
        return repaired(whole, models, suppression_limit=limit)
    space, promise = space_of(table.domains, is_round=True), promise_of(models, table)
    clusters = Clusters(np.arange(table.rows), label, table.counts)
    low, high = boxes_of(table.codes, label)
    merged = merge_failing(
        table, clusters, boxes=(low, high), space=space, promise=promise,
        budget=int(limit * table.records), near=NEAR,
    )  # fmt: skip
    kept = np.flatnonzero(merged >= 0)
    number = np.full(len(merged), SUPPRESSED, dtype=np.int64)
    if len(kept):
        sizes = np.bincount(label, weights=table.counts).astype(np.int64)
        histograms = np.zeros((len(merged), 0), dtype=np.int64)
        if promise.kind.size:
            histograms = histograms_of(table, clusters, len(merged))
        atoms = Atoms(low, high, sizes, histograms, space, promise).some(kept)
        first = np.unique(merged[kept], return_inverse=True)[1].astype(np.int64)
        number[kept] = regroup(atoms, first, seed=seed)
    boxes = join_boxes(low[kept], high[kept], number[kept], int(number.max()) + 1)
    found = recoding_of(table, *boxes, (clusters.row, number[label], table.counts))
    # Closeness compares with what is released: what was suppressed is missing there.
    return repaired(found, models, suppression_limit=limit)


def _finer(
    table: FrequencyTable, models: Sequence[Promise], label: Numbers, search: Search
) -> Recoding:
    """Search inside each class.

    Parts that have the same labels are one class to a reader: of different classes, and, with round
    labels, of one class, too. Where such a class, or what it shares with an earlier one, breaks the
    promise (shares of persons are no averages), the classes that it comes from stay whole.
    """
    order = np.argsort(label, kind="stable")
    edges = np.searchsorted(label[order], np.arange(int(label.max()) + 2))
    least = least_records(models)
    learned = [
        _divided(table, models, order[begin:end], search, least=least)
        for begin, end in pairwise(edges.tolist())
    ]
    is_whole = np.zeros(len(learned), dtype=np.bool_)
    while True:
        found = _joined(table, learned)
        meet = _joined(table, learned, join=False)  # parts of one class differ by their labels
        touched = np.union1d(_failing(found, models, label), _failing(meet, models, label))
        if not len(touched):
            return found
        if is_whole[touched].all():  # whole classes are alike: only mergers are left
            return repaired(_whole_classes(table, label, join=True), models)
        is_whole[touched] = True
        for each in touched.tolist():
            rows = order[edges[each] : edges[each + 1]]
            learned[each] = _undivided(table, rows)


def _failing(found: Recoding, models: Sequence[Promise], label: Numbers) -> Numbers:
    """Return the earlier classes with records in classes that break the promise."""
    wrong = failing_classes(found, models)
    return np.unique(label[found.row[wrong[found.label]]])


def _divided(
    table: FrequencyTable, models: Sequence[Promise], rows: Numbers, search: Search, *, least: int
) -> Learned:
    """Search inside one class; where nothing is found, or not for all records, it stays whole."""
    counts = table.counts[rows]
    if int(counts.sum()) < 2 * least:
        return _undivided(table, rows)
    found = learn_partition(table, models, Partition(rows, counts), search)
    if found is None or found.recoding.suppressed:
        return _undivided(table, rows)
    return found


def _undivided(table: FrequencyTable, rows: Numbers) -> Learned:
    own = subtable(table, Partition(rows, table.counts[rows]))
    return Learned(rows, _whole_classes(own, np.zeros(len(rows), dtype=np.int64)))


def _joined(table: FrequencyTable, learned: Sequence[Learned], *, join: bool = True) -> Recoding:
    """Return what was found inside all classes as one recoding; join: see `recoding_of`."""
    offsets = np.cumsum([0, *(each.recoding.classes for each in learned)])
    parts = list(zip(learned, offsets.tolist(), strict=False))
    members = (
        np.concatenate([each.rows[each.recoding.row] for each in learned]),
        np.concatenate([each.recoding.label + offset for each, offset in parts]),
        np.concatenate([each.recoding.count for each in learned]),
    )
    low = np.concatenate([each.recoding.low for each in learned])
    high = np.concatenate([each.recoding.high for each in learned])
    return recoding_of(table, low, high, members, join=join)


def nested_notices(found: Recoding) -> tuple[str, ...]:
    """Say how a release is nested in the earlier one, if it is."""
    facts = found.facts.get("nested")
    if not isinstance(facts, dict):
        return ()
    number = f"{facts['earlier_classes']:,} classes of the earlier release"
    if facts["view"] == COARSER:
        return (f"a coarser view: {number} were merged into {found.classes:,}",)
    return (f"a finer view: {found.classes:,} classes were found inside the {number}",)
