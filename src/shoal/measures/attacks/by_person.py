"""Attacks on persons with several records: whoever knows one record of somebody looks for them.

A person is found where the attacker points at any of their records. Success and guessing are
averages over persons. Where everybody has one record, these are the attacks on records.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.measures.attacks.linkage import Knowledge, fitting_classes
from shoal.measures.attacks.result import AttackQuestion, AttackResult


@dataclass(frozen=True)
class Holdings:
    """Whose records, with which sensitive value, stand in which class.

    Attributes:
        label, person, value, count: int64[cells]; person -1: nobody. A (class, person, value)
            stands once.
        classes: how many there are.
    """

    label: NDArray[np.int64]
    person: NDArray[np.int64]
    value: NDArray[np.int64]
    count: NDArray[np.int64]
    classes: int

    def __post_init__(self) -> None:
        if not self.label.shape == self.person.shape == self.value.shape == self.count.shape:
            raise KernelInputError(problem="labels, persons, values and counts do not fit")

    @cached_property
    def records(self) -> NDArray[np.int64]:
        """Return the records of each class, those of nobody too."""
        found = np.bincount(self.label, weights=self.count, minlength=self.classes)
        return found.astype(np.int64)

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the different (person, class) pairs, sorted, and the records of each."""
        named = self.person >= 0
        key = self.person[named] * max(self.classes, 1) + self.label[named]
        found, place = np.unique(key, return_inverse=True)
        count = np.bincount(place, weights=self.count[named], minlength=len(found))
        width = max(self.classes, 1)
        return found // width, found % width, count.astype(np.int64)

    @cached_property
    def persons(self) -> NDArray[np.int64]:
        """Return the persons of each class."""
        return np.bincount(self.pairs[1], minlength=self.classes).astype(np.int64)

    @cached_property
    def people(self) -> int:
        """Return how many persons there are."""
        return len(np.unique(self.pairs[0]))


def singling_out(held: Holdings) -> AttackResult:
    """Count the persons who are alone in the class of one of their records.

    Example:
        >>> one = np.array([0, 0, 1])
        >>> held = Holdings(one, np.array([0, 1, 1]), one * 0, one * 0 + 1, 2)
        >>> singling_out(held).success
        0.5
    """
    person, label, _ = held.pairs
    alone = len(np.unique(person[held.persons[label] == 1]))
    sizes = held.persons[held.persons > 0]
    return AttackResult(
        attack="singling out",
        question=AttackQuestion.SINGLING_OUT,
        targets=held.people,
        success=alone / held.people if held.people else 0.0,
        baseline=0.0,
        detail={"alone": alone, "smallest_class": int(sizes.min(initial=held.people))},
    )


def linkage(
    known: Knowledge,
    who: NDArray[np.int64],
    classes: NDArray[np.int64],
    *,
    held: Holdings,
    errors: bool = False,
) -> AttackResult:
    """Attack every target: take the classes that fit a record of theirs, and point at a record.

    Args:
        known: a record of each target.
        who: int64[targets], the targets.
        classes: int64[classes, columns], columns of `fits`: the label of each class.
        held: who stands in which class.
        errors: take the nearest classes, whatever they differ in.

    Guarantee:
        A target counts as found with the share of their records among those that fit. Who stands
        where is known, not guessed: the success is exact.
    """
    if len(known.values) != len(who) or held.classes != len(classes):
        raise KernelInputError(problem="targets, classes and those in them do not fit each other")
    person, label, count = held.pairs
    first, last = (np.searchsorted(person, who, side=side) for side in ("left", "right"))
    right = certain = wrong = unmatched = highest = 0.0
    for rows, _, chosen in fitting_classes(known, classes, errors=errors):
        fitting, people = chosen @ held.records, chosen @ held.persons
        for i, target in enumerate(range(rows.start, rows.start + len(chosen))):
            own = slice(first[target], last[target])
            mine = int(count[own][chosen[i, label[own]]].sum())
            hit = mine / int(fitting[i]) if mine else 0.0
            right, highest = right + hit, max(highest, hit)
            certain += hit == 1
            wrong += people[i] == 1 and not mine
            unmatched += fitting[i] == 0
    targets = len(who)
    return AttackResult(
        attack="linkage with errors" if errors else "linkage",
        question=AttackQuestion.LINKABILITY,
        targets=targets,
        success=right / targets if targets else 0.0,
        baseline=1 / held.people if held.people else 0.0,
        detail={
            "found_for_certain": int(certain),
            "wrong_for_certain": int(wrong),
            "without_a_match": int(unmatched),
            "highest": highest,
        },
    )


def homogeneity(held: Holdings) -> AttackResult:
    """Name the value that most persons of the class of a known record have there.

    It is right where the target has the value in this class. Of a person in several classes every
    record is as likely to be known. Guessing names one value for all.
    """
    named = held.person >= 0
    label, person, value = held.label[named], held.person[named], held.value[named]
    values = max(int(value.max(initial=-1)) + 1, 1)
    cell, have = np.unique(label * values + value, return_counts=True)
    # The value that most have; of equals the first one.
    best = np.lexsort((cell % values, -have, cell // values))
    fresh = np.diff(cell[best] // values, prepend=-1) > 0
    top, most = (np.zeros(held.classes, dtype=np.int64) for _ in range(2))
    top[cell[best[fresh]] // values] = cell[best[fresh]] % values
    most[cell[best[fresh]] // values] = have[best[fresh]]
    owner, place, count = held.pairs
    total = np.bincount(owner, weights=count)
    # How likely a record of this person in this class is the one that is known.
    weight = count / total[owner]
    at = np.searchsorted(owner * held.classes + place, person * held.classes + label)
    by_value = np.bincount(value, weights=weight[at], minlength=values)
    right = float(weight[at][value == top[label]].sum())
    same = (most == held.persons) & (held.persons > 0)
    certain = len(np.unique(owner[same[place]]))
    people = held.people
    return AttackResult(
        attack="homogeneity",
        question=AttackQuestion.INFERENCE,
        targets=people,
        success=right / people if people else 0.0,
        baseline=float(by_value.max()) / people if people else 0.0,
        detail={
            "certain_persons": certain,
            "certain_share": certain / people if people else 0.0,
            "homogeneous_classes": int(same.sum()),
        },
    )
