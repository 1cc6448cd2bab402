"""One question to a data set, checked in full before any data is touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from itertools import product
from math import isfinite
from typing import TypedDict

from shoal.core.errors import MethodError
from shoal.dp.accounting import amount_faults, refuse
from shoal.dp.records import MOST_ORDER, Bounds
from shoal.dp.where import Condition, parse_where

MOST_CELLS = 100_000
FINEST_ALPHA = 1_000


class Statistic(StrEnum):
    """What can be asked."""

    COUNT = "count"
    SUM = "sum"
    MEAN = "mean"
    MIN = "min"
    MAX = "max"
    VARIANCE = "variance"
    MOMENT = "moment"
    QUANTILE = "quantile"
    HISTOGRAM = "histogram"


RANKED = (Statistic.MIN, Statistic.MAX, Statistic.QUANTILE)
RULES = ("count", "drop", "lower", "middle", "upper")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A statistic, the column it is about, and what it may cost.

    missing: `count` (records without a value are left out and their noisy number
        is stated), `drop` (left out), or a value to put in: `lower`, `middle`,
        `upper`, or a number within the bounds.
    by, groups: disjoint groups, named in advance; a record of no named group
        counts among the others.
    categories: the named cells of a histogram; bins: equal cells over the bounds.
    entity, max_rows: all rows with one value of `entity` are one person, of whom
        at most `max_rows` rows, chosen at random, are used.
    markers: texts that mean "missing" beside an empty cell.

    Example:
        >>> Question(statistic=Statistic.MEAN, column="age", lower=0, upper=120,
        ...          epsilon=0.5).bounds
        Bounds(lower=0, upper=120)
    """

    statistic: Statistic
    column: str | None = None
    lower: float | None = None
    upper: float | None = None
    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None
    order: int | None = None
    central: bool = False
    alpha: float | None = None
    by: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    bins: int | None = None
    where: str | None = None
    entity: str | None = None
    max_rows: int | None = None
    missing: str | float = "count"
    markers: tuple[str, ...] = ()
    confidence: float = 0.95

    def __post_init__(self) -> None:
        faults = [
            *amount_faults(epsilon=self.epsilon, delta=self.delta, rho=self.rho),
            *self._amount_faults(),
            *self._column_faults(),
            *self._shape_faults(),
            *self._group_faults(),
        ]
        if self.where is not None:
            try:
                parse_where(self.where)
            except MethodError as error:
                faults.append(str(error))
        refuse(faults)

    def _amount_faults(self) -> list[str]:
        faults = []
        if (self.epsilon is None) == (self.rho is None):
            faults.append("say what the answer may cost: an epsilon, or a rho")
        if self.epsilon is not None and 0 < self.epsilon < 1e-6 * self.rows:
            faults.append("epsilon is below a millionth for a row; the noise would drown all")
        if self.rho is not None and 0 < self.rho < 1e-12 * self.rows**2:
            faults.append("rho is too small; the noise would drown all")
        if not (isfinite(self.confidence) and 0.5 <= self.confidence < 1):
            faults.append("confidence must lie between 0.5 and 1")
        return faults

    def _column_faults(self) -> list[str]:
        faults = []
        if self.column is None and self.statistic is not Statistic.COUNT:
            faults.append(f"{self.statistic} needs a column")
        if (self.lower is None) != (self.upper is None):
            faults.append("bounds come in pairs: lower and upper")
        elif self.lower is not None:
            try:
                _ = self.bounds
            except MethodError as error:
                faults.append(str(error))
        elif self.needs_bounds:
            faults.append(
                f"{self.statistic} needs bounds: give lower and upper, or bounds in the schema; "
                "they are never taken from the data"
            )
        if (self.entity is None) != (self.max_rows is None):
            faults.append("entity and max_rows belong together")
        if self.max_rows is not None and not 1 <= self.max_rows <= 1_000_000:
            faults.append("max_rows must be a whole number from 1 to 1,000,000")
        return faults + self._missing_faults()

    def _missing_faults(self) -> list[str]:
        if isinstance(self.missing, str):
            if self.missing not in RULES:
                return [f"missing must be one of {', '.join(RULES)}, or a number"]
            if self.missing in ("count", "drop"):
                return []
        if self.lower is None or self.upper is None:
            return ["a value for missing cells needs bounds"]
        if not isinstance(self.missing, str) and not self.lower <= self.missing <= self.upper:
            return ["the value for missing cells must lie within the bounds"]
        return []

    def _shape_faults(self) -> list[str]:
        faults = []
        moment = self.statistic is Statistic.MOMENT
        if moment and (self.order is None or not 1 <= self.order <= MOST_ORDER):
            faults.append(f"moment needs an order from 1 to {MOST_ORDER}")
        if not moment and (self.order is not None or self.central):
            faults.append("order and central belong to moment")
        if self.statistic is Statistic.QUANTILE and self.alpha is None:
            faults.append("quantile needs an alpha between 0 and 1")
        if self.alpha is not None:
            if self.statistic not in RANKED:
                faults.append("alpha belongs to quantile, min and max")
            elif not (isfinite(self.alpha) and 0 < self.alpha < 1 and 0 < self.share < 1):
                faults.append("alpha must lie between 0 and 1, in steps of a thousandth or so")
        if self.statistic is Statistic.HISTOGRAM:
            if bool(self.categories) == (self.lower is not None):
                faults.append("histogram needs named categories, or bounds, one of the two")
            if self.bins is not None and not 1 <= self.bins <= 10_000:
                faults.append("bins must be a whole number from 1 to 10,000")
        elif self.categories or self.bins is not None:
            faults.append("categories and bins belong to histogram")
        return faults

    def _group_faults(self) -> list[str]:
        faults = [
            f"column {name!r}: its groups must be named in advance (groups), "
            "for the names that occur are themselves private"
            for name in self.by
            if not self.groups.get(name)
        ]
        faults += [
            f"column {name!r}: groups are named, but it is not among the columns of by"
            for name in self.groups
            if name not in self.by
        ]
        lists = [*self.groups.values(), self.categories, self.by]
        if any(len(set(names)) != len(names) for names in lists):
            faults.append("a group, category or column is named twice")
        if len(self.labels) * self.cells > MOST_CELLS:
            faults.append(f"more than {MOST_CELLS:,} cells")
        return faults

    @property
    def needs_bounds(self) -> bool:
        """Whether the statistic makes no sense without bounds."""
        if self.statistic is Statistic.HISTOGRAM:
            return not self.categories
        return self.statistic is not Statistic.COUNT

    @property
    def bounds(self) -> Bounds:
        """The given bounds."""
        if self.lower is None or self.upper is None:
            raise MethodError(problem="this question has no bounds")
        return Bounds(self.lower, self.upper)

    @property
    def rows(self) -> int:
        """How many rows one person can change."""
        return self.max_rows or 1

    @property
    def share(self) -> Fraction:
        """The rank that is asked for, as a fraction with a small denominator."""
        return Fraction(str(self.alpha)).limit_denominator(FINEST_ALPHA)

    @property
    def tail(self) -> float:
        """The chance that an accuracy statement may fail.

        Six tenths of what is stated, so that the share of good statements in
        a thousand repetitions is above the stated one too, not only on average.
        """
        return 0.6 * (1 - self.confidence)

    @property
    def cells(self) -> int:
        """The number of cells of a histogram, 1 otherwise."""
        if self.statistic is not Statistic.HISTOGRAM:
            return 1
        return len(self.categories) + 1 if self.categories else (self.bins or 10) + 2

    @property
    def labels(self) -> list[tuple[str, ...]]:
        """The named groups, every combination of the columns of `by`; empty without groups."""
        if not self.by:
            return []
        return list(product(*(self.groups.get(name, ()) for name in self.by)))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The parsed filter."""
        return parse_where(self.where) if self.where is not None else ()

    def describe(self) -> dict[str, object]:
        """Return what a ledger remembers: names and parameters, no value that was compared."""
        facts: dict[str, object] = {"statistic": str(self.statistic)}
        for name in ("column", "lower", "upper", "order", "alpha", "bins", "entity", "max_rows"):
            if getattr(self, name) is not None:
                facts[name] = getattr(self, name)
        if self.central:
            facts["central"] = True
        if self.by:
            facts["by"] = list(self.by)
        if self.where is not None:
            facts["where"] = [f"{c.column} {c.sign}" for c in self.conditions]
        return facts


def named_groups(
    by: str | Sequence[str] | None, groups: Sequence[str] | Mapping[str, Sequence[str]] | None
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return groups in one form, however they are named.

    Example:
        >>> named_groups("sex", ["F", "M"])
        (('sex',), {'sex': ('F', 'M')})
    """
    names = (by,) if isinstance(by, str) else tuple(by or ())
    if groups is None:
        return names, {}
    if isinstance(groups, Mapping):
        return names, {key: tuple(str(v) for v in values) for key, values in groups.items()}
    if len(names) != 1:
        raise MethodError(problem="groups of several columns are named as column: [names]")
    return names, {names[0]: tuple(str(value) for value in groups)}


