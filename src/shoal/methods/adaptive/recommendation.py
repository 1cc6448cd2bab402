"""Which fraction of k to take, and why (Figure 2 of seed 004, steps four and five)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from shoal.core.errors import MethodError, NoSolutionError
from shoal.methods.adaptive.candidates import (
    Candidate,
    PairCounts,
    Prediction,
    Ranks,
    candidates_of,
    check_k,
    predict,
)


class Preference(StrEnum):
    """What a data decision maker wants most of."""

    NONE = "none"
    ORIGINALS = "originals"
    PRECISION = "precision"


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """What is asked of a recommendation.

    Attributes:
        quasi: number of quasi-identifiers.
        columns: cells of a released record; 0 stands for the quasi-identifiers alone.
        diversity: the largest l asked of a sensitive column; 1 asks for nothing.
        sensitive_suppression: blank sensitive cells instead of removing the records of
            pairs that are not diverse.
        blanked: how many cells that would blank.
        preference: counts double in the ranking and breaks ties.
        minimum_precision: in percent; fractions below it are passed over.
    """

    quasi: int
    columns: int = 0
    diversity: int = 1
    sensitive_suppression: bool = False
    blanked: int = 0
    preference: Preference = Preference.NONE
    minimum_precision: float | None = None

    def __post_init__(self) -> None:
        if self.quasi < 1:
            raise MethodError(problem="xk-anonymity needs at least one quasi-identifier")
        if self.diversity < 1:
            raise MethodError(problem="the diversity l must be a whole number from 1 on")
        if self.sensitive_suppression and self.diversity < 2:
            raise MethodError(
                problem="sensitive suppression needs a sensitive column with a diversity l of "
                "2 or more; name the column and its l, or leave sensitive suppression out"
            )
        least = self.minimum_precision
        if least is not None and not 0 <= least <= 100:
            raise MethodError(problem="the minimum precision is a percentage from 0 to 100")

    @property
    def first(self) -> int:
        """Return the smallest threshold worth a look."""
        # A pair with l different sensitive values has l records: a smaller threshold
        # gives the same release (seed 004, experiment 5).
        return 1 if self.sensitive_suppression else self.diversity

    @property
    def deduction(self) -> int:
        """Return what Equation 1 takes off the lowest precision."""
        return self.diversity if self.sensitive_suppression else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The best fraction of k for a table, what to expect of it, and the others beside it."""

    k: int
    records: int
    pairs: int
    criteria: Criteria
    candidates: tuple[Candidate, ...]
    recommended: Candidate
    alternative: Candidate | None  # the best fraction with false records, where plain k wins

    def prediction(self, xk: int | None = None) -> Prediction:
        """Return what to expect of a threshold; of the recommended one if None.

        Raises:
            MethodError: the threshold is not among the candidates.
        """
        wanted = self.recommended.xk if xk is None else xk
        # Thresholds under the diversity release the same as the first candidate.
        wanted = max(wanted, self.candidates[0].xk)
        for candidate in self.candidates:
            if candidate.xk == wanted:
                return self._predict(candidate)
        raise MethodError(problem=f"xk must be a whole number from 1 to k = {self.k}")

    def _predict(self, candidate: Candidate) -> Prediction:
        return predict(
            candidate,
            self.criteria.quasi,
            diversity=self.criteria.deduction,
            columns=self.criteria.columns,
            blanked=self.criteria.blanked,
        )

    def to_document(self) -> dict[str, Any]:
        """Return the recommendation as DESIGN's JSON document."""
        expected = self.prediction()
        alternative = None if self.alternative is None else self._entry(self.alternative)
        return {
            "k": self.k,
            "records": self.records,
            "pairs": self.pairs,
            "quasi_identifiers": self.criteria.quasi,
            "diversity": self.criteria.diversity,
            "sensitive_suppression": self.criteria.sensitive_suppression,
            "preference": str(self.criteria.preference),
            "minimum_precision": self.criteria.minimum_precision,
            "recommended": {"xk": self.recommended.xk, "fraction": self.recommended.fraction},
            "alternative": alternative,
            "precision_range": [expected.low, expected.high],
            "precision_bounds": list(expected.bounds),
            "max_data_loss": expected.data_loss,
            "candidates": [candidate.to_document() for candidate in self.candidates],
            "explanation": self.explanation(),
        }

    def _entry(self, candidate: Candidate) -> dict[str, Any]:
        expected = self._predict(candidate)
        return {
            "xk": candidate.xk,
            "fraction": candidate.fraction,
            "precision_range": [expected.low, expected.high],
            "max_data_loss": expected.data_loss,
        }

    def table(self) -> str:
        """Return the candidates as a plain text table, the recommended one marked."""
        head = ("", "xk", "fraction", "at k", "at xk", "added", "suppressed", "originals",
                "total", "difference", "precision %", "points", "rank")  # fmt: skip
        rows: list[tuple[str, ...]] = [head]
        for c in self.candidates:
            points = "-" if c.ranks is None else str(_points(c.ranks, self.criteria.preference))
            numbers = (c.records_k, c.records_xk, c.added, c.suppressed, c.originals, c.total)
            rows.append((
                self._mark(c), str(c.xk), c.fraction, *(f"{n:,}" for n in numbers),
                f"{c.difference:,}", f"{c.precision:.4f}", points, str(c.place or "-"),
            ))  # fmt: skip
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        lines = ("  ".join(t.rjust(w) for t, w in zip(row, widths, strict=True)) for row in rows)
        return "\n".join(line.rstrip() for line in lines)

    def _mark(self, candidate: Candidate) -> str:
        if candidate is self.recommended:
            return ">"
        return "~" if candidate is self.alternative else ""

    def explanation(self) -> list[str]:
        """Return a few sentences for people: what is recommended, why, what to expect."""
        return [*self._answer(), *self._reasons(), *self._expectation()]

    def _answer(self) -> list[str]:
        best = self.recommended
        if self.k == 1:
            return ["k = 1 promises nothing: every record may stand alone. Ask for k = 2 or more."]
        if best.xk == self.k:
            return [f"Take plain k-anonymity: pairs under k = {self.k} records are suppressed."]
        if best.xk == 1:
            return [
                f"Take {best.fraction} of k: all pairs under {self.k} records are filled up with "
                "false records.",
                "Beware: a person who stands alone gets copies of the own record and nobody to "
                "hide among. Coarser quasi-identifiers protect better.",
            ]
        return [
            f"Take {best.fraction} of k: pairs with {best.xk} to {self.k - 1} records are filled "
            f"up to {self.k} with false records, smaller pairs are suppressed."
        ]

    def _reasons(self) -> list[str]:
        best, asked = self.recommended, self.criteria
        reasons = [
            f"It adds {best.added:,} and suppresses {best.suppressed:,} of {self.records:,} "
            f"records; {best.originals:,} original records stay."
        ]
        if asked.preference is not Preference.NONE:
            reasons.append(f"Preference for {asked.preference}: that rank counts double.")
        if asked.minimum_precision is not None and best.place > 1:
            reasons.append(
                f"It stands at rank {best.place}: the ones before it miss the minimum precision of "
                f"{asked.minimum_precision:g} %."
            )
        if best.undiverse:
            reasons.append(
                f"{best.undiverse:,} of the suppressed records are in pairs with fewer than "
                f"{asked.diversity} different sensitive values; sensitive suppression would blank "
                "that cell instead."
            )
        if not asked.sensitive_suppression and asked.diversity > self.k:
            reasons.append(
                f"A pair with {asked.diversity} different sensitive values has more than "
                f"k = {self.k} records, so only plain k-anonymity is left."
            )
        empty = sum(1 for c in self.candidates if c.ranks is None)
        if empty:
            reasons.append(f"{empty} of {len(self.candidates)} fractions would release nothing.")
        return reasons

    def _expectation(self) -> list[str]:
        expected = self.prediction()
        lines = [
            f"Expect a precision between {expected.low} % and {expected.high} % and a data loss of "
            f"at most {expected.data_loss} % of the records, whatever techniques are used.",
            f"The range is a rule of thumb; no technique leads out of {expected.bounds[0]:.2f} … "
            f"{expected.bounds[1]:.2f} %.",
        ]
        if self.recommended.added:
            lines.append(
                f"{self.recommended.added:,} or more records of the release will be false; "
                "statistics on it are affected."
            )
        if self.alternative is not None:
            other = self._predict(self.alternative)
            lines.append(
                f"If false records are acceptable, {self.alternative.fraction} of k gives a "
                f"precision between {other.low} % and {other.high} % and a data loss of at most "
                f"{other.data_loss} %."
            )
        return lines


