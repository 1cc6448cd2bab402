"""All eight techniques worked out on a table: what each of them gives, exactly.

[brown2019] predicts a range from the sizes of the pairs, because carrying out every method took
it too long. Distinct rows make that cheap, so nothing has to be guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from shoal.methods.xk.candidates import Prediction, fraction_name
from shoal.methods.xk.outcome import Tally, foreseen_tally
from shoal.methods.xk.pipeline import COMBINATIONS, Plan, Techniques, saved
from shoal.methods.xk.ranking import Measures, Preference, best_first, ranks_of
from shoal.methods.xk.rows import Rows
from shoal.methods.xk.steps import diversify

_MOST = 12  # the largest k of which every threshold is worked out


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to carry xk-anonymity out, and what comes of it.

    Attributes:
        prediction: what the paper's equations say; None where they say nothing.
        place: 1 is the best balance of all ways, ranked as Figure 2 ranks fractions.
        is_front: no other way has a higher precision without losing more records.
    """

    k: int
    xk: int
    techniques: Techniques
    tally: Tally
    prediction: Prediction | None = None
    place: int = 0
    is_front: bool = False

    @property
    def data_loss(self) -> float:
        """Return the suppressed records, in percent of all."""
        return 100 * self.tally.suppressed / self.tally.records

    @property
    def is_in_range(self) -> bool | None:
        """Say whether the precision lies in the paper's range."""
        if self.prediction is None:
            return None
        return self.prediction.low <= self.tally.precision <= self.prediction.high

    def to_document(self) -> dict[str, object]:
        """Return the way as plain data."""
        foreseen = self.prediction
        return {
            "techniques": self.techniques.label,
            "xk": self.xk,
            "fraction": fraction_name(self.k, self.xk),
            "added": self.tally.added,
            "suppressed": self.tally.suppressed,
            "originals": self.tally.originals,
            "unmodified": self.tally.unmodified,
            "total": self.tally.total,
            "difference": abs(self.tally.added - self.tally.suppressed),
            "precision": self.tally.precision,
            "data_loss": self.data_loss,
            "precision_range": None if foreseen is None else [foreseen.low, foreseen.high],
            "max_data_loss": None if foreseen is None else foreseen.data_loss,
            "precision_in_range": self.is_in_range,
            "rank": self.place,
            "frontier": self.is_front,
        }

    def line(self) -> tuple[str, ...]:
        """Return the way as cells of a text table."""
        foreseen = self.prediction
        spread = "-" if foreseen is None else f"{foreseen.low} … {foreseen.high}"
        counts = (self.tally.added, self.tally.suppressed, self.tally.originals)
        return (
            self.techniques.label, str(self.xk), fraction_name(self.k, self.xk),
            *(f"{count:,}" for count in counts), f"{self.tally.precision:.4f}",
            f"{self.data_loss:.4f}", spread, str(self.place),
        )  # fmt: skip


HEAD = ("techniques", "xk", "fraction", "added", "suppressed", "originals", "precision %",
        "data loss %", "paper's range %", "rank")  # fmt: skip


def thresholds(k: int, *, first: int, also: Iterable[int] = ()) -> list[int]:
    """Return the thresholds worth working out: all, or the paper's fractions of a large k."""
    found = set(range(first, k + 1))
    if k > _MOST:
        named = {"1/4", "1/3", "1/2", "2/3", "3/4", "7/8", "1"}
        found = {xk for xk in found if xk == first or fraction_name(k, xk) in named}
    return sorted(found | {max(xk, first) for xk in also})


def work_out(
    rows_for: Callable[[Techniques], Rows | None],
    plan_for: Callable[[Techniques, int], Plan],
    xks_for: Callable[[Techniques], Sequence[int]],
    *,
    columns: int,
) -> list[Way]:
    """Work out every technique at every threshold; leave out what would release nothing.

    Args:
        rows_for: the table for a technique; None where the technique does not apply to it.
        plan_for: the plan of a technique and a threshold.
        xks_for: the thresholds of a technique.
        columns: cells of a released record.
    """
    found = []
    for techniques in COMBINATIONS:
        rows = rows_for(techniques)
        if rows is None:
            continue
        diverse: Rows | None = None
        for xk in xks_for(techniques):
            plan = plan_for(techniques, xk)
            if diverse is None:  # step 2 is the same at every threshold
                blank = techniques.sensitive_suppression
                diverse = diversify(rows, plan.diversity, blank=blank)
            tally = foreseen_tally(rows, saved(diverse, plan), plan, columns=columns)
            if tally.originals:
                found.append(Way(k=plan.k, xk=xk, techniques=techniques, tally=tally))
    return found


def ranked_ways(
    found: Sequence[Way],
    preference: Preference,
    *,
    predict: Callable[[Techniques, int], Prediction | None],
) -> tuple[Way, ...]:
    """Return the ways with their places, the frontier marked, and the paper's word beside them."""
    ranks = ranks_of([
        Measures(
            difference=abs(way.tally.added - way.tally.suppressed),
            share=way.tally.share,
            originals=way.tally.originals,
        )
        for way in found
    ])  # fmt: skip
    # Of equal outcomes the one with fewer techniques comes first, then the higher fraction.
    ties = [way.xk - 1000 * _letters(way) * way.k for way in found]
    order = best_first(ranks, preference, last=ties)
    place = {at: number for number, at in enumerate(order, start=1)}
    front = _front(found)
    return tuple(
        replace(
            way,
            place=place[at],
            is_front=at in front,
            prediction=predict(way.techniques, way.xk),
        )
        for at, way in enumerate(found)
    )


def _letters(way: Way) -> int:
    return len(way.techniques.label.strip("-"))


def _front(found: Sequence[Way]) -> set[int]:
    """Return the numbers of the ways that no other way beats; of equal ones the simplest."""
    order = sorted(
        range(len(found)),
        key=lambda at: (
            found[at].tally.suppressed, -found[at].tally.share, _letters(found[at]), -found[at].xk,
        ),
    )  # fmt: skip
    front: set[int] = set()
    best = None
    for at in order:  # from the smallest loss upwards, only a higher precision is worth more loss
        share = found[at].tally.share
        if best is None or share > best:
            front.add(at)
            best = share
    return front
