"""AttackResult: how often an attack is right, beside how often guessing is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt

import numpy as np
from numpy.typing import NDArray

PERSONS_ATTACKED = (
    "persons are attacked by singling out, linkage, homogeneity and a close reading of labels; the "
    "other attacks look for records and are left out"
)
"""What a report says where every attack was asked for and persons are counted."""


class AttackQuestion(StrEnum):
    """The three questions of the European guidance on anonymisation (opinion 05/2014)."""

    SINGLING_OUT = "singling out"
    LINKABILITY = "linkability"
    INFERENCE = "inference"


_NORMAL = 1.959963984540054  # 95 % of a normal law lie within so many deviations


def interval_of(share: float, number: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share (Wilson's).

    Example:
        >>> [round(end, 3) for end in interval_of(0.0, 100)]
        [0.0, 0.037]
    """
    if not number:
        return 0.0, 1.0
    square = _NORMAL**2 / number
    middle = (share + square / 2) / (1 + square)
    half = sqrt(share * (1 - share) * square + square**2 / 4) / (1 + square)
    return max(min(middle - half, share), 0.0), min(max(middle + half, share), 1.0)


@dataclass(frozen=True, slots=True)
class Scores:
    """Claims of an attacker, scored by the truth before anybody reads them."""

    claimed: int
    right: int
    true: int

    @classmethod
    def of(cls, claimed: NDArray[np.bool_], true: NDArray[np.bool_]) -> Scores:
        """Score claims by what is true of the same people."""
        return cls(int(claimed.sum()), int((claimed & true).sum()), int(true.sum()))

    def detail(self, name: str) -> dict[str, float | int | None]:
        """Return number, precision with its interval, and recall, under names that begin so."""
        precision = self.right / self.claimed if self.claimed else None
        low, high = (None, None) if precision is None else interval_of(precision, self.claimed)
        return {
            f"{name}_claims": self.claimed,
            f"{name}_right": precision,
            f"{name}_right_low": low,
            f"{name}_right_high": high,
            f"{name}_recall": self.right / self.true if self.true else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackResult:
    """One attack on one table.

    Attributes:
        targets: records, or persons, that were attacked.
        success: expected share of targets for which the attacker is right.
        baseline: the same for somebody who has not seen the table's classes.
        detail: further counts and shares; never a value of the table.
        assumption: what the attacker must know or hold, in a sentence; "": the name says it.
        control: the same success with people who are not in the table; None: there are none.
    """

    attack: str
    question: AttackQuestion
    targets: int
    success: float
    baseline: float
    detail: Mapping[str, float | int | None] = field(default_factory=dict)
    assumption: str = ""
    control: float | None = None

    @property
    def advantage(self) -> float:
        """Return how much of the room between guessing and certainty the attack wins, 0 … 1.

        Example:
            >>> AttackResult(attack="a", question=AttackQuestion.INFERENCE, targets=1,
            ...              success=0.75, baseline=0.5).advantage
            0.5
        """
        if self.baseline >= 1:
            return 0.0
        return max((self.success - self.baseline) / (1 - self.baseline), 0.0)

    def to_document(self) -> dict[str, object]:
        """Return the result as plain data."""
        return {
            "attack": self.attack,
            "question": str(self.question),
            "targets": self.targets,
            "success": self.success,
            "baseline": self.baseline,
            "advantage": self.advantage,
            **self._account(),
            **self.detail,
        }

    def _account(self) -> dict[str, object]:
        """Return the assumption, how sure the success is, and the control."""
        if not self.assumption:
            return {}
        low, high = interval_of(self.success, self.targets)
        return {
            "assumption": self.assumption, "success_low": low, "success_high": high,
            "control": self.control,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One attack, carried out on the original and on the release."""

    before: AttackResult
    after: AttackResult

    @property
    def attack(self) -> str:
        """Return the name of the attack."""
        return self.after.attack

    def to_document(self) -> dict[str, object]:
        """Return both results as plain data."""
        return {
            "attack": self.attack,
            "question": str(self.after.question),
            "before": self.before.to_document(),
            "after": self.after.to_document(),
        }
