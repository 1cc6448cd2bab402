"""Classes of persons: a search counts records; what has too few persons behind it is repaired.

Round by round, every class that breaks the promise, counted by persons, is merged with the one
whose merger makes the loss grow least. Each merger is judged anew: two classes may have the
same persons, and shares of persons are no averages, so a merged class may fail where both held.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.methods.arrays import promise_of
from shoal.methods.clustering.merge import NEAR, MergeState, partners, roots
from shoal.methods.clustering.space import space_of
from shoal.methods.judging import failing_classes
from shoal.privacy import Promise
from shoal.table.recoding import SUPPRESSED, Recoding, join_boxes, recoding_of


def hold_persons(recoding: Recoding, models: Sequence[Promise], *, join: bool = True) -> Recoding:
    """Return the recoding repaired until each class keeps every model, counted by persons.

    What cannot be repaired is suppressed and counted. join: see `recoding_of`.

    Guarantee:
        Every class that is left keeps every model.
    """
    while recoding.classes:
        wrong = np.flatnonzero(failing_classes(recoding, models))
        if not len(wrong):
            return recoding
        if recoding.classes == 1:
            number = np.array([SUPPRESSED], dtype=np.int64)
        else:
            number = merged(recoding, wrong)
        recoding = relabelled(recoding, number, join=join)
    return recoding


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
