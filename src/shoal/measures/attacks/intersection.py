"""Intersection: who holds several releases of a table looks into the meet of their classes."""

from __future__ import annotations

from shoal.measures.attacks.result import AttackQuestion, AttackResult, Comparison
from shoal.reports.composition import Composition


def intersection(found: Composition, k: int) -> Comparison:
    """Return how many records are alone in the meet of releases, beside the table as it is.

    k: what few people are. The control is one release: what the best of them gives away alone.
    """
    of = found.published
    certain = {f"certain_{name}": together for name, (_, together) in found.certain.items()}
    alone = {f"certain_{name}_alone": one for name, (one, _) in found.certain.items()}
    after = AttackResult(
        attack="intersection of releases",
        question=AttackQuestion.SINGLING_OUT,
        targets=of,
        success=found.alone / of if of else 0.0,
        baseline=0.0,
        assumption="the attacker holds all these releases and knows in which class of each the "
        "person is",
        detail={
            "releases": found.releases,
            "smallest_class": found.smallest_class,
            "alone": found.alone,
            "few": found.below[k],
            "few_share": found.below[k] / of if of else 0.0,
            "unknown": found.unknown,
            **certain,
            **alone,
        },
    )
    before = AttackResult(
        attack=after.attack, question=after.question, targets=of, success=1.0, baseline=0.0
    )
    return Comparison(before=before, after=after)
