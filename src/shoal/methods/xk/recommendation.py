"""Which fraction of k to take, and why (Figure 2 of [brown2019], steps four and five)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from shoal.core.errors import MethodError, NoSolutionError
from shoal.methods.xk.candidates import (
    Candidate,
    PairCounts,
    Prediction,
    candidates_of,
    check_k,
    predict,
)
from shoal.methods.xk.frontier import HEAD, Way
from shoal.methods.xk.ranking import (
    Measures,
    Preference,
    best_first,
    points,
    ranks_of,
)


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
        unit: what k and xk count, records or persons; what is lost and added is records.
    """

    quasi: int
    columns: int = 0
    diversity: int = 1
    sensitive_suppression: bool = False
    blanked: int = 0
    preference: Preference = Preference.NONE
    minimum_precision: float | None = None
    unit: str = "records"

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
        """Return the smallest threshold worth trying."""
        # A pair with l different sensitive values has l records (and persons): a smaller threshold
        # gives the same release ([brown2019], experiment 5).
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
    ways: tuple[Way, ...] = ()  # every technique worked out; empty without a table
    techniques: str = "-"  # those that were asked for
    notices: tuple[str, ...] = ()

    @property
    def expected(self) -> Way | None:
        """Return what carrying out the recommendation gives; None without a table."""
        return self._way(self.recommended)

    def _way(self, candidate: Candidate) -> Way | None:
        """Return what a candidate gives with the techniques that were asked for."""
        asked = (self.techniques, candidate.xk)
        return next((w for w in self.ways if (w.techniques.label, w.xk) == asked), None)

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

    def to_document(self) -> dict[str, object]:
        """Return the recommendation as a JSON document."""
        expected = self.prediction()
        alternative = None if self.alternative is None else self._entry(self.alternative)
        return {
            "k": self.k,
            "records": self.records,
            "pairs": self.pairs,
            "unit": self.criteria.unit,
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
            "techniques": self.techniques,
            "expected": None if self.expected is None else self.expected.to_document(),
            "frontier": [way.to_document() for way in self._frontier()],
            "outcomes": [way.to_document() for way in self.ways],
            "notices": list(self.notices),
            "explanation": self.explanation(),
        }

    def _entry(self, candidate: Candidate) -> dict[str, object]:
        expected, way = self._predict(candidate), self._way(candidate)
        return {
            "xk": candidate.xk,
            "fraction": candidate.fraction,
            "precision_range": [expected.low, expected.high],
            "max_data_loss": expected.data_loss,
            "expected": None if way is None else way.to_document(),
        }

    def table(self) -> str:
        """Return the candidates as a plain text table, the recommended one marked."""
        head = ("", "xk", "fraction", "at k", "at xk", "added", "suppressed", "originals",
                "total", "difference", "precision %", "points", "rank")  # fmt: skip
        rows: list[tuple[str, ...]] = [head]
        for c in self.candidates:
            summed = "-" if c.ranks is None else str(points(c.ranks, self.criteria.preference))
            numbers = (c.records_k, c.records_xk, c.added, c.suppressed, c.originals, c.total)
            rows.append((
                self._mark(c), str(c.xk), c.fraction, *(f"{n:,}" for n in numbers),
                f"{c.difference:,}", f"{c.precision:.4f}", summed, str(c.place or "-"),
            ))  # fmt: skip
        return _aligned(rows)

    def frontier_table(self) -> str:
        """Return the frontier of precision and data loss as a plain text table.

        The way that was asked for is marked and always listed.
        """
        asked = self.expected
        wanted = [w for w in self.ways if w.is_front or w is asked]
        wanted.sort(key=lambda way: (way.tally.suppressed, -way.tally.share))
        marks = {True: ">", False: ""}
        return _aligned([("", *HEAD), *((marks[w is asked], *w.line()) for w in wanted)])

    def _frontier(self) -> list[Way]:
        front = [way for way in self.ways if way.is_front]
        return sorted(front, key=lambda way: way.tally.suppressed)

    def _mark(self, candidate: Candidate) -> str:
        if candidate is self.recommended:
            return ">"
        return "~" if candidate is self.alternative else ""

    def explanation(self) -> list[str]:
        """Return a few sentences for people: what is recommended, why, what to expect."""
        return [*self._answer(), *self._reasons(), *self._expectation()]

    def _answer(self) -> list[str]:
        best = self.recommended
        unit = self.criteria.unit
        if self.k == 1:
            return ["k = 1 promises nothing: every record may stand alone. Ask for k = 2 or more."]
        if best.xk == self.k:
            return [f"Take plain k-anonymity: pairs under k = {self.k} {unit} are suppressed."]
        if best.xk == 1:
            return [
                f"Take {best.fraction} of k: all pairs under {self.k} {unit} are filled up with "
                "false records.",
                "Beware: a person who stands alone gets copies of the own record and nobody to "
                "hide among. Coarser quasi-identifiers protect better.",
            ]
        return [
            f"Take {best.fraction} of k: pairs with {best.xk} to {self.k - 1} {unit} are filled "
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
                f"k = {self.k} {asked.unit}, so only plain k-anonymity is left."
            )
        empty = sum(1 for c in self.candidates if c.ranks is None)
        if empty:
            reasons.append(f"{empty} of {len(self.candidates)} fractions would release nothing.")
        return reasons

    def _expectation(self) -> list[str]:
        foreseen, exact = self.prediction(), self.expected
        lines = [] if exact is None else [self._exactly(exact)]
        warning = "" if exact is None or exact.is_in_range else "; this table leads out of it"
        lines.append(
            f"The paper's rule of thumb: a precision between {foreseen.low} % and "
            f"{foreseen.high} % and a data loss of at most {foreseen.data_loss} % of the "
            f"records{warning}."
        )
        if exact is None:
            lines.append(
                "Whether or not generalization and cell suppression are used, it stays within "
                f"{foreseen.bounds[0]:.2f} … {foreseen.bounds[1]:.2f} %."
            )
        false = f"{self.recommended.added:,} or more" if exact is None else f"{exact.tally.added:,}"
        if self.recommended.added:
            lines.append(
                f"{false} records of the release will be false; statistics on it are affected."
            )
        if self.alternative is not None:
            lines.append(self._instead(self.alternative))
        best = min(self.ways, key=lambda way: way.place, default=None)
        if best is not None and best is not exact:
            lines.append(
                f"Of all {len(self.ways)} ways worked out, techniques {best.techniques.label} with "
                f"xk = {best.xk} rank first: precision {best.tally.precision:.2f} %, data loss "
                f"{best.data_loss:.2f} %."
            )
        return lines

    def _instead(self, other: Candidate) -> str:
        way, foreseen = self._way(other), self._predict(other)
        offer = f"If false records are acceptable, {other.fraction} of k gives a precision "
        if way is None:
            return offer + (
                f"between {foreseen.low} % and {foreseen.high} % and a data loss of at most "
                f"{foreseen.data_loss} % (rule of thumb)."
            )
        return offer + (
            f"of {way.tally.precision:.2f} % and a data loss of {way.data_loss:.2f} % (rule of "
            f"thumb: {foreseen.low} … {foreseen.high} %, at most {foreseen.data_loss} %)."
        )

    def _exactly(self, way: Way) -> str:
        named = "without techniques" if self.techniques == "-" else f"with {self.techniques}"
        return (
            f"Carried out {named}, it gives a precision of {way.tally.precision:.2f} % and a data "
            f"loss of {way.data_loss:.2f} % on this table."
        )


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ("  ".join(t.rjust(w) for t, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def recommend_by(
    criteria: Criteria,
    counts: PairCounts,
    *,
    k: int,
    undiverse: PairCounts | None = None,
    reached: Callable[[int], Fraction | None] | None = None,
) -> Recommendation:
    """Recommend a fraction of k from the sizes of the pairs, by criteria.

    Args:
        criteria: what is asked.
        counts: how many pairs there are of each size.
        k: records that a released pair must have.
        undiverse: how many of the pairs of each size are not diverse.
        reached: the exact share of precision that a threshold reaches with the techniques
            that were asked for, to be held against the minimum; None: without techniques.
    """
    whole = check_k(k)
    removed = None if criteria.sensitive_suppression else undiverse
    found = candidates_of(counts, whole, first=criteria.first, undiverse=removed)
    ranked = _ranked(found, criteria.preference)
    order = sorted((c for c in ranked if c.place), key=lambda c: c.place)
    if not order:
        raise NoSolutionError(problem=_nothing(found[-1], criteria))
    chosen = _choose(order, criteria, reached)
    alternative = None
    if chosen.xk == whole:
        alternative = next((c for c in order if c.added), None)
    return Recommendation(
        k=whole,
        records=chosen.records,
        pairs=sum(own[0] if isinstance(own, tuple) else own for own in counts.values()),
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
        f"no diverse pair reaches {criteria.first} {criteria.unit}, so all {candidate.records} "
        "records would be suppressed. Use fewer or coarser quasi-identifiers"
    )


def _choose(
    order: Sequence[Candidate],
    criteria: Criteria,
    reached: Callable[[int], Fraction | None] | None,
) -> Candidate:
    least = criteria.minimum_precision
    if least is None:
        return order[0]
    best = Fraction(0)
    for candidate in order:
        share = candidate.share if reached is None else reached(candidate.xk)
        if share is not None and 100 * share >= Fraction(least):
            return candidate
        best = max(best, share or best)
    raise NoSolutionError(
        problem=f"no fraction of k has a precision of {least:g} %; the best has "
        f"{float(100 * best):.2f} %"
    )


def _ranked(found: Sequence[Candidate], preference: Preference) -> list[Candidate]:
    """Return the candidates with ranks and places; those that release nothing have none."""
    usable = [c for c in found if c.originals]
    ranks = ranks_of([
        Measures(difference=c.difference, share=c.share, originals=c.originals) for c in usable
    ])  # fmt: skip
    order = best_first(ranks, preference, last=[c.xk for c in usable])
    place = {usable[at].xk: (number, ranks[at]) for number, at in enumerate(order, start=1)}
    return [
        replace(c, place=place[c.xk][0], ranks=place[c.xk][1]) if c.xk in place else c
        for c in found
    ]
