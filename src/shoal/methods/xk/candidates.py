"""What each fraction of k would do to a table, from the sizes of its pairs alone.

A *pair* is the paper's word for the records that share all quasi-identifiers. At a
threshold xk, a pair with k records or more stays as it is, a pair with xk … k-1 records
is filled up to k with false records, and a smaller one is suppressed.

Where persons have several records, thresholds count the persons of a pair, and each false record
is a made-up person of its own. Everything else goes on counting records: what is added,
suppressed, original and precise is what a reader of the release works with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from numbers import Integral
from typing import NamedTuple

from shoal.core.errors import InputError, MethodError, PrivacyError

# The fractions of [brown2019]. The first five name the thresholds of k = 5; the last two
# round to a threshold that already has a name there.
_NAMED = tuple(Fraction(n, d) for n, d in ((1, 4), (1, 3), (1, 2), (3, 4), (1, 1), (2, 3), (7, 8)))


class Held(NamedTuple):
    """Pairs that have as many persons, and the records of these."""

    pairs: int
    records: int


PairCounts = Mapping[int, int] | Mapping[int, Held]
"""How many pairs there are of each size: where a number alone, each record is a person."""


def fraction_name(k: int, xk: int) -> str:
    """Return the fraction x by which a threshold xk of k is known.

    An exact fraction of the paper comes first, then the first of its fractions that rounds
    to xk (halves upwards), then xk/k itself.

    Example:
        >>> [fraction_name(5, xk) for xk in range(1, 6)]
        ['1/4', '1/3', '1/2', '3/4', '1']
        >>> fraction_name(10, 4)
        '2/5'
    """
    exact = Fraction(xk, k)
    if exact not in _NAMED:
        rounding = (x for x in _NAMED if floor(x * k + Fraction(1, 2)) == xk)
        exact = next(rounding, exact)
    return str(exact)


class Ranks(NamedTuple):
    """Points of one candidate against the others: the best of n outcomes has n."""

    difference: int
    precision: int
    originals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """The outcome of one threshold without any technique.

    Attributes:
        records_k: records of pairs that have k records by themselves.
        records_xk: records of pairs that are filled up.
        added: false records.
        suppressed: records that are removed, those that are not diverse included.
        undiverse: the removed records of pairs that are not diverse.
        ranks: None for a candidate that would release nothing.
        place: 1 is the best; 0 for a candidate that would release nothing.
    """

    k: int
    xk: int
    records_k: int
    records_xk: int
    added: int
    suppressed: int
    undiverse: int = 0
    ranks: Ranks | None = None
    place: int = 0

    @property
    def fraction(self) -> str:
        """Return the fraction's name, such as 1/2."""
        return fraction_name(self.k, self.xk)

    @property
    def records(self) -> int:
        """Return the records of the table."""
        return self.originals + self.suppressed

    @property
    def originals(self) -> int:
        """Return the original records that are released."""
        return self.records_k + self.records_xk

    @property
    def total(self) -> int:
        """Return all released records, false ones included."""
        return self.originals + self.added

    @property
    def difference(self) -> int:
        """Return the absolute difference between added and suppressed records."""
        return abs(self.added - self.suppressed)

    @property
    def share(self) -> Fraction:
        """Return the exact share of original records in the release."""
        return Fraction(self.originals, self.total) if self.total else Fraction(0)

    @property
    def precision(self) -> float:
        """Return the precision in percent; 0 where nothing is released."""
        return float(100 * self.share)

    def to_document(self) -> dict[str, object]:
        """Return the candidate as plain data."""
        ranks = None if self.ranks is None else self.ranks._asdict()
        return {
            "xk": self.xk,
            "fraction": self.fraction,
            "records_k": self.records_k,
            "records_xk": self.records_xk,
            "added": self.added,
            "suppressed": self.suppressed,
            "originals": self.originals,
            "total": self.total,
            "difference": self.difference,
            "precision": self.precision,
            "ranks": ranks,
            "rank": self.place,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What to expect when a threshold is carried out, whatever techniques are used.

    Attributes:
        low, high: the precision range in whole percent (Equation 1 of [brown2019]).
        data_loss: the most records lost, in whole percent (Equation 2).
        bounds: a precision range in percent that cannot be left, see `predict`.
    """

    low: int
    high: int
    data_loss: int
    bounds: tuple[float, float]


def predict(
    candidate: Candidate, quasi: int, *, diversity: int = 1, columns: int = 0, blanked: int = 0
) -> Prediction:
    """Return the precision range and the largest data loss of a candidate.

    Equation 1 is a rule of thumb, so there is a second range beside it, `bounds`. It
    holds because a technique can only save records that would be suppressed: r of them,
    each with at most one and a half cells lost, joined by at most (k - xk) / xk false
    records each.

    Args:
        candidate: the threshold in question.
        quasi: number of quasi-identifiers.
        diversity: what Equation 1 takes off: the diversity asked for where sensitive
            cells may be blanked, otherwise 1.
        columns: cells of a released record, for `bounds`; the quasi-identifiers if 0.
        blanked: sensitive cells that sensitive suppression blanks, for `bounds`.

    Guarantee:
        No technique loses more records than `data_loss` says. The precision stays within
        `bounds`, unless quasi-identifiers are introduced gradually or a value is itself
        the label of a group of values.

    Example:
        >>> half = Candidate(k=5, xk=3, records_k=28543, records_xk=725, added=325, suppressed=732)
        >>> found = predict(half, 4)
        >>> found.low, found.high, found.data_loss
        (97, 99, 3)
    """
    kept = candidate.suppressed * (quasi - 1) + candidate.originals * quasi
    smaller = min(candidate.suppressed, candidate.added)
    cells = (candidate.total + smaller + candidate.difference) * quasi
    lowest = 100 * Fraction(kept, cells) - diversity if cells else Fraction(0)
    lost = Fraction(100 * candidate.suppressed, candidate.records) if candidate.records else 0
    high = ceil(100 * candidate.share)
    return Prediction(
        low=min(max(floor(lowest + Fraction(1, 2)), 0), high),
        high=high,
        data_loss=ceil(lost),
        bounds=_bounds(candidate, columns or quasi, blanked=blanked),
    )


def _bounds(candidate: Candidate, columns: int, *, blanked: int) -> tuple[float, float]:
    saved = candidate.suppressed - candidate.undiverse
    empty = Fraction(blanked, columns)
    worst = max(1 - Fraction(3, 2 * columns), Fraction(0))
    best = 1 - Fraction(1, 2 * columns)
    # Both ends are ratios of straight lines in r, so they are extreme at r = 0 or r = saved.
    lows, highs = [], [candidate.share]
    if candidate.total:
        lows.append((candidate.originals - empty) / candidate.total)
    if saved:
        filled = Fraction(saved * candidate.k, candidate.xk)
        lows.append((candidate.originals + saved * worst - empty) / (candidate.total + filled))
        if not candidate.total:  # then at least one pair is saved, so r begins at xk
            lows.append((candidate.xk * worst - empty) / candidate.k)
        highs.append((candidate.originals + saved * best) / (candidate.total + saved))
    return max(float(100 * min(lows, default=Fraction(0))), 0.0), float(100 * max(highs))


def candidates_of(
    counts: PairCounts, k: int, *, first: int = 1, undiverse: PairCounts | None = None
) -> list[Candidate]:
    """Return the candidates for xk = first … k (steps one to three of Figure 2).

    Args:
        counts: how many pairs there are of each size, all pairs included.
        k: records, or persons, that a released pair must have.
        first: the smallest threshold; the diversity where undiverse pairs are removed.
        undiverse: how many of these pairs are removed because they are not diverse.

    Raises:
        InputError: no pair at all, or a size or number that cannot be meant.

    Example:
        >>> [c.added for c in candidates_of({1: 11, 2: 9, 3: 4, 4: 4, 900: 33}, 5)]
        [83, 39, 12, 4, 0]
    """
    removed = _checked(undiverse or {}, "undiverse")
    sizes = _checked(counts, "pairs")
    if not sizes:
        raise InputError(where="pairs", problem="no pair of records; the table is empty")
    none = Held(0, 0)
    if any(own.pairs > sizes.get(size, none).pairs for size, own in removed.items()):
        raise InputError(where="undiverse", problem="more pairs of a size than there are in all")
    diverse = {
        size: Held(*(of - n for of, n in zip(own, removed.get(size, none), strict=True)))
        for size, own in sizes.items()
    }
    lost = sum(own.records for own in removed.values())
    return list(_thresholds(diverse, k, first=min(first, k), lost=lost))


def _thresholds(sizes: Mapping[int, Held], k: int, *, first: int, lost: int) -> Iterator[Candidate]:
    """Yield a candidate for each threshold; pairs move from filled to small as it grows."""
    full = sum(own.records for size, own in sizes.items() if size >= k)
    short = {size: own for size, own in sizes.items() if size < k}
    small = sum(own.records for size, own in short.items() if size < first)
    filled = sum(own.records for size, own in short.items() if size >= first)
    added = sum((k - size) * own.pairs for size, own in short.items() if size >= first)
    for xk in range(first, k + 1):
        yield Candidate(
            k=k, xk=xk, records_k=full, records_xk=filled, added=added, suppressed=small + lost,
            undiverse=lost,
        )  # fmt: skip
        moved = short.get(xk, Held(0, 0))
        small += moved.records
        filled -= moved.records
        added -= (k - xk) * moved.pairs


def _checked(counts: PairCounts, what: str) -> dict[int, Held]:
    found: dict[int, Held] = {}
    for size, given in counts.items():
        own = given if isinstance(given, tuple) else (given, size * given)
        whole = all(isinstance(x, Integral) and not isinstance(x, bool) for x in (size, *own))
        # A pair whose records are all nobody's has no person.
        least = 1 if not isinstance(given, tuple) else 0
        if not whole or size < least or own[0] < 0 or own[1] < size * own[0]:
            raise InputError(
                where=what, problem="sizes must be whole numbers from 1 on, numbers of pairs from 0"
            )
        if own[0]:
            found[int(size)] = Held(int(own[0]), int(own[1]))
    return found


def check_k(k: object) -> int:
    """Return k as a whole number of at least 1, or raise PrivacyError."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise PrivacyError(model="xk-anonymity", problem="k must be a whole number from 1 on")
    return int(k)


def check_xk(xk: object, k: int) -> int:
    """Return xk as a whole number from 1 to k, or raise MethodError."""
    if isinstance(xk, bool) or not isinstance(xk, Integral) or not 1 <= int(xk) <= k:
        raise MethodError(problem=f"xk must be a whole number from 1 to k = {k}")
    return int(xk)
