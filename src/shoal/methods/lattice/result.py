"""From the chosen node to a recoding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.kernels.lattice.classes import Classes
from shoal.methods.lattice.constraint import Constraint
from shoal.methods.lattice.evaluate import Answer, Evaluator
from shoal.methods.lattice.space import Node, Space
from shoal.methods.sensitive import sensitive_column
from shoal.privacy import EquivalenceClass, Promise, judge_classes
from shoal.table.recoding import Recoding


def repair(answer: Answer, evaluator: Evaluator) -> Answer:
    """Suppress classes that are no longer close once the suppressed records are gone.

    A search compares classes with the whole table. Whoever checks the release has only
    the released records to compare with, and suppression shifts their distribution a
    little; so classes are judged against what is left until no more of them fails.

    Guarantee:
        Every class left keeps every closeness model against the records left.
    """
    models = closeness_of(evaluator.constraint)
    changed = bool(models) and bool((answer.due > 0).any())
    while changed:
        changed = False
        for model in models:
            before, answer = answer, without_distant(answer, evaluator, model)
            changed = changed or before is not answer
    return answer


def closeness_of(constraint: Constraint) -> list[Promise]:
    """Return the promises that compare a class with all records."""
    return [promise for promise in constraint.models if promise.compares]


def without_distant(
    answer: Answer,
    evaluator: Evaluator,
    model: Promise,
    *,
    total: NDArray[np.int64] | None = None,
) -> Answer:
    """Suppress the classes that a closeness model refuses; the same answer if there are none.

    total: how many records have each value among those that classes are compared with; None:
    the records that are left, or those of the whole where the table is a partition of one.
    """
    failing = _distant(model, answer.classes, answer.due == 0, evaluator=evaluator, total=total)
    if not failing.size:
        return answer
    due = answer.due.copy()
    due[failing] = answer.classes.counts[failing]
    return answer._replace(due=due)


def _distant(
    model: Promise,
    classes: Classes,
    kept: NDArray[np.bool_],
    *,
    evaluator: Evaluator,
    total: NDArray[np.int64] | None,
) -> NDArray[np.int64]:
    """Return the kept classes that a closeness model refuses, judged in exact arithmetic."""
    table = evaluator.space.table
    column = [domain.name for domain in table.sensitive_domains].index(str(model.column))
    begin = int(evaluator.promise.start[column])
    end = int(evaluator.promise.start[column + 1])
    wanted = np.flatnonzero(kept)
    if not wanted.size:  # all are gone: there is nothing left to compare with
        return wanted
    histogram = np.zeros((len(wanted), end - begin), dtype=np.int64)
    for i, c in enumerate(wanted.tolist()):
        span = slice(int(classes.first[c]), int(classes.first[c + 1]))
        value = classes.value[span].astype(np.int64)
        inside = (value >= begin) & (value < end)
        histogram[i, value[inside] - begin] = classes.amount[span][inside]
    if total is None:
        total = histogram.sum(axis=0) if table.whole is None else table.whole[column]
    seen = sensitive_column(table.sensitive_domains[column], total)
    counted = zip(wanted.tolist(), seen.histograms(histogram).tolist(), strict=True)
    judged = judge_classes(
        model,
        (
            EquivalenceClass(int(classes.counts[c]), counts, reference=seen.reference)
            for c, counts in counted
        ),
    )
    return wanted[list(judged.failing)]


def recoding_at(
    space: Space,
    node: Node,
    answer: Answer,
    finest: NDArray[np.int64],
    *,
    facts: Document,
) -> Recoding:
    """Return the release of one node as a recoding; its boxes are all that a label covers.

    finest: the finest class of each row; `answer` was counted from the finest classes.
    """
    table = space.table
    holds = np.flatnonzero(answer.due == 0)
    boxes, order = boxes_at(space, node, codes_at(space, node, answer.classes.codes[:, holds]))
    rank: NDArray[np.int64] = np.full(answer.due.size, -1, dtype=np.int64)
    rank[holds[order]] = np.arange(len(holds))
    return Recoding(
        table=table,
        low=boxes.low,
        high=boxes.high,
        row=np.arange(table.rows, dtype=np.int64),
        label=rank[answer.label][finest],
        count=table.counts,
        node=boxes.node,
        facts=facts,
    )


class Boxes(NamedTuple):
    """What the classes of a node cover and release, see `Recoding`."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    node: NDArray[np.int32]


def boxes_at(space: Space, node: Node, codes: NDArray[np.int64]) -> tuple[Boxes, NDArray[np.int64]]:
    """Return the boxes of classes in their order, and that order.

    codes: int64[classes, columns], the codes of the classes at the node.
    """
    low, high, released = (np.empty(codes.shape, dtype=np.int32) for _ in range(3))
    for j, ladder in enumerate(space.ladders):
        first, last = _reach(ladder.codes[node[j]], len(ladder.nodes[node[j]]))
        low[:, j], high[:, j] = first[codes[:, j]], last[codes[:, j]]
        released[:, j] = ladder.nodes[node[j]][codes[:, j]]
    # The order of the boxes, so that the classes do not tell how they were found.
    order = np.lexsort(np.concatenate((low, high, released), axis=1).T[::-1])
    return Boxes(low[order], high[order], released[order]), order


def codes_at(space: Space, node: Node, packed: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return int64[classes, columns]: the code of each class in each column."""
    found = np.empty((packed.shape[1], len(space.ladders)), dtype=np.int64)
    for block, codes in zip(space.blocks, packed.astype(np.int64), strict=True):
        left = codes
        for j, card in zip(reversed(block), reversed(space.cards(block, node)), strict=True):
            left, found[:, j] = np.divmod(left, card)
    return found


def _reach(codes: NDArray[np.int32], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last code of the domain that becomes each code of a level."""
    first = np.zeros(size, dtype=np.int64)
    last = np.zeros(size, dtype=np.int64)
    places = np.arange(len(codes))
    first[codes[::-1]] = places[::-1]  # what is written last stays
    last[codes] = places
    return first, last
