"""From noisy totals to an answer with an honest error bar: no data in here, only what was released.

Everything is post-processing of released numbers, so it can be as clever as it
likes at no cost in privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

from shoal.dp.mechanisms import Kind, weighted_tail
from shoal.dp.records import FINEST

_CRUDE = 0.1  # share of the failure chance that pays for a first, wide interval
_ROUNDING = 2.0**-30  # every record was rounded down by less than 2^-32 of the range


class Interval(NamedTuple):
    """A closed range of numbers."""

    low: float
    high: float

    def points(self, count: int) -> list[float]:
        """Return evenly spaced points, both ends among them."""
        if self.low == self.high:
            return [self.low]
        return [self.low + (self.high - self.low) * i / (count - 1) for i in range(count)]


UNIT = Interval(0.0, 1.0)
ZERO = Interval(0.0, 0.0)


def around(center: float, reach: float, *, within: Interval) -> Interval:
    """Return the part of `within` that lies at most `reach` from a center."""
    low = min(max(center - reach, within.low), within.high)
    return Interval(low, max(low, min(center + reach, within.high)))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value in units of the range, and how far it may be off; None: too few records to tell."""

    value: float | None
    within: float
    records: float


class Spreads:
    """The noisy Bernstein totals of one group, read as moments of the place u in [0, 1].

    With S_i the exact totals, e_i the noises and T' the noisy sum of all
    totals, a mean of any polynomial with Bernstein coefficients b_i is off by
    exactly  sum_i (b_i - true mean) e_i / T'.  The tail of that weighted sum of
    independent noises is known, so the error bar is not a chain of worst cases.
    """

    def __init__(self, totals: Sequence[int], *, kind: Kind, scale: float, tail: float) -> None:
        self.order = len(totals) - 1
        self.sum = float(sum(totals))
        self.records = self.sum / FINEST
        self.kind, self.scale, self.tail = kind, scale, tail
        self.shares = [t / self.sum for t in totals] if self.sum >= FINEST / 2 else []

    def power(self, j: int) -> list[float]:
        """Return the Bernstein coefficients of u^j."""
        r = self.order
        return [comb(i, j) / comb(r, j) for i in range(r + 1)]

    def shifted(self, k: int, center: float) -> list[float]:
        """Return the Bernstein coefficients of (u - center)^k."""
        powers = [self.power(j) for j in range(k + 1)]
        return [
            sum(comb(k, j) * (-center) ** (k - j) * powers[j][i] for j in range(k + 1))
            for i in range(self.order + 1)
        ]

    def average(self, coefficients: Sequence[float]) -> float:
        """Return the noisy mean of the polynomial with these coefficients."""
        return sum(b * p for b, p in zip(coefficients, self.shares, strict=True))

    def reach(
        self,
        k: int,
        *,
        tail: float,
        mean: Interval,
        center: Interval = UNIT,
        slope: Interval = ZERO,
    ) -> float:
        """Bound the error of the noisy mean of (u - c)^k - k s (u - c).

        The true center c, the true mean and the slope s are only known to lie
        in intervals; the worst of a grid of them is taken.
        """
        worst = 0.0
        first = self.power(1)
        for c in center.points(3) if k > 1 else [0.0]:
            coefficients = self.shifted(k, c)
            for s in slope.points(3):
                bent = [b - k * s * (p - c) for b, p in zip(coefficients, first, strict=True)]
                for mu in mean.points(5):
                    weights = [b - mu for b in bent]
                    worst = max(worst, weighted_tail(self.kind, self.scale, weights, tail=tail))
        return worst / self.sum

    def mean(self) -> Estimate:
        """Return the mean of u."""
        if not self.shares:
            return Estimate(None, 1.0, self.records)
        found = self.average(self.power(1))
        crude = self.reach(1, mean=UNIT, tail=_CRUDE * self.tail)
        box = around(found, crude, within=UNIT)
        fine = self.reach(1, mean=box, tail=(1 - _CRUDE) * self.tail)
        return self._estimate(found, fine, within=UNIT)

    def central(self) -> Estimate:
        """Return the central moment of u of the highest order.

        Let d be the error of the mean, mu_k the true central moments and err_k the
        error of the mean of (u - true mean)^k. By the binomial the estimate is off by

            err_r - r mu_(r-1) d - r err_(r-1) d + (1-r) (-d)^r
            + sum_{2<=k<=r-2} C(r,k) (mu_k + err_k) (-d)^(r-k).

        The first two terms are one weighted sum of noises; the others are small
        and bounded one by one.
        """
        r = self.order
        if not self.shares:
            return Estimate(None, 0.5, self.records)
        tail = self.tail / (2 * r)
        start = self.average(self.power(1))
        center = around(start, self.reach(1, mean=UNIT, tail=tail), within=UNIT)
        errors, sizes = {1: self.reach(1, mean=center, tail=tail)}, {1: ZERO}
        found, bar, prior = 0.0, 0.0, UNIT
        for k in range(2, r + 1):
            found = self.average(self.shifted(k, start))
            prior = Interval(0.0 if k % 2 == 0 else -0.25, 0.25)
            errors[k] = self.reach(k, center=center, mean=prior, tail=tail)
            box = around(found, _rest(k, errors, sizes=sizes, whole=True), within=prior)
            main = self.reach(k, center=center, mean=box, slope=sizes[k - 1], tail=tail)
            bar = main + _rest(k, errors, sizes=sizes)
            sizes[k] = around(found, bar, within=prior)
        return self._estimate(found, bar, within=prior)

    def _estimate(self, found: float, bar: float, *, within: Interval) -> Estimate:
        """Withhold a value that is no better than the middle of all that is possible."""
        bar += _ROUNDING
        if bar >= (within.high - within.low) / 2:
            return Estimate(None, bar, self.records)
        return Estimate(min(max(found, within.low), within.high), bar, self.records)


def _rest(
    k: int, errors: dict[int, float], *, sizes: dict[int, Interval], whole: bool = False
) -> float:
    """Bound the small terms of the error of the k-th central moment; `whole`: all terms."""
    d = errors[1]
    total = (k - 1) * d**k
    for j in range(2, k):
        size = max(abs(sizes[j].low), abs(sizes[j].high))
        known = size if whole or j < k - 1 else 0.0
        total += comb(k, j) * (known + errors[j]) * d ** (k - j)
    return total + (errors[k] if whole else 0.0)


def rank_scores(counts: Sequence[int], *, numerator: int, denominator: int) -> list[int]:
    """Return how far each rung is from being the asked quantile, in 1/denominator records.

    Zero exactly where the asked rank falls among the records on the rung. One
    record more or less changes a score by at most max(numerator,
    denominator - numerator).

    Example:
        >>> rank_scores([1, 1, 1], numerator=1, denominator=2)
        [1, 0, 1]
    """
    target = numerator * sum(counts)
    scores, below = [], 0
    for count in counts:
        upto = below + count
        scores.append(max(0, denominator * below - target, target - denominator * upto))
        below = upto
    return scores


def extreme_scores(counts: Sequence[int], *, depth: int) -> list[int]:
    """Return how far each rung is from having `depth` records up to it, in records.

    One record more or less changes a score by at most 1, whatever the number of records.
    """
    scores, below = [], 0
    for count in counts:
        upto = below + count
        scores.append(max(0, below - depth, depth - upto))
        below = upto
    return scores
