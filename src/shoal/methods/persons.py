"""Classes of persons: a search counts records; what has too few persons behind it is repaired.

Clusters borrow first: a class that is short of persons takes the cheapest records of those whom it
lacks from classes that can spare them, or is shared out where that loses less (see
`clustering.borrow`). Regions, which are to leave no gaps, and what nobody near could help are
merged: round by round, every class that breaks the promise, counted by persons, with the one whose
merger makes the loss grow least. Each change is judged anew: two classes may have the same persons,
and shares of persons are no averages, so a merged class may fail where both held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.methods.arrays import promise_of
from shoal.methods.clustering.borrow import Judge, borrowed
from shoal.methods.clustering.clusters import Clusters, boxes_of, least_records
from shoal.methods.clustering.merge import NEAR, MergeState, partners, roots
from shoal.methods.clustering.space import space_of
from shoal.methods.judging import failing_classes
from shoal.privacy import Promise
from shoal.table.recoding import SUPPRESSED, Recoding, join_boxes, recoding_of


def hold_persons(
    recoding: Recoding, models: Sequence[Promise], *, join: bool = True, borrow: bool = False
) -> Recoding:
    """Return the recoding repaired until each class keeps every model, counted by persons.

    What cannot be repaired is suppressed and counted. join: see `recoding_of`. borrow: records may
    go from one class to another before classes are merged.

    Guarantee:
        Every class that is left keeps every model. What holds is not changed.
    """
    while recoding.classes:
        wrong = np.flatnonzero(failing_classes(recoding, models))
        if not len(wrong):
            return recoding
        if borrow:
            recoding, borrow = _borrowed(recoding, models, join=join), False
            continue
        if recoding.classes == 1:
            number = np.array([SUPPRESSED], dtype=np.int64)
        else:
            number = merged(recoding, wrong)
        recoding = relabelled(recoding, number, join=join)
    return recoding


def with_merged(recoding: Recoding, wrong: NDArray[np.bool_]) -> Recoding | None:
    """Return the recoding with failing classes merged with the cheapest; None: none is left."""
    if not wrong.any():
        return recoding
    if recoding.classes == 1:
        return None
    return relabelled(recoding, merged(recoding, np.flatnonzero(wrong)), join=True)


def _borrowed(recoding: Recoding, models: Sequence[Promise], *, join: bool) -> Recoding:
    """Return the recoding with classes that borrowed records, their boxes drawn anew."""
    table = recoding.table
    kept = recoding.label >= 0
    held = borrowed(
        table,
        Clusters(recoding.row[kept], recoding.label[kept], recoding.count[kept]),
        space=space_of(table.domains),
        k=least_records(models),
        judge=_judge(recoding, models) if any(model.needs for model in models) else None,
    )
    low, high = boxes_of(table.codes[held.row], held.label)
    members = (
        np.concatenate((held.row, recoding.row[~kept])),
        np.concatenate((held.label, recoding.label[~kept])),
        np.concatenate((held.records, recoding.count[~kept])),
    )
    return recoding_of(table, low, high, members, facts=recoding.facts, join=join)


def _judge(recoding: Recoding, models: Sequence[Promise]) -> Judge:
    """Return what judges some classes, compared with all records that the recoding releases."""
    kept = recoding.label >= 0
    whole, row = recoding.table, recoding.row[kept]
    assert whole.persons is not None
    released = replace(
        whole, codes=whole.codes[row], counts=recoding.count[kept], sensitive=whole.sensitive[row],
        persons=whole.persons[row],
    )  # fmt: skip
    table = replace(whole, whole_people=released.people_of_all())

    def failing(clusters: Clusters) -> NDArray[np.bool_]:
        nothing = np.zeros((int(clusters.label.max()) + 1, len(table.domains)), dtype=np.int32)
        return failing_classes(Recoding(table, nothing, nothing, *clusters), models)

    return failing


def merged(recoding: Recoding, wrong: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each class, the number of the one that it becomes a part of."""
    state = MergeState(
        np.array(recoding.low.T, order="C"), np.array(recoding.high.T, order="C"),
        recoding.sizes.copy(), np.zeros((recoding.classes, 0), dtype=np.int64),
        space_of(recoding.table.domains), promise_of((), recoding.table),
        parent=np.arange(recoding.classes),
    )  # fmt: skip
    other, growth, _ = partners(state, wrong, NEAR)
    touched = np.zeros(recoding.classes, dtype=np.bool_)
    for i in np.lexsort((wrong, growth)).tolist():
        a, b = int(wrong[i]), int(other[i])
        if not touched[a] and not touched[b]:
            state.merge(a, b)
            touched[a] = touched[b] = True
    number: NDArray[np.int64] = np.unique(roots(state.parent), return_inverse=True)[1]
    return number.astype(np.int64)


def relabelled(recoding: Recoding, number: NDArray[np.int64], *, join: bool) -> Recoding:
    """Return the recoding with each class as a part of the one it was merged into."""
    classes = int(number.max()) + 1
    kept = number >= 0
    low, high = join_boxes(recoding.low[kept], recoding.high[kept], number[kept], classes)
    label = np.append(number, SUPPRESSED)[recoding.label]
    return recoding_of(
        recoding.table, low, high, (recoding.row, label, recoding.count), facts=recoding.facts,
        join=join,
    )  # fmt: skip
