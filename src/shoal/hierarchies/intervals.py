"""Hierarchies of numbers: nested intervals, and rare ends joined.

Bounds are computed with exact decimals: binary fractions put 0.3 outside "[0.3, 0.4)".
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from itertools import pairwise
from typing import NamedTuple, Self, TypeGuard, TypeVar

from shoal.core.errors import HierarchyError
from shoal.core.numbers import number_text
from shoal.core.specs import is_count
from shoal.hierarchies.builder import (
    LARGEST,
    ROOT,
    Builder,
    Value,
    exact_number,
    text_of,
)
from shoal.hierarchies.tree import Hierarchy

Step = TypeVar("Step")
_EXACT = Context(prec=2000)  # enough for any sum or quotient of two numbers of LARGEST


class _Span(NamedTuple):
    low: Decimal | None
    high: Decimal | None
    low_open: bool = False
    high_closed: bool = False

    def clip(self, bottom: Decimal | None, top: Decimal | None) -> _Span:
        """Leave out what is at or below the bottom and at or above the top."""
        low, high, low_open, high_closed = self
        if bottom is not None and (low is None or low <= bottom):
            low, low_open = bottom, True
        if top is not None and (high is None or high >= top):
            high, high_closed = top, False
        return _Span(low, high, low_open, high_closed)

    def text(self) -> str:
        if self.low is None or self.high is None:
            if self.high is not None:
                return f"{'<=' if self.high_closed else '<'}{_decimal_text(self.high)}"
            if self.low is not None:
                return f"{'>' if self.low_open else '>='}{_decimal_text(self.low)}"
            return ROOT
        bounds = f"{_decimal_text(self.low)}, {_decimal_text(self.high)}"
        return f"{'(' if self.low_open else '['}{bounds}{']' if self.high_closed else ')'}"


Level = Callable[[Decimal], _Span]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals(Builder):
    """Numbers in nested intervals: by explicit cuts, by equal width, or by equal count.

    Each of `cuts`, `width` and `count` may be given for every level, finest first, or
    once: then each of the `levels` levels joins two neighbours of the one below it.

    Attributes:
        cuts: where intervals start. Values below the first cut are "<…", values from
            the last on are ">=…"; when no value lies above it, it closes the last interval.
        width: the width of the intervals, counted from `origin`.
        origin: a point where an interval starts; only for `width`.
        count: the number of intervals, with about equally many of the values given in each.
        levels: the number of levels between the values and the root.

    Guarantee:
        An interval contains, as it is written, exactly the values that become it.

    Example:
        >>> Intervals(width=[5, 10]).build("age", [34, 20, 19]).to_rows()[1]
        ('20', '[20, 25)', '[20, 30)', '*')
    """

    cuts: Sequence[float] | Sequence[Sequence[float]] | None = None
    width: float | Sequence[float] | None = None
    origin: float | None = None
    count: int | Sequence[int] | None = None
    levels: int | None = None

    def _faults(self) -> list[str]:
        faults = []
        if [self.cuts, self.width, self.count].count(None) != 2:
            faults.append("give one of cuts, width and count")
        if self.origin is not None and (self.width is None or not _is_number(self.origin)):
            faults.append("origin must be a number, and goes with width")
        if self.levels is not None and not is_count(self.levels, least=1):
            faults.append("levels must be a whole number of at least 1")
        return faults or self._shape_faults() or self._nesting_faults()

    def _shape_faults(self) -> list[str]:
        if self.cuts is not None:
            faults = _cut_faults(_cut_lists(self.cuts))
        elif self.width is not None:
            right = all(_is_number(x) and x > 0 for x in _listed(self.width))
            faults = [] if right else ["each width must be a number above 0"]
        else:
            right = all(is_count(x, least=1) for x in _listed(self.count))
            faults = [] if right else ["each count must be a whole number of at least 1"]
        levels = self._levels_listed()
        if not faults and levels is not None and (not levels or self.levels not in (None, levels)):
            return ["levels must be the number of levels listed, or be left out"]
        return faults

    def _levels_listed(self) -> int | None:
        """Return the number of levels that are listed; None where one is given for all."""
        if self.cuts is not None:
            return len(self.cuts) if _is_nested(self.cuts) else None
        given = self.count if self.width is None else self.width
        return len(given) if isinstance(given, tuple) else None

    def _nesting_faults(self) -> list[str]:
        with localcontext(_EXACT):
            if self.cuts is not None:
                if not all(set(high) < set(low) for low, high in pairwise(self._cuts())):
                    return ["the cuts of a level must be some of those of the level before"]
            elif self.width is not None:
                if any(low >= high or high % low for low, high in pairwise(self._widths())):
                    return ["each width must be a multiple of the one before"]
            elif any(not 1 <= high < low or low % high for low, high in pairwise(self._counts())):
                return ["each count must be a part of the one before: 8, 4, 2"]
        return []

    def _cuts(self) -> list[tuple[Decimal, ...]]:
        """Return the cuts of each level, finest first."""
        ladder = [_decimals(each) for each in _cut_lists(self.cuts)]
        return self._extended(ladder, lambda finer: finer[::2])

    def _widths(self) -> list[Decimal]:
        return self._extended([*_decimals(self.width)], lambda finer: finer * 2)

    def _counts(self) -> list[int]:
        counts = [count for count in _listed(self.count) if is_count(count, least=1)]
        return self._extended(counts, lambda finer: finer // 2)

    def _extended(self, ladder: list[Step], join: Callable[[Step], Step]) -> list[Step]:
        """Add the levels that join two neighbours of the one below, where none are listed."""
        while self._levels_listed() is None and len(ladder) < (self.levels or 1):
            ladder.append(join(ladder[-1]))
        return ladder

    def spans(self, numbers: Sequence[Decimal]) -> list[Level]:
        """Return, for each level, the function from a number to its interval."""
        if self.width is not None:
            origin = _exact(self.origin or 0)
            return [_grid(width, origin) for width in self._widths()]
        top = numbers[-1] if numbers else None
        if self.count is not None:
            size = len(numbers)
            starts = [
                sorted({numbers[i * size // n] for i in range(n)}) for n in self._counts() if size
            ]
            return [_bands(each, top) for each in starts]
        ladder = self._cuts()
        if top != ladder[0][-1] or len(ladder[0]) == 1:
            return [_bands(cuts, None) for cuts in ladder]
        # The last cut closes an interval, on every level that has it: or levels would not nest.
        return [_bands(x[:-1], top) if x[-1] == top else _bands(x, None) for x in ladder]

    def build(self, name: str, values: Sequence[Value]) -> Hierarchy:
        """Return the hierarchy of these numbers."""
        with localcontext(_EXACT):
            numbers = _numbers(name, values)
            spans = self.spans([number for number, _ in numbers])
            rows = [
                (text, *(span(number).text() for span in spans), ROOT) for number, text in numbers
            ]
        return Hierarchy.from_rows(name, rows, strip=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopBottom(Builder):
    """Numbers with the rare ends joined: "90+" and "<=18" at level 1.

    `intervals` adds levels for the numbers between; an interval that would reach into a
    joined end stops there.

    Example:
        >>> TopBottom(top=90).build("age", [34, 90, 97]).to_rows()
        [('34', '34', '*'), ('90', '90+', '*'), ('97', '90+', '*')]
    """

    top: float | None = None
    bottom: float | None = None
    intervals: Intervals | None = None

    def _faults(self) -> list[str]:
        faults = []
        ends = [end for end in (self.bottom, self.top) if end is not None]
        if not ends:
            faults.append("give top, bottom or both")
        elif not all(map(_is_number, ends)):
            faults.append("top and bottom must be numbers")
        elif len(ends) == 2 and ends[0] >= ends[1]:
            faults.append("bottom must be below top")
        if self.intervals is not None and not isinstance(self.intervals, Intervals):
            faults.append("intervals must be a mapping of options")
        return faults

    @classmethod
    def from_document(cls, document: object) -> Self:
        """Read the specification, with `intervals` as a mapping of its own."""
        if not isinstance(document, Mapping) or not isinstance(document.get("intervals"), Mapping):
            return super(TopBottom, cls).from_document(document)
        faults, inner = [], None
        try:
            inner = Intervals.from_document(document["intervals"])
        except ValueError as error:
            faults.append(f"intervals: {error}")
        try:
            spec = super(TopBottom, cls).from_document({**document, "intervals": inner})
        except ValueError as error:
            faults.insert(0, str(error))
        if faults:
            raise ValueError("; ".join(faults))
        return spec

    def build(self, name: str, values: Sequence[Value]) -> Hierarchy:
        """Return the hierarchy of these numbers."""
        top = None if self.top is None else _exact(self.top)
        bottom = None if self.bottom is None else _exact(self.bottom)
        rows = []
        with localcontext(_EXACT):
            numbers = _numbers(name, values)
            codes = [_end_code(number, bottom, top) for number, _ in numbers]
            between = [number for (number, _), code in zip(numbers, codes, strict=True) if not code]
            spans = self.intervals.spans(between) if self.intervals else []
            for (number, text), code in zip(numbers, codes, strict=True):
                steps = [code] * len(spans) if code else [
                    span(number).clip(bottom, top).text() for span in spans
                ]  # fmt: skip
                rows.append((text, code or text, *steps, ROOT))
        return Hierarchy.from_rows(name, rows, strip=False)


def _listed(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _is_nested(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], tuple)


def _cut_lists(cuts: object) -> tuple[object, ...]:
    """Return the list of cuts of each level that is given."""
    return _listed(cuts) if _is_nested(cuts) else (cuts,)


def _cut_faults(lists: Sequence[object]) -> list[str]:
    if not all(isinstance(each, tuple) and each and all(map(_is_number, each)) for each in lists):
        return ["cuts must be a list of numbers, or one such list for each level"]
    if any(low >= high for each in lists for low, high in pairwise(_decimals(each))):
        return ["cuts must ascend"]
    return []


def _is_number(value: object) -> TypeGuard[float]:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and (isinstance(value, int) or math.isfinite(value))
        and abs(value) < 10**LARGEST
    )


def _exact(value: float) -> Decimal:
    return Decimal(number_text(value))


def _decimals(value: object) -> tuple[Decimal, ...]:
    """Return an option that holds a number, or one for each level."""
    return tuple(_exact(each) for each in _listed(value) if _is_number(each))


def _decimal_text(value: Decimal) -> str:
    short = value.normalize()
    if not short:
        return "0"
    return format(short, "f") if -7 <= short.adjusted() < 21 else str(short)


def _numbers(name: str, values: Iterable[Value]) -> list[tuple[Decimal, str]]:
    texts = [text_of(value) for value in values]
    found = [(number, text) for text in texts if (number := exact_number(text)) is not None]
    if len(found) < len(texts):
        wrong = len(texts) - len(found)
        problem = f"{wrong} of {len(texts)} values are not numbers; treat the column as categorical"
        raise HierarchyError(hierarchy=name, problem=problem)
    return sorted(found)


def _grid(width: Decimal, origin: Decimal) -> Level:
    def span(number: Decimal) -> _Span:
        steps, rest = divmod(number - origin, width)
        low = origin + (steps - (rest < 0)) * width  # divmod of decimals rounds towards zero
        return _Span(low, low + width)

    return span


def _bands(starts: Sequence[Decimal], top: Decimal | None) -> Level:
    def span(number: Decimal) -> _Span:
        place = bisect_right(starts, number)
        low = starts[place - 1] if place else None
        if place < len(starts):
            return _Span(low, starts[place])
        return _Span(low, top, high_closed=top is not None)

    return span


def _end_code(number: Decimal, bottom: Decimal | None, top: Decimal | None) -> str:
    if top is not None and number >= top:
        return f"{_decimal_text(top)}+"
    return f"<={_decimal_text(bottom)}" if bottom is not None and number <= bottom else ""
