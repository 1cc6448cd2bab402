"""How whoever reads released tables tells persons and rows apart, and what fails by that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.methods.judging import failing_classes
from shoal.methods.linked.shapes import LinkedCounts, Numbers, Position
from shoal.table.recoding import Recoding, same_labels


@dataclass(frozen=True)
class Group:
    """Persons who release trees of the same shape.

    Attributes:
        positions: of the tree, parents first.
        records: int64[persons, positions], in the order of `recoding`.
        recoding: of the long rows.
    """

    positions: tuple[Position, ...]
    records: Numbers
    recoding: Recoding

    @property
    def label(self) -> Numbers:
        """Return the class of each person."""
        return np.repeat(self.recoding.label, self.recoding.count)


class Boxes(NamedTuple):
    """What the places of one table release, one class of persons behind the other.

    Attributes:
        low, high: the boxes.
        at: of each group, int64[classes, its places of the table]: which box.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    at: list[Numbers]


def boxes_of(tables: Sequence[LinkedCounts], groups: Sequence[Group], table: int) -> Boxes:
    """Take the boxes of long rows apart."""
    width = len(tables[table].table.domains)
    lows: list[NDArray[np.int32]] = [np.zeros((0, width), dtype=np.int32)]
    highs, at, begin = list(lows), [], 0
    for group in groups:
        starts = np.cumsum([0, *(len(tables[p.table].table.domains) for p in group.positions)])
        own = [i for i, position in enumerate(group.positions) if position.table == table]
        columns = (starts[own][:, None] + np.arange(width)).ravel()
        classes, number = group.recoding.classes, group.recoding.classes * len(own)
        lows.append(group.recoding.low[:, columns].reshape(number, width))
        highs.append(group.recoding.high[:, columns].reshape(number, width))
        at.append(begin + np.arange(number).reshape(classes, len(own)))
        begin += number
    return Boxes(np.concatenate(lows), np.concatenate(highs), at)


class _Views(NamedTuple):
    """How whoever reads a release can tell the places of a group's classes apart.

    Attributes:
        tree: of each class, what its persons release.
        place: int64[classes, positions]: a tree and a way down it, equal subtrees alike.
        way: the tuples from the person down to a place.
        own: the tuple at a place.
    """

    tree: Numbers
    place: Numbers
    way: Numbers
    own: Numbers


class _Names(dict[tuple[object, ...], int]):
    """Numbers that are given out to whatever is asked for."""

    def of(self, key: tuple[object, ...]) -> int:
        return self.setdefault(key, len(self))


def _views(tables: Sequence[LinkedCounts], groups: Sequence[Group]) -> list[_Views]:
    """Number what can be told apart, over all groups."""
    numbers = []
    boxes = [boxes_of(tables, groups, table) for table in range(len(tables))]
    for each, found in zip(tables, boxes, strict=True):
        numbers.append(same_labels(each.table, found.low, found.high, None))
    trees, places, ways = _Names(), _Names(), _Names()
    views = []
    for g, group in enumerate(groups):
        own = np.empty((group.recoding.classes, len(group.positions)), dtype=np.int64)
        for table, found in enumerate(boxes):
            at = [i for i, position in enumerate(group.positions) if position.table == table]
            own[:, at] = numbers[table][found.at[g]]
        tree, place, way = np.empty_like(own), np.empty_like(own), np.empty_like(own)
        for c, labels in enumerate(own.tolist()):
            tree[c] = subtrees = _subtrees(group.positions, labels, trees)
            above: list[tuple[int, int]] = []
            for i, (table, up) in enumerate(group.positions):
                before = above[up] if up >= 0 else (-1, -1)
                here = places.of((before[0], subtrees[i]))
                above.append((here, ways.of((before[1], table, labels[i]))))
            place[c], way[c] = zip(*above, strict=True)
        views.append(_Views(tree[:, 0], place, way, own))
    return views


def _subtrees(positions: Sequence[Position], labels: Sequence[int], names: _Names) -> list[int]:
    """Number what hangs on each place, itself included: equal trees alike, in whatever order."""
    below: list[list[int]] = [[] for _ in positions]
    found = [0] * len(positions)
    for i in range(len(positions) - 1, -1, -1):
        table, up = positions[i]
        found[i] = names.of((table, labels[i], *sorted(below[i])))
        if up >= 0:
            below[up].append(found[i])
    return found


def failing(tables: Sequence[LinkedCounts], groups: Sequence[Group]) -> list[NDArray[np.bool_]]:
    """Say of each class of persons whether it breaks a promise, as whoever reads it sees."""
    views = _views(tables, groups)
    wrong = [np.zeros(group.recoding.classes, dtype=np.bool_) for group in groups]
    for at, each in enumerate(tables):
        if not each.promise:
            continue
        rows, labels, owner = [], [], []
        for g, (group, view) in enumerate(zip(groups, views, strict=True)):
            for i, position in enumerate(group.positions):
                if position.table == at:
                    which = group.label
                    rows.append(each.row[group.records[:, i]])
                    seen = (view.tree, view.place[:, i], view.way[:, i], view.own[:, i])
                    labels.append(np.stack([part[which] for part in seen]))
                    owner.append(np.stack((np.full(len(which), g), which)))
        if not rows:
            continue
        row, whose = np.concatenate(rows), np.concatenate(owner, axis=1)
        for label in np.concatenate(labels, axis=1):
            failed = _judged(each, row, label)
            for g, found in enumerate(wrong):
                found[whose[1, (whose[0] == g) & failed]] = True
    return wrong


def _judged(each: LinkedCounts, row: Numbers, label: Numbers) -> NDArray[np.bool_]:
    """Say of each record whether it is in a class that breaks a promise. label: its class."""
    numbers, dense = np.unique(label, return_inverse=True)
    none = np.zeros((len(numbers), len(each.table.domains)), dtype=np.int32)
    ones = np.ones(len(row), dtype=np.int64)
    found: NDArray[np.bool_] = failing_classes(
        Recoding(each.table, none, none, row, dense, ones), each.promise
    )[dense]
    return found
