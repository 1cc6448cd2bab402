"""Joining classes that fail with a neighbour, where no other class covers their records.

The label of two joined classes covers what both covered. Classes of a model of cuts stand in the
order of its tree, so near ones are neighbours there; the one that costs least is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.model.batch import Histogram, Judge, ReleasedTuple, Texts
from shoal.model.extents import Box, Extents, joined
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder

NEAR = 24
"""Classes to either side that a failing one is tried with."""

Joined = dict[ReleasedTuple, ReleasedTuple | None]


@dataclass
class _Class:
    """Records that will be released alike, and the classes that they came from."""

    box: Box
    records: int
    histogram: Counter[Texts]
    members: list[ReleasedTuple]

    @property
    def labels(self) -> ReleasedTuple:
        """Return what is released."""
        return tuple(extent.label for extent in self.box)


def extents_of(model: RecodingModel, encoder: Encoder) -> list[Extents]:
    """Return what reads and joins the labels of each column."""
    is_round = model.schema.has_round_labels
    return [
        Extents(column, plan, is_round=is_round)
        for column, plan in zip(model.columns, encoder.plans, strict=True)
    ]


def order_of(model: RecodingModel) -> dict[ReleasedTuple, int]:
    """Return the place of each released tuple among the classes."""
    place: dict[ReleasedTuple, int] = {}
    for number, each in enumerate(model.tuples()):
        place.setdefault(each, number)
    return place


def join_failing(
    classes: Mapping[ReleasedTuple, Histogram],
    columns: Sequence[Extents],
    order: Mapping[ReleasedTuple, int],
    judge: Judge,
) -> Joined:
    """Return what each class is released as, so that all keep the promise; None: suppressed.

    Guarantee:
        Each label covers the label of the class. Together the classes keep the promise.
    """
    last = len(order)
    ordered = sorted(classes, key=lambda key: (order.get(key, last), [x or "" for x in key]))
    found = [
        _Class(
            tuple(column.read(label) for column, label in zip(columns, key, strict=True)),
            sum(classes[key].values()), Counter(classes[key]), [key],
        )
        for key in ordered
    ]  # fmt: skip
    found = _by_label(found, columns)
    while found and (failing := _failing(found, judge)):
        if len(found) == 1:
            found = []
            break
        found = _by_label(_joined_once(found, failing, columns), columns)
    answer: Joined = dict.fromkeys(classes)
    answer.update({member: each.labels for each in found for member in each.members})
    return answer


def _failing(classes: Sequence[_Class], judge: Judge) -> set[int]:
    return judge.failing({at: each.histogram for at, each in enumerate(classes)})


def _joined_once(
    classes: list[_Class], failing: set[int], columns: Sequence[Extents]
) -> list[_Class]:
    """Join each class that fails, the smallest first; none is joined twice."""
    gone: set[int] = set()
    away: set[int] = set()
    for at in sorted(failing, key=lambda at: (classes[at].records, at)):
        if at in gone:
            continue
        other = _cheapest(classes, at, columns, gone)
        if other is None:
            continue
        classes[min(at, other)] = _united(classes[at], classes[other], columns)
        gone |= {at, other}
        away.add(max(at, other))
    return [each for at, each in enumerate(classes) if at not in away]


def _cheapest(
    classes: Sequence[_Class], at: int, columns: Sequence[Extents], gone: set[int]
) -> int | None:
    """Return the neighbour that a class is joined with at least cost."""
    best, least = None, float("inf")
    for other in range(max(at - NEAR, 0), min(at + NEAR + 1, len(classes))):
        if other != at and other not in gone:
            cost = _cost_of_joining(classes[at], classes[other], columns, least)
            if cost < least:
                best, least = other, cost
    return best


def _cost_of_joining(one: _Class, other: _Class, columns: Sequence[Extents], least: float) -> float:
    both = one.records + other.records
    cost = 0.0
    for column, a, b in zip(columns, one.box, other.box, strict=True):
        if a.label != b.label:
            joint = column.cost(column.join(a, b))
            cost += both * joint - one.records * column.cost(a) - other.records * column.cost(b)
    return min(cost, least)


def _united(one: _Class, other: _Class, columns: Sequence[Extents]) -> _Class:
    return _Class(
        joined(columns, one.box, other.box), one.records + other.records,
        one.histogram + other.histogram, one.members + other.members,
    )  # fmt: skip


def _by_label(classes: Sequence[_Class], columns: Sequence[Extents]) -> list[_Class]:
    """Return classes with those of one label as one: who reads the release cannot tell them."""
    found: dict[ReleasedTuple, _Class] = {}
    for each in classes:
        known = found.get(each.labels)
        found[each.labels] = each if known is None else _united(known, each, columns)
    return list(found.values())
