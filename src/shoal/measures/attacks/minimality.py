"""Minimality: who knows that an algorithm generalizes only when it must, learns from it [wong2007].

Wong, Fu, Wang and Pei (2007): if all parts of a class are large enough for k-anonymity,
the class was made for the sake of diversity, so at least one part must have broken it.
Given that, the sensitive value is likelier in the small parts than its share in the class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb

from shoal.core.errors import MethodError
from shoal.measures.attacks.result import AttackQuestion, AttackResult

MOST_RECORDS = 600
"""Classes larger than this are left out: no search makes them for diversity alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedClass:
    """A released class as the attacker sees it, and the truth to score by.

    Attributes:
        parts: people of each original quasi-identifier tuple in the class.
        holders: of them, how many really have the value that is attacked.
    """

    parts: tuple[int, ...]
    holders: tuple[int, ...]


def merged_classes(cells: Iterable[tuple[int, int, str | None, int]]) -> list[MergedClass]:
    """Return released classes with the original's tuples that they cover.

    Args:
        cells: the class, a tuple in it, a sensitive value and its records, each once. The
            commonest value of a class is attacked; of equal ones, the first by its text.
    """
    inside: dict[int, dict[int, dict[str | None, int]]] = {}
    for label, part, value, records in cells:
        inside.setdefault(label, {}).setdefault(part, {})[value] = records
    merged = []
    for parts in inside.values():
        total: Counter[str | None] = Counter()
        for held in parts.values():
            total.update(held)
        top = max(sorted(total, key=str), key=total.__getitem__)
        merged.append(
            MergedClass(
                parts=tuple(sum(held.values()) for held in parts.values()),
                holders=tuple(held.get(top, 0) for held in parts.values()),
            )
        )
    return merged


def credibility(parts: Sequence[int], held: int, *, l: float) -> list[float]:  # noqa: E741
    """Return, for each part, the probability of the value, given that some part broke 1/l.

    All ways to share out the value among the people are equally likely beforehand.

    Args:
        parts: people in each part.
        held: people in the class who have the value.
        l: no part may have had more than 1/l of its people with the value.

    Example:
        >>> [round(p, 4) for p in credibility([2, 8], 2, l=4)]
        [0.5294, 0.1176]
    """
    caps = [int(n / l) for n in parts]
    total = comb(sum(parts), held)
    within = _ways(parts, caps, held)
    broken = total - within
    if broken <= 0:
        return [held / sum(parts)] * len(parts)
    found = []
    for i, size in enumerate(parts):
        # Expected holders in part i over all ways, minus those over the ways that break nothing.
        rest_parts = [*parts[:i], *parts[i + 1 :]]
        rest_caps = [*caps[:i], *caps[i + 1 :]]
        quiet = sum(
            x * comb(size, x) * _ways(rest_parts, rest_caps, held - x)
            for x in range(min(caps[i], held) + 1)
        )
        # Whole numbers to the end: the difference of the two may be a tiny part of either.
        found.append((total * held * size - quiet * sum(parts)) / (broken * sum(parts) * size))
    return [min(max(p, 0.0), 1.0) for p in found]


def minimality(classes: Sequence[MergedClass], *, k: int, l: float) -> AttackResult:  # noqa: E741
    """Attack the classes that k-anonymity alone does not explain.

    The attacker bets on the value wherever its credibility exceeds 1/l, the share that
    diversity promises; the baseline is the value's share in the same classes.

    Args:
        classes: merged classes; those with one part say nothing.
        k: smallest class that the algorithm allows, as the attacker knows.
        l: no value may have more than 1/l of a class, as the attacker knows.
    """
    if k < 1 or l < 1:
        raise MethodError(problem="k and l must be at least 1")
    people = right = guessed = 0.0
    highest = 0.0
    applies = bets = 0
    for each in classes:
        size, held = sum(each.parts), sum(each.holders)
        fits = len(each.parts) > 1 and min(each.parts) >= k and held > 0 and held * l <= size
        if not fits or size > MOST_RECORDS:
            continue
        applies += 1
        odds = credibility(each.parts, held, l=l)
        highest = max(highest, *odds)
        for chance, part, holders in zip(odds, each.parts, each.holders, strict=True):
            if chance * l > 1 + 1e-12:
                bets += 1
                people += part
                right += holders
                guessed += part * held / size
    return AttackResult(
        attack="minimality",
        question=AttackQuestion.INFERENCE,
        targets=int(people),
        success=right / people if people else 0.0,
        baseline=guessed / people if people else 0.0,
        detail={
            "classes_that_say_something": applies,
            "bets": bets,
            "highest_credibility": highest,
        },
    )


def _ways(parts: Sequence[int], caps: Sequence[int], held: int) -> int:
    """Return in how many ways `held` holders are shared out with at most caps[i] in part i."""
    if held < 0:
        return 0
    ways = [1] + [0] * held
    for size, cap in zip(parts, caps, strict=True):
        new = [0] * (held + 1)
        for x in range(min(cap, size, held) + 1):
            here = comb(size, x)
            for before in range(held + 1 - x):
                new[before + x] += ways[before] * here
        ways = new
    return ways[held]
