"""Attacks on the sensitive value of a person whose class is known: no record need be found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError, MethodError
from shoal.measures.attacks.result import AttackQuestion, AttackResult

SKEWED = 0.2
"""A class is called skewed when some value is so much commoner in it than in the table."""


@dataclass(frozen=True)
class Cells:
    """A table as cells: records of each class with each sensitive value.

    Attributes:
        label: int64[cells], the class.
        value: int64[cells], the sensitive value, 0, 1, …
        count: int64[cells], records; a (class, value) stands once.
    """

    label: NDArray[np.int64]
    value: NDArray[np.int64]
    count: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not self.label.shape == self.value.shape == self.count.shape:
            raise KernelInputError(problem="labels, values and counts do not fit each other")
        if len(self.label) and min(self.label.min(), self.value.min()) < 0:
            raise KernelInputError(problem="a label or value is below 0")

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Return the records of each class."""
        return np.bincount(self.label, weights=self.count).astype(np.int64)

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """Return the records of each value in the whole table."""
        return np.bincount(self.value, weights=self.count).astype(np.int64)

    @property
    def records(self) -> int:
        """Return the number of records."""
        return int(self.count.sum())

    def grouped(self, group: NDArray[np.int64]) -> Cells:
        """Return the cells with values joined: value v becomes group[v]."""
        width = int(group.max(initial=0)) + 1
        keys, where = np.unique(self.label * width + group[self.value], return_inverse=True)
        count = np.bincount(where, weights=self.count).astype(np.int64)
        return Cells(keys // width, keys % width, count)


def homogeneity(cells: Cells, *, name: str = "homogeneity") -> AttackResult:
    """Name the commonest value of the person's class; in a homogeneous class it is certain.

    Example:
        >>> cells = Cells(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([3, 2, 1]))
        >>> result = homogeneity(cells)
        >>> round(result.success, 3), result.detail["certain_records"]
        (0.833, 3)
    """
    records = cells.records
    top = _largest(cells)
    same = top == cells.sizes
    return AttackResult(
        attack=name,
        question=AttackQuestion.INFERENCE,
        targets=records,
        success=float(top.sum()) / records if records else 0.0,
        baseline=float(cells.totals.max(initial=0)) / records if records else 0.0,
        detail={
            "certain_records": int(cells.sizes[same].sum()),
            "certain_share": float(cells.sizes[same].sum()) / records if records else 0.0,
            "homogeneous_classes": int((same & (cells.sizes > 0)).sum()),
        },
    )


def similarity(cells: Cells, group: NDArray[np.int64]) -> AttackResult:
    """The same for values that mean nearly the same: group[v] is the meaning of value v."""
    if len(group) < len(cells.totals):
        raise KernelInputError(problem="a value has no group")
    return homogeneity(cells.grouped(group), name="similarity")


def skewness(cells: Cells) -> AttackResult:
    """Bet on the value that is most overrepresented in the person's class."""
    records = cells.records
    if not records:
        return AttackResult(
            attack="skewness",
            question=AttackQuestion.INFERENCE,
            targets=0,
            success=0.0,
            baseline=0.0,
        )
    share = cells.count / cells.sizes[cells.label]
    usual = cells.totals[cells.value] / records
    gain = share - usual
    best = np.full(len(cells.sizes), -np.inf)
    np.maximum.at(best, cells.label, gain)
    # One bet a class: of equal gains the one with the smallest value number.
    order = np.lexsort((cells.value, -gain, cells.label))
    first = np.ones(len(order), dtype=bool)
    first[1:] = cells.label[order][1:] != cells.label[order][:-1]
    bets = order[first]
    weight = cells.sizes[cells.label[bets]]
    skewed = best > SKEWED
    return AttackResult(
        attack="skewness",
        question=AttackQuestion.INFERENCE,
        targets=records,
        success=float((weight * share[bets]).sum()) / records,
        baseline=float((weight * usual[bets]).sum()) / records,
        detail={
            "largest_gain": float(gain.max()),
            "skewed_records": int(cells.sizes[skewed].sum()),
            "skewed_share": float(cells.sizes[skewed].sum()) / records,
        },
    )


def background(cells: Cells, known: int) -> AttackResult:
    """Rule out values: the attacker knows `known` values that the person does not have.

    For each person the commonest other values are ruled out: the worst case. The baseline
    is the same knowledge without classes.

    Raises:
        MethodError: `known` is below 0.
    """
    if known < 0:
        raise MethodError(problem="the number of known values must be at least 0")
    records = cells.records
    left = cells.sizes[cells.label] - _largest_others(cells, known)
    sure = cells.count == left
    totals = cells.totals
    whole = np.flatnonzero(totals)
    single = Cells(np.zeros(len(whole), np.int64), whole.astype(np.int64), totals[whole])
    rest = records - _largest_others(single, known)
    success = float((cells.count * (cells.count / left)).sum()) / records if records else 0.0
    guess = float((single.count * (single.count / rest)).sum()) / records if records else 0.0
    return AttackResult(
        attack=f"background knowledge of {known} values",
        question=AttackQuestion.INFERENCE,
        targets=records,
        success=success,
        baseline=guess,
        detail={
            "certain_records": int(cells.count[sure].sum()),
            "certain_share": float(cells.count[sure].sum()) / records if records else 0.0,
        },
    )


def _largest(cells: Cells) -> NDArray[np.int64]:
    top = np.zeros(len(cells.sizes), dtype=np.int64)
    np.maximum.at(top, cells.label, cells.count)
    return top


def _largest_others(cells: Cells, known: int) -> NDArray[np.int64]:
    """Return for each cell the records of the `known` largest other cells of its class."""
    order = np.lexsort((cells.value, -cells.count, cells.label))
    label, count = cells.label[order], cells.count[order]
    if not len(label):
        return count
    starts = np.flatnonzero(np.concatenate(([True], label[1:] != label[:-1])))
    ends = np.append(starts[1:], len(label))
    begin = np.repeat(starts, ends - starts)
    rank = np.arange(len(label)) - begin
    sums = np.concatenate(([0], np.cumsum(count)))
    end = np.repeat(ends, ends - starts)
    # Cells among the first `known` leave themselves out and take one more.
    inside = rank < known
    upto = np.minimum(begin + known + inside, end)
    others = sums[upto] - sums[begin] - np.where(inside, count, 0)
    back = np.empty(len(order), dtype=np.int64)
    back[order] = others
    return back
