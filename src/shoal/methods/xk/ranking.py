"""How outcomes are ranked against each other (Figure 2 of [brown2019], steps four and five)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from shoal.core.errors import MethodError
from shoal.methods.xk.candidates import Ranks


class Preference(StrEnum):
    """What a data decision maker wants most of."""

    NONE = "none"
    ORIGINALS = "originals"
    PRECISION = "precision"


def preference_of(name: str) -> Preference:
    """Return the preference called `name`, or raise MethodError."""
    try:
        return Preference(name)
    except ValueError:
        known = ", ".join(Preference)
        raise MethodError(problem=f"the preference must be one of {known}") from None


class Measures(NamedTuple):
    """What an outcome is ranked by."""

    difference: int
    share: Fraction
    originals: int


def ranks_of(found: Sequence[Measures]) -> list[Ranks]:
    """Return the ranks of each outcome against the others.

    A rank is one more than the number of worse outcomes, as ties in Table 15 have it. Equal
    outcomes are counted once: otherwise a gap in the sizes of the pairs would lift whatever
    stands beside it.
    """
    distinct = set(found)
    differences = sorted(-each.difference for each in distinct)
    shares = sorted(each.share for each in distinct)
    originals = sorted(each.originals for each in distinct)
    return [
        Ranks(
            difference=1 + bisect_left(differences, -each.difference),
            precision=1 + bisect_left(shares, each.share),
            originals=1 + bisect_left(originals, each.originals),
        )
        for each in found
    ]


def points(ranks: Ranks, preference: Preference) -> int:
    """Return the sum of the ranks; the preferred one counts twice."""
    total = sum(ranks)
    return total if preference is Preference.NONE else total + getattr(ranks, preference)


def best_first(ranks: Sequence[Ranks], preference: Preference, *, last: Sequence[int]) -> list[int]:
    """Return the numbers of the outcomes, the best first.

    Args:
        ranks: of each outcome.
        preference: counts double, and decides where points are equal.
        last: of outcomes that are equal in all else, the highest comes first.
    """
    keys = [(*_tie_key(each, preference), tie) for each, tie in zip(ranks, last, strict=True)]
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=True)


def _tie_key(ranks: Ranks, preference: Preference) -> tuple[int, ...]:
    """Return points, then what step five looks at where points are equal."""
    total = points(ranks, preference)
    if preference is Preference.NONE:
        return (total, ranks.difference)
    preferred = int(getattr(ranks, preference))
    return (total, preferred + ranks.difference, preferred)