def recommend_from_counts(
    counts: PairCounts,
    k: int,
    *,
    quasi: int,
    undiverse: PairCounts | None = None,
    diversity: int = 1,
    sensitive_suppression: bool = False,
    preference: str = Preference.NONE,
    minimum_precision: float | None = None,
) -> Recommendation:
    """Recommend a fraction of k from the sizes of the pairs alone.

    Args:
        counts: how many pairs there are of each size.
        k: records that a released pair must have.
        quasi: number of quasi-identifiers.
        undiverse: how many of the pairs of each size are not diverse.
        diversity: see `Criteria`, like the parameters that follow.
        sensitive_suppression: keep undiverse pairs and blank their sensitive cells.
        preference: none, originals or precision.
        minimum_precision: in percent.

    Raises:
        NoSolutionError: nothing could be released, or not with the minimum precision.

    Example:
        >>> pairs = {1: 346, 2: 193, 3: 115, 4: 95, 36: 784, 319: 1}
        >>> found = recommend_from_counts(pairs, 5, quasi=4)
        >>> found.recommended.fraction, found.prediction().low, found.prediction().data_loss
        ('1/2', 97, 3)
    """
    criteria = Criteria(
        quasi=quasi,
        diversity=diversity,
        sensitive_suppression=sensitive_suppression,
        preference=preference_of(preference),
        minimum_precision=minimum_precision,
    )
    return recommend_by(criteria, counts, k=k, undiverse=undiverse)