class QuestionOptions(TypedDict, total=False):
    """A question as people write it; None is as good as nothing. See `Question`."""

    bounds: Sequence[float] | None
    lower: float | None
    upper: float | None
    epsilon: float | None
    delta: float | None
    rho: float | None
    order: int | None
    central: bool | None
    alpha: float | None
    by: str | Sequence[str] | None
    groups: Sequence[str] | Mapping[str, Sequence[str]] | None
    categories: Sequence[str] | None
    bins: int | None
    where: str | None
    entity: str | None
    max_rows: int | None
    missing: str | float | None
    markers: Sequence[str] | None
    confidence: float | None


def question_from(
    statistic: Statistic | str, column: str | None, options: QuestionOptions
) -> Question:
    """Build a question from the options that people write (`bounds`, `by`, `groups` …).

    Raises:
        MethodError: an option does not exist or does not fit.
    """
    lower, upper = options.get("lower"), options.get("upper")
    bounds = options.get("bounds")
    if bounds is not None:
        if len(bounds) != 2:
            raise MethodError(problem="bounds are a pair: (lower, upper)")
        lower, upper = bounds
    by, groups = named_groups(options.get("by"), options.get("groups"))
    given = {name for name, value in options.items() if value is not None}
    unknown = sorted(given - QuestionOptions.__annotations__.keys())
    if unknown:
        raise MethodError(problem=f"no such option: {', '.join(unknown)}")
    kinds = {str(s) for s in Statistic}
    if str(statistic) not in kinds:
        raise MethodError(problem=f"no such statistic; choose one of {', '.join(sorted(kinds))}")
    confidence = options.get("confidence")
    return Question(
        statistic=Statistic(str(statistic)),
        column=column,
        lower=lower,
        upper=upper,
        epsilon=options.get("epsilon"),
        delta=options.get("delta"),
        rho=options.get("rho"),
        order=options.get("order"),
        central=options.get("central") or False,
        alpha=options.get("alpha"),
        by=by,
        groups=groups,
        categories=tuple(str(c) for c in options.get("categories") or ()),
        bins=options.get("bins"),
        where=options.get("where"),
        entity=options.get("entity"),
        max_rows=options.get("max_rows"),
        missing=_rule(options.get("missing")),
        markers=tuple(options.get("markers") or ()),
        confidence=0.95 if confidence is None else confidence,
    )


def _rule(missing: str | float | None) -> str | float:
    """Return a rule for missing cells; a number may be written as text."""
    if isinstance(missing, str):
        try:
            return float(missing)
        except ValueError:
            return missing
    return "count" if missing is None else missing
