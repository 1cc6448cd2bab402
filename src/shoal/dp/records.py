"""What one record adds to an answer: small exact integers, one record at a time.

Each recipe is a function of a single record, so the most that a record can
add is known without looking at the data: its `reach`. Rounding to the grid
happens here, before anything is added up, and costs accuracy of about one
part in four billion of the range, never privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, comb, floor, frexp, isfinite
from typing import Protocol

import polars as pl

from shoal.core.errors import MethodError

BITS = 32
FINEST: int = 2**BITS
MOST_ROWS = 2**30  # times 2^32: totals stay inside 64 bits with room for the noise
MOST_ORDER = 6


class Recipe(Protocol):
    """How the records of one group become a vector of integer totals."""

    @property
    def reach(self) -> int:
        """The most that one record changes the vector of totals, in L1 (and so in L2)."""
        ...

    def parts(self, value: pl.Expr) -> list[pl.Expr]:
        """Return what a record with this (never missing) value adds to each total."""
        ...


@dataclass(frozen=True, slots=True)
class Bounds:
    """The range to which every value is clamped: given by a person, never read from the data."""

    lower: float
    upper: float

    def __post_init__(self) -> None:
        problem = ""
        if not (isfinite(self.lower) and isfinite(self.upper)):
            problem = "bounds must be finite numbers"
        elif not self.lower < self.upper:
            problem = "the lower bound must be below the upper bound"
        elif max(abs(self.lower), abs(self.upper)) > 1e100 or self.upper - self.lower < 1e-100:
            problem = "bounds beyond 1e100, or closer than 1e-100, are not supported"
        elif (self.upper - self.lower) < 2**-40 * max(abs(self.lower), abs(self.upper)):
            problem = "the bounds are too close to each other for floating point numbers"
        if problem:
            raise MethodError(problem=problem)

    @property
    def width(self) -> float:
        """The length of the range."""
        return self.upper - self.lower

    @property
    def whole(self) -> bool:
        """Whether both ends are whole numbers."""
        return float(self.lower).is_integer() and float(self.upper).is_integer()

    def power(self, order: int) -> Bounds:
        """Return the range of the `order`-th power of a value."""
        ends = sorted((float(self.lower) ** order, float(self.upper) ** order))
        if order % 2 == 0 and self.lower < 0 < self.upper:
            ends[0] = 0.0
        return Bounds(ends[0], ends[1])


@dataclass(frozen=True, slots=True)
class Tally:
    """Every record adds 1."""

    @property
    def reach(self) -> int:
        """One record is one."""
        return 1

    def parts(self, value: pl.Expr) -> list[pl.Expr]:
        """Return 1 for each record."""
        return [value.is_not_null().cast(pl.Int64)]


@dataclass(frozen=True, slots=True)
class Total:
    """A record adds its clamped value, in whole steps of a grid through zero.

    `step` is a power of two; for a column of whole numbers it is at least 1,
    so that sums over moderate bounds are exact.
    """

    bounds: Bounds
    step: Fraction
    whole: bool

    @classmethod
    def over(cls, bounds: Bounds, *, whole: bool) -> Total:
        """Choose the grid: 2^32 steps, or steps of 1 where that is fine enough."""
        largest = max(abs(bounds.lower), abs(bounds.upper))
        exponent = frexp(largest)[1] - BITS
        exact = whole and bounds.whole
        if exact:
            exponent = max(0, exponent)
        return cls(bounds, Fraction(2) ** exponent, exact)

    @property
    def low(self) -> int:
        """The lower bound in steps."""
        return ceil(Fraction(self.bounds.lower) / self.step)

    @property
    def high(self) -> int:
        """The upper bound in steps."""
        return floor(Fraction(self.bounds.upper) / self.step)

    @property
    def reach(self) -> int:
        """The larger end of the range, in steps."""
        return max(abs(self.low), abs(self.high), 1)

    def parts(self, value: pl.Expr) -> list[pl.Expr]:
        """Return the clamped value in steps."""
        if self.step == 1 and self.whole:
            return [value.clip(self.low, self.high).cast(pl.Int64)]
        # Scaling by a power of two is exact; the clamp comes last, so that no
        # rounding can carry a record over its reach.
        steps = (value.cast(pl.Float64).clip(*_ends(self.bounds)) / float(self.step)).round()
        return [steps.clip(float(self.low), float(self.high)).cast(pl.Int64)]


@dataclass(frozen=True, slots=True)
class Spread:
    """A record spreads one unit over `order` + 1 totals, by its place in the range.

    With u in [0, 1] the place of the value, total i takes the Bernstein weight
    C(r,i) u^i (1-u)^(r-i). The weights are never negative and add up to 1, so
    *all* moments up to order r, and the number of records, come from one
    vector whose sensitivity is that of a single count: nothing is split.
    For r = 1 these are the sums of distances from the two bounds.

    `power` > 1 spreads the power of the value instead (a raw moment).
    """

    bounds: Bounds
    order: int = 1
    power: int = 1

    @property
    def range(self) -> Bounds:
        """The range of what is averaged."""
        return self.bounds.power(self.power)

    @property
    def reach(self) -> int:
        """One unit; flooring each part keeps their sum at or below it."""
        return FINEST

    def parts(self, value: pl.Expr) -> list[pl.Expr]:
        """Return the Bernstein weights of a record, in whole steps, rounded down."""
        value = value.cast(pl.Float64).clip(*_ends(self.bounds))
        if self.power > 1:
            value = value.pow(self.power)
        place = ((value - self.range.lower) / self.range.width).clip(0.0, 1.0)
        return [
            (weight * FINEST).floor().clip(0, FINEST).cast(pl.Int64)
            for weight in bernstein(place, self.order)
        ]


def _ends(bounds: Bounds) -> tuple[float, float]:
    return float(bounds.lower), float(bounds.upper)


def bernstein(place: pl.Expr, order: int) -> list[pl.Expr]:
    """Return the Bernstein weights of a place in [0, 1]."""
    found = []
    for i in range(order + 1):
        weight = pl.lit(float(comb(order, i)))
        for _ in range(i):
            weight = weight * place
        for _ in range(order - i):
            weight = weight * (1.0 - place)
        found.append(weight)
    return found


@dataclass(frozen=True, slots=True)
class Ladder:
    """Rungs from the lower to the upper bound; a record stands on the nearest one.

    The rungs are the candidates of a quantile.
    """

    bounds: Bounds
    rungs: int
    whole: bool

    @classmethod
    def over(cls, bounds: Bounds, *, whole: bool, rungs: int | None = None) -> Ladder:
        """Choose the rungs: every whole number where there are few, 4,097 otherwise."""
        if rungs is not None:
            return cls(bounds, rungs, False)
        exact = whole and bounds.whole
        if exact and bounds.width <= 20_000:
            return cls(bounds, int(bounds.width) + 1, True)
        return cls(bounds, 4_097, exact)

    @property
    def step(self) -> float:
        """The distance between two rungs."""
        return self.bounds.width / (self.rungs - 1)

    def value(self, rung: int) -> float | int:
        """Return the number that a rung stands for."""
        number = self.bounds.lower + rung * self.step
        if self.whole:
            return round(number)
        return min(max(number, self.bounds.lower), self.bounds.upper)

    def rung(self, value: pl.Expr) -> pl.Expr:
        """Return the index of the nearest rung."""
        place = (value.cast(pl.Float64).clip(*_ends(self.bounds)) - self.bounds.lower) / self.step
        return place.round().clip(0, self.rungs - 1).cast(pl.Int64)


@dataclass(frozen=True, slots=True)
class Bins:
    """Equal bins over the bounds, closed below; the last one also holds the upper bound.

    Values outside have two cells of their own, so nothing is clamped and
    nothing is lost. Cells are disjoint: a record counts in one of them.
    """

    bounds: Bounds
    bins: int

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of all cells, in order."""
        edges = [self.bounds.lower + i * self.bounds.width / self.bins for i in range(self.bins)]
        edges.append(self.bounds.upper)
        named = [f"[{a:.12g}, {b:.12g})" for a, b in pairwise(edges)]
        named[-1] = named[-1][:-1] + "]"
        return (f"< {edges[0]:.12g}", *named, f"> {edges[-1]:.12g}")

    def cell(self, value: pl.Expr) -> pl.Expr:
        """Return the index of the cell that a value belongs to."""
        lower, upper = _ends(self.bounds)
        value = value.cast(pl.Float64)
        inside = ((value - lower) / (self.bounds.width / self.bins)).clip(0, self.bins - 1)
        return (
            pl.when(value < lower)
            .then(0)
            .when(value > upper)
            .then(self.bins + 1)
            .otherwise(inside.floor().cast(pl.Int64) + 1)
        )


def named_cell(column: pl.Expr, names: Sequence[str], *, kind: pl.DataType) -> pl.Expr:
    """Return the index of the named value a record holds; len(names) if it holds none of them."""
    is_number = kind.is_numeric()  # 1 and 1.0 name the same number
    text = column.cast(pl.Float64 if is_number else pl.String)
    wanted = [float(name) for name in names] if is_number else list(names)
    return text.replace_strict(
        wanted, list(range(len(wanted))), default=len(wanted), return_dtype=pl.Int64
    ).fill_null(len(wanted))
