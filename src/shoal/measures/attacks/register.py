"""A register beside a release: whom its classes prove to be in the table, and how likely the rest.

Somebody holds a list of people with their quasi-identifiers and looks for those who fit a class.
Where the label says that somebody must stand in a place, and only one person of the register
stands there, that person is in the table. So is everybody who fits a class of as many records as
there are people who fit it. Of all others it is a guess: so many records, so many who fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.measures.attacks.result import AttackQuestion, AttackResult, Scores

MOST_PEOPLE_IN_CLASSES = 20_000_000_000
"""People of a register times classes up to which it is compared with a release."""

Places = NDArray[np.float64]
Numbers = NDArray[np.int64]
SURE = 0.9


@dataclass(frozen=True)
class Crowd:
    """People by their places in each column; several rows may be one person's.

    Attributes:
        places: float64[rows, columns].
        who: int64[rows], numbers 0, 1, … of persons.
    """

    places: Places
    who: Numbers

    @property
    def people(self) -> int:
        """Return the number of people."""
        return int(self.who.max(initial=-1)) + 1


@dataclass(frozen=True)
class Boxes:
    """Released classes.

    Attributes:
        low, high: float64[classes, columns].
        sizes: int64[classes], records.
        zones: for each class, columns and the two ends of where somebody must stand in them.
    """

    low: Places
    high: Places
    sizes: Numbers
    zones: list[list[tuple[int, float, float]]]

    @property
    def is_root(self) -> NDArray[np.bool_]:
        """Say which classes release the root of every column: who is suppressed."""
        return np.array(np.logical_and.reduce(np.isinf(self.high), axis=1), dtype=np.bool_)


def members_of(boxes: Boxes, crowd: Crowd) -> Iterator[Numbers]:
    """Yield, class by class, the rows of a crowd that fit."""
    spread = [len(np.unique(column)) for column in crowd.places.T]
    widest = int(np.argmax(spread)) if spread else 0
    order = np.argsort(crowd.places[:, widest], kind="stable")
    ordered = crowd.places[order]
    line = ordered[:, widest]
    begin = np.searchsorted(line, boxes.low[:, widest], side="left")
    end = np.searchsorted(line, boxes.high[:, widest], side="right")
    for c in range(len(boxes.sizes)):
        rows = np.arange(begin[c], end[c])  # none, where an end is no number
        for j in range(ordered.shape[1]):
            if j != widest and len(rows):
                place = ordered[rows, j]
                rows = rows[(place >= boxes.low[c, j]) & (place <= boxes.high[c, j])]
        yield order[rows]


@dataclass(frozen=True)
class Claims:
    """What is claimed of each person of a register.

    Attributes:
        proven: bool[people], the labels leave no doubt.
        chance: float64[people], how likely the attacker takes them to be in the table.
    """

    proven: NDArray[np.bool_]
    chance: NDArray[np.float64]


def claims(boxes: Boxes, crowd: Crowd, *, one_record: bool = True) -> Claims:
    """Look for everybody of a register in every class.

    one_record: nobody has two records, so that a class of so many records is as many people.
    """
    proven = np.zeros(crowd.people, dtype=np.bool_)
    chance = np.zeros(crowd.people)
    for c, rows in enumerate(members_of(boxes, crowd)):
        fitting = np.unique(crowd.who[rows])
        if not len(fitting):
            continue
        share = min(float(boxes.sizes[c]) / len(fitting), 1.0)
        chance[fitting] = np.maximum(chance[fitting], share)
        if one_record and len(fitting) <= boxes.sizes[c]:
            proven[fitting] = True
        for j, low, high in boxes.zones[c]:
            place = crowd.places[rows, j]
            there = np.unique(crowd.who[rows[(place >= low) & (place <= high)]])
            if len(there) == 1:
                proven[there] = True
    chance[proven] = 1.0
    return Claims(proven, chance)


def membership(found: Claims, is_member: NDArray[np.bool_]) -> AttackResult:
    """Score what was claimed of the people of a register by who is in the table.

    is_member: bool[people].
    """
    members, others = int(is_member.sum()), int((~is_member).sum())
    proven = Scores.of(found.proven, is_member)
    sure = Scores.of(found.chance >= SURE, is_member)
    return AttackResult(
        attack="membership by a register",
        question=AttackQuestion.SINGLING_OUT,
        targets=members,
        success=proven.right / members if members else 0.0,
        baseline=0.0,
        assumption="the register holds everybody of the table, with the values that are in it, and "
        "labels are as narrow as the method allows",
        control=None if not others else (proven.claimed - proven.right) / others,
        detail={
            **proven.detail("proven"),
            "proven_of_the_register": proven.claimed / len(is_member) if len(is_member) else 0.0,
            "people_in_the_register": len(is_member),
            **sure.detail("sure"),
        },
    )
