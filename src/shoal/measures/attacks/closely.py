"""Reading a release closely: what labels print, what a node forces, what a class infers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.measures.attacks.narrow import Meaning
from shoal.measures.attacks.register import SURE, Boxes, Crowd, claims, members_of
from shoal.measures.attacks.result import AttackQuestion, AttackResult, Scores

Numbers = NDArray[np.int64]


class Cells(NamedTuple):
    """The records of each class and sensitive value; values: how many different ones there are."""

    label: Numbers
    value: Numbers
    records: Numbers
    values: int


def ends_and_tuples(codes: Numbers, meanings: Sequence[Sequence[Meaning]]) -> tuple[int, int]:
    """Return the ends of intervals that are values of people, and whole tuples that must exist.

    A tuple must exist where an interval is all that a class hides.
    """
    tight = _by_class(codes, meanings, lambda each: each.is_tight)
    wide = _by_class(codes, meanings, lambda each: each.low != each.high)
    alone = tight.any(axis=1) & (wide.sum(axis=1) == 1)
    return 2 * int(tight.sum()), 2 * int(alone.sum())


def _by_class(
    codes: Numbers, meanings: Sequence[Sequence[Meaning]], asked: Callable[[Meaning], bool]
) -> NDArray[np.bool_]:
    found = np.zeros(codes.shape, dtype=np.bool_)
    for j, each in enumerate(meanings):
        found[:, j] = np.array([asked(one) for one in each], dtype=np.bool_)[codes[:, j]]
    return found


def printed(
    boxes: Boxes, everybody: Crowd, ends: int, tuples: int, *, one_record: bool
) -> AttackResult:
    """Count the people of the table whom a place of a label fits alone.

    ends, tuples: see `ends_and_tuples`.
    """
    own = Boxes(boxes.low, boxes.high, np.zeros_like(boxes.sizes), boxes.zones)
    found = claims(own, everybody, one_record=one_record)
    alone = int(found.proven.sum())
    return AttackResult(
        attack="values that labels print",
        question=AttackQuestion.SINGLING_OUT,
        targets=everybody.people,
        success=alone / everybody.people if everybody.people else 0.0,
        baseline=0.0,
        assumption="the attacker knows the quasi-identifiers of everybody in the table, and that "
        "labels are as narrow as the method allows",
        detail={"ends": ends, "tuples": tuples, "people_alone_in_a_place": alone},
    )


def downcoding(
    codes: Numbers,
    meanings: Sequence[Sequence[Meaning]],
    is_tree: Sequence[bool],
    boxes: Boxes,
    everybody: Crowd,
) -> AttackResult:
    """Write each node with two children as both: in its class somebody must have each.

    A claim (somebody in this class has this child) is right if somebody of the table fits.
    is_tree: of each column, whether it releases nodes of a hierarchy.
    """
    told: NDArray[np.bool_] = np.array(is_tree, dtype=np.bool_) & ~boxes.is_root[:, None]
    forced = _by_class(codes, meanings, lambda each: each.is_forced) & told
    wide = _by_class(codes, meanings, lambda each: each.low != each.high) & told
    claimed = right = 0
    for c, rows in enumerate(members_of(boxes, everybody)):
        for j, low, high in boxes.zones[c]:
            if forced[c, j]:
                place = everybody.places[rows, j]
                claimed += 1
                right += bool(((place >= low) & (place <= high)).any())
    cells, finer = (int((each * boxes.sizes[:, None]).sum()) for each in (wide, forced))
    return AttackResult(
        attack="downcoding",
        question=AttackQuestion.INFERENCE,
        targets=cells,
        success=finer / cells if cells else 0.0,
        baseline=0.0,
        assumption="the attacker knows the hierarchies, and that a class releases the lowest node "
        "above its values",
        detail={
            "coarse_cells": cells, "forced_cells": finer,
            **Scores(claimed, right, claimed).detail("child"),
        },
    )  # fmt: skip


def inference(boxes: Boxes, everybody: Crowd, true: Numbers, cells: Cells) -> AttackResult:
    """Name the commonest value among the records of all classes that a person fits.

    The control is somebody like each person who is not in the table: the same count without the
    person's own record. Of a person with several records each is asked about by itself.

    true: int64[rows of the crowd], the sensitive value of each.
    """
    rows_of = list(members_of(boxes, everybody))
    order = np.argsort(cells.label, kind="stable")
    starts = np.searchsorted(cells.label[order], np.arange(len(boxes.sizes) + 1))
    seen: dict[int, dict[int, int]] = {}
    for c, rows in enumerate(rows_of):
        own = order[starts[c] : starts[c + 1]]
        pairs = list(zip(cells.value[own].tolist(), cells.records[own].tolist(), strict=True))
        for row in rows.tolist():
            found = seen.setdefault(row, {})
            for value, count in pairs:
                found[value] = found.get(value, 0) + count
    asked = len(true)
    chance, right, other = np.zeros(asked), np.zeros(asked, dtype=bool), np.zeros(asked, dtype=bool)
    for row, found in seen.items():
        best = max(found, key=lambda value: (found[value], -value))
        chance[row] = found[best] / sum(found.values())
        right[row] = best == true[row]
        own_value = int(true[row])
        if own_value in found:
            found[own_value] -= 1
        other[row] = max(found, key=lambda value: (found[value], -value)) == own_value
    told, sure = chance > 0.5, chance >= SURE
    usual = np.bincount(true, minlength=cells.values)
    return AttackResult(
        attack="inference of a value",
        question=AttackQuestion.INFERENCE,
        targets=asked,
        success=float(right.mean()) if asked else 0.0,
        baseline=float(usual.max(initial=0) / asked) if asked else 0.0,
        assumption="the attacker knows a person's quasi-identifiers, and that the person is in the "
        "table",
        control=float(other.mean()) if asked else None,
        detail={
            **_scored(told, right).detail("likely"),
            **_scored(sure, right).detail("sure"),
        },
    )


def _scored(claimed: NDArray[np.bool_], right: NDArray[np.bool_]) -> Scores:
    """Score claims about people, of each of whom something is true: recall is of all."""
    return Scores(int(claimed.sum()), int((claimed & right).sum()), len(right))
