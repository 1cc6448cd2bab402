"""Hierarchies built from the values of a column: intervals, masks, dates, groups.

Each builder is a small frozen specification that a schema can hold. `build` takes the
values that occur (missing ones left out) and returns a hierarchy whose values are the
texts of just these. The order of the input never matters.

Bounds are computed with exact decimals: binary fractions put 0.3 outside "[0.3, 0.4)".
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, time
from decimal import Context, Decimal, InvalidOperation, localcontext
from itertools import pairwise
from typing import Any, NamedTuple, Self

from shoal.core.dates import find_form, is_form, moment_of
from shoal.core.errors import HierarchyError
from shoal.hierarchies.tree import Hierarchy, number_text

__all__ = [
    "BUILDERS", "Builder", "Dates", "Intervals", "Mask", "Order", "TopBottom", "number_text",
]  # fmt: skip

Value = str | int | float
ROOT = "*"
_EXACT = Context(prec=2000)  # enough for any sum or quotient of two numbers of _LARGEST
_LARGEST = 400  # in digits before or after the point; floats have 309


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """What all builders share: checked at birth, with every fault in one message."""

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, _frozen(getattr(self, each.name)))
        faults = self._faults()
        if faults:
            raise ValueError("; ".join(faults))

    def _faults(self) -> list[str]:
        raise NotImplementedError

    def build(self, name: str, values: Sequence[Value]) -> Hierarchy:
        """Return the hierarchy of these values.

        Raises:
            HierarchyError: there are no values, or some are not of the expected kind.
        """
        raise NotImplementedError

    @classmethod
    def from_document(cls, document: object) -> Self:
        """Read the specification from a schema.

        Raises:
            ValueError: with all faults at once.
        """
        if not isinstance(document, Mapping):
            raise ValueError("it must be a mapping of options")
        known = [each.name for each in fields(cls)]
        faults = [
            f"unknown option {str(key)!r}; there are {', '.join(known)}"
            for key in document
            if key not in known
        ]
        try:
            spec = cls(**{str(key): document[key] for key in document if key in known})
        except ValueError as error:
            faults.append(str(error))
        if faults:
            raise ValueError("; ".join(faults))
        return spec

    def to_document(self) -> dict[str, Any]:
        """Return the specification as plain data; options that are not set are left out."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return {key: _plain(value) for key, value in given.items() if value is not None}


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
        if self.levels is not None and not _is_count(self.levels, least=1):
            faults.append("levels must be a whole number of at least 1")
        return faults or self._shape_faults() or self._nesting_faults()

    def _shape_faults(self) -> list[str]:
        if self.cuts is not None:
            lists: Any = self.cuts if _is_nested(self.cuts) else (self.cuts,)
            if not all(isinstance(x, tuple) and x and all(map(_is_number, x)) for x in lists):
                return ["cuts must be a list of numbers, or one such list for each level"]
            if any(low >= high for each in lists for low, high in pairwise(each)):
                return ["cuts must ascend"]
        elif self.width is not None:
            if not all(_is_number(x) and x > 0 for x in _listed(self.width)):
                return ["each width must be a number above 0"]
        elif not all(_is_count(x, least=1) for x in _listed(self.count)):
            return ["each count must be a whole number of at least 1"]
        listed: list[Any] = [x for x in (self.width, self.count) if isinstance(x, tuple)]
        listed += [self.cuts] if _is_nested(self.cuts) else []
        if any(not x or self.levels not in (None, len(x)) for x in listed):
            return ["levels must be the number of levels listed, or be left out"]
        return []

    def _nesting_faults(self) -> list[str]:
        with localcontext(_EXACT):
            steps = list(pairwise(self._ladder()))
            if self.cuts is not None and not all(set(high) < set(low) for low, high in steps):
                return ["the cuts of a level must be some of those of the level before"]
            if self.width is not None and any(low >= high or high % low for low, high in steps):
                return ["each width must be a multiple of the one before"]
            if self.count is not None and any(
                not 1 <= high < low or low % high for low, high in steps
            ):
                return ["each count must be a part of the one before: 8, 4, 2"]
        return []

    def _ladder(self) -> list[Any]:
        """Return the cuts, the width or the count of each level, finest first."""
        ladder: list[Any]
        if self.cuts is not None:
            nested = _is_nested(self.cuts)
            lists: Any = self.cuts if nested else (self.cuts,)
            ladder = [tuple(map(_exact, each)) for each in lists]
        elif self.width is not None:
            nested, ladder = isinstance(self.width, tuple), [*map(_exact, _listed(self.width))]
        else:
            nested, ladder = isinstance(self.count, tuple), [*_listed(self.count)]
        while not nested and len(ladder) < (self.levels or 1):
            finer = ladder[-1]
            if self.cuts is not None:
                ladder.append(finer[::2])
            else:
                ladder.append(finer * 2 if self.width is not None else finer // 2)
        return ladder

    def spans(self, numbers: Sequence[Decimal]) -> list[Level]:
        """Return, for each level, the function from a number to its interval."""
        ladder = self._ladder()
        if self.width is not None:
            origin = _exact(self.origin or 0)
            return [_grid(width, origin) for width in ladder]
        top = numbers[-1] if numbers else None
        if self.count is not None:
            size = len(numbers)
            starts = [sorted({numbers[i * size // n] for i in range(n)}) for n in ladder if size]
            return [_bands(each, top) for each in starts]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask(Builder):
    """Texts that lose one character more at each level, down to the root "*".

    Attributes:
        char: what a lost character becomes.
        length: the length of every text; by default that of the longest one.
        direction: the side that is masked first, "right" or "left".
        pad: the side on which shorter texts are filled up; by default the masked one.
        fill: what they are filled up with; by default `char`, as if already masked.

    Example:
        >>> Mask().build("zip", ["75275", "75201"]).to_rows()[1]
        ('75275', '7527*', '752**', '75***', '7****', '*')
        >>> Mask(pad="left", fill="0").build("zip", ["2134", "75201"]).to_rows()[0][:3]
        ('2134', '0213*', '021**')
    """

    char: str = "*"
    length: int | None = None
    direction: str = "right"
    pad: str | None = None
    fill: str | None = None

    def _faults(self) -> list[str]:
        faults = []
        if not isinstance(self.char, str) or len(self.char) != 1 or not self.char.strip():
            faults.append("char must be one character, and not a space")
        if self.fill is not None and not (isinstance(self.fill, str) and len(self.fill) == 1):
            faults.append("fill must be one character")
        if self.length is not None and not _is_count(self.length, least=1):
            faults.append("length must be a whole number of at least 1")
        if self.direction not in ("right", "left") or self.pad not in (None, "right", "left"):
            faults.append("direction and pad must be 'right' or 'left'")
        return faults

    def build(self, name: str, values: Sequence[Value]) -> Hierarchy:
        """Return the hierarchy of these texts."""
        texts = sorted(set(map(_text, values)))
        length = self.length or max(map(len, texts), default=0)
        longer = sum(len(text) > length for text in texts)
        if longer:
            problem = f"{longer} of {len(texts)} values are longer than {length}; raise length"
            raise HierarchyError(hierarchy=name, problem=problem)
        rows = [(text, *self._steps(text, length), ROOT) for text in texts]
        return Hierarchy.from_rows(name, rows, strip=False)

    def _steps(self, text: str, length: int) -> list[str]:
        fill = self.fill or self.char
        fill_right = (self.pad or self.direction) == "right"
        full = text.ljust(length, fill) if fill_right else text.rjust(length, fill)
        steps = []
        for lost in range(1, length):
            hidden = self.char * lost
            step = full[:-lost] + hidden if self.direction == "right" else hidden + full[lost:]
            # Nothing left to see is the root, whatever the length: or it would be two nodes.
            steps.append(step if step.strip(self.char) else ROOT)
        return steps


_DATE_LEVELS: dict[str, Callable[[datetime], str]] = {
    "day": lambda day: day.date().isoformat(),
    "month": lambda day: f"{day.year:04d}-{day.month:02d}",
    "quarter": lambda day: f"{day.year:04d}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04d}",
    "decade": lambda day: f"{day.year // 10 * 10:04d}s",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates(Builder):
    """Dates, or dates with a time, joined by calendar.

    They are ISO dates, or written in `date_format`; a form that leaves no doubt is found.

    "day" is a level of its own only when some value has a time. A time zone is left as
    it is written: the day is the local one.

    Example:
        >>> Dates().build("birth", ["2024-03-17"]).to_rows()
        [('2024-03-17', '2024-03', '2024-Q1', '2024', '2020s', '*')]
    """

    levels: Sequence[str] = tuple(_DATE_LEVELS)
    date_format: str | None = None

    def _faults(self) -> list[str]:
        known = list(_DATE_LEVELS)
        if self.date_format is not None and not is_form(str(self.date_format)):
            return ["date_format must have a day, a month and a year, such as %d.%m.%Y"]
        given = self.levels if isinstance(self.levels, tuple) else ()
        if not given or list(given) != [level for level in known if level in given]:
            return [f"levels must be some of {', '.join(known)}, in this order"]
        return []

    def build(self, name: str, values: Sequence[Value]) -> Hierarchy:
        """Return the hierarchy of these dates."""
        texts = set(map(_text, values))
        form = self.date_format or find_form(texts, column=name)
        days = {text: day for text in texts if (day := moment_of(text, form)) is not None}
        days = {text: day.replace(tzinfo=None) for text, day in days.items()}
        if len(days) < len(texts):
            wrong = len(texts) - len(days)
            problem = f"{wrong} of {len(texts)} values are not dates such as 2024-03-17"
            raise HierarchyError(hierarchy=name, problem=problem)
        plain = all(
            text == _DATE_LEVELS["day"](day) or (form is not None and day.time() == time.min)
            for text, day in days.items()
        )
        steps = [_DATE_LEVELS[x] for x in self.levels if not (plain and x == "day")]
        ordered = sorted(texts, key=lambda text: (days[text], text))
        rows = [(text, *(step(days[text]) for step in steps), ROOT) for text in ordered]
        return Hierarchy.from_rows(name, rows, strip=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Builder):
    """Groups of neighbours in an order, labelled "low … high".

    Attributes:
        groups: how many values a group holds, for each level; multiples of each other.
        fanout: or: each level joins so many groups of the one below, until one is left.
        order: the values in order, occurring or not; by default numbers by size, and
            texts by alphabet.

    Example:
        >>> Order(fanout=2).build("grade", ["a", "b", "c", "d"]).to_rows()[0]
        ('a', 'a … b', '*')
    """

    groups: Sequence[int] | None = None
    fanout: int | None = None
    order: Sequence[Value] | None = field(default=None, repr=False)

    def _faults(self) -> list[str]:
        faults = []
        if (self.groups is None) == (self.fanout is None):
            faults.append("give one of groups and fanout")
        if self.fanout is not None and not _is_count(self.fanout, least=2):
            faults.append("fanout must be a whole number of at least 2")
        sizes = self.groups
        if sizes is not None and (
            not isinstance(sizes, tuple)
            or not sizes
            or not all(_is_count(size, least=2) for size in sizes)
            or any(high <= low or high % low for low, high in pairwise(sizes))
        ):
            faults.append("groups must be sizes of at least 2, each a multiple of the one before")
        if self.order is not None and not (
            isinstance(self.order, tuple)
            and all(isinstance(value, str | int | float) for value in self.order)
            and 0 < len(self.order) == len(set(map(_text, self.order)))
        ):
            faults.append("order must be a list of different values")
        return faults

    def build(self, name: str, values: Sequence[Value]) -> Hierarchy:
        """Return the hierarchy of these values, and of those that `order` adds."""
        texts = list(set(map(_text, values)))
        if self.order is None:
            ordered = _sorted(texts)
        else:
            ordered = list(map(_text, self.order))
            wrong = len(set(texts) - set(ordered))
            if wrong:
                problem = f"{wrong} of {len(texts)} values are not in the given order; add them"
                raise HierarchyError(hierarchy=name, problem=problem)
        sizes = list(self.groups or ())
        while self.fanout and (sizes or [1])[-1] < len(ordered):
            sizes.append((sizes or [1])[-1] * self.fanout)
        # One group of all values would be a second root, and cost nothing in a measure of loss.
        levels = [_group_labels(ordered, size) for size in sizes if size < len(ordered)]
        rows = list(zip(ordered, *levels, [ROOT] * len(ordered), strict=True))
        return Hierarchy.from_rows(name, rows, strip=False)


BUILDERS: Mapping[str, type[Builder]] = {
    "intervals": Intervals,
    "mask": Mask,
    "dates": Dates,
    "order": Order,
    "top_bottom": TopBottom,
}


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Builder):
        return value.to_document()
    return list(map(_plain, value)) if isinstance(value, tuple) else value


def _listed(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _is_nested(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], tuple)


def _is_number(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and (isinstance(value, int) or math.isfinite(value))
        and abs(value) < 10**_LARGEST
    )


def _is_count(value: object, *, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _exact(value: float) -> Decimal:
    return Decimal(number_text(value))


def _decimal_text(value: Decimal) -> str:
    short = value.normalize()
    if not short:
        return "0"
    return format(short, "f") if -7 <= short.adjusted() < 21 else str(short)


def _text(value: Value) -> str:
    return value if isinstance(value, str) else number_text(value)


def _number(text: str) -> Decimal | None:
    """Read a number, or `None`; sizes that would make exact arithmetic slow are none."""
    if len(text) > _LARGEST or "_" in text:
        return None
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _LARGEST else None


def _numbers(name: str, values: Iterable[Value]) -> list[tuple[Decimal, str]]:
    texts = [_text(value) for value in values]
    found = [(number, text) for text in texts if (number := _number(text)) is not None]
    if len(found) < len(texts):
        wrong = len(texts) - len(found)
        problem = f"{wrong} of {len(texts)} values are not numbers; treat the column as categorical"
        raise HierarchyError(hierarchy=name, problem=problem)
    return sorted(found)


def _sorted(texts: Iterable[str]) -> list[str]:
    keyed = [(_number(text), text) for text in texts]
    if any(number is None for number, _ in keyed):
        return sorted(text for _, text in keyed)
    return [text for _, text in sorted(keyed, key=lambda pair: (pair[0] or Decimal(0), pair[1]))]


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


def _group_labels(ordered: Sequence[str], size: int) -> list[str]:
    labels = []
    for start in range(0, len(ordered), size):
        group = ordered[start : start + size]
        label = group[0] if len(group) == 1 else f"{group[0]} … {group[-1]}"
        labels.extend([label] * len(group))
    return labels
