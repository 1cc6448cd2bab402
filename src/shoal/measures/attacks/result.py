"""AttackResult: how often an attack is right, beside how often guessing is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

PERSONS_ATTACKED = (
    "persons are attacked by singling out, linkage and homogeneity; the other attacks look for "
    "records and are left out"
)
"""What a report says where every attack was asked for and persons are counted."""


class AttackQuestion(StrEnum):
    """The three questions of the European guidance on anonymisation (opinion 05/2014)."""

    SINGLING_OUT = "singling out"
    LINKABILITY = "linkability"
    INFERENCE = "inference"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackResult:
    """One attack on one table.

    Attributes:
        targets: records, or persons, that were attacked.
        success: expected share of targets for which the attacker is right.
        baseline: the same for somebody who has not seen the table's classes.
        detail: further counts and shares; never a value of the table.
    """

    attack: str
    question: AttackQuestion
    targets: int
    success: float
    baseline: float
    detail: Mapping[str, float | int | None] = field(default_factory=dict)

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
            **self.detail,
        }


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