def preference_of(name: str) -> Preference:
    """Return the preference called `name`, or raise MethodError."""
    try:
        return Preference(name)
    except ValueError:
        known = ", ".join(Preference)
        raise MethodError(problem=f"the preference must be one of {known}") from None


def recommend_by(
    criteria: Criteria, counts: PairCounts, *, k: int, undiverse: PairCounts | None = None
) -> Recommendation:
    """Recommend a fraction of k by criteria; see `recommend_from_counts`."""
    whole = check_k(k)
    removed = None if criteria.sensitive_suppression else undiverse
    found = candidates_of(counts, whole, first=criteria.first, undiverse=removed)
    ranked = _ranked(found, criteria.preference)
    order = sorted((c for c in ranked if c.place), key=lambda c: c.place)
    if not order:
        raise NoSolutionError(problem=_nothing(found[-1], criteria))
    chosen = _choose(order, criteria)
    alternative = None
    if chosen.xk == whole:
        alternative = next((c for c in order if c.added), None)
    return Recommendation(
        k=whole,
        records=chosen.records,
        pairs=sum(counts.values()),
        criteria=criteria,
        candidates=tuple(ranked),
        recommended=chosen,
        alternative=alternative,
    )


def _nothing(candidate: Candidate, criteria: Criteria) -> str:
    if candidate.undiverse == candidate.records:
        return (
            f"no pair has {criteria.diversity} different sensitive values, so all "
            f"{candidate.records} records would be suppressed. Ask for a smaller l, or allow "
            "sensitive suppression"
        )
    return (
        f"no diverse pair reaches {criteria.first} records, so all {candidate.records} records "
        "would be suppressed. Use fewer or coarser quasi-identifiers"
    )


def _choose(order: Sequence[Candidate], criteria: Criteria) -> Candidate:
    least = criteria.minimum_precision
    if least is None:
        return order[0]
    for candidate in order:
        if 100 * candidate.share >= Fraction(least):
            return candidate
    best = max(candidate.precision for candidate in order)
    raise NoSolutionError(
        problem=f"no fraction of k has a precision of {least:g} %; the best has {best:.2f} %"
    )


def _ranked(found: Sequence[Candidate], preference: Preference) -> list[Candidate]:
    """Return the candidates with ranks and places; those that release nothing have none.

    A rank is one more than the number of worse outcomes, as ties in Table 15 have it.
    Thresholds with the same outcome are counted once: otherwise a gap in the sizes of the
    pairs would lift whatever stands beside it.
    """
    usable = [c for c in found if c.originals]
    outcomes = {(c.added, c.suppressed): c for c in usable}.values()
    differences = sorted(-c.difference for c in outcomes)
    shares = sorted(c.share for c in outcomes)
    originals = sorted(c.originals for c in outcomes)
    ranks = {
        c.xk: Ranks(
            difference=1 + bisect_left(differences, -c.difference),
            precision=1 + bisect_left(shares, c.share),
            originals=1 + bisect_left(originals, c.originals),
        )
        for c in usable
    }
    keys = {xk: (*_tie_key(rank, preference), xk) for xk, rank in ranks.items()}
    places = {xk: i for i, xk in enumerate(sorted(keys, key=keys.__getitem__, reverse=True), 1)}
    return [
        replace(c, ranks=ranks[c.xk], place=places[c.xk]) if c.xk in ranks else c for c in found
    ]


def _points(ranks: Ranks, preference: Preference) -> int:
    points = sum(ranks)
    return points if preference is Preference.NONE else points + getattr(ranks, preference)


def _tie_key(ranks: Ranks, preference: Preference) -> tuple[int, ...]:
    """Return points, then what step five looks at where points are equal."""
    points = _points(ranks, preference)
    if preference is Preference.NONE:
        return (points, ranks.difference)
    preferred = int(getattr(ranks, preference))
    return (points, preferred + ranks.difference, preferred)
