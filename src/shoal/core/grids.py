"""Grids: the public places where a released interval of numbers or dates may begin and end.

An interval from the smallest to the largest value of a class prints two people's values. Snapped
outward to a grid, its ends say no more than which cell of the grid somebody stands in: round
numbers (2, 10, 20, 50, 100 …), months, quarters and years, hours of the day, pairs of the values of
an order. A cell holds more than one value of the column. How fine a grid may be depends on the
width of the interval and on nothing else: at most MOST_CELLS cells, or MOST_NUMBERS.

Law:
    The intervals of a grid are a fixed family. Every run of values is released as the shortest of
    the family that covers it (of equals the last), so two runs with the same interval have it
    together, too, and the interval of a run inside another is never the longer one.

    No interval says that somebody has one certain value, unless the declared domain has no third
    one. All grids of a column end at places of the finest, whose cells hold two values at least, so
    whatever covers one value of such a cell covers the other: the run could begin or end there as
    well. (Cells of 2 beside cells of 5 broke that: 25–29 was released for runs from 25 on alone.)
    Two whole numbers alone are no interval, for both of them would be there.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, Protocol

from shoal.core.dates import moment_of
from shoal.core.numbers import number_label, number_text

DASH = "–"
MOST_CELLS = 8
"""Cells of its grid that an interval of time may have: fewer lose more and say less.

The hospital sample, refine, k = 5: a register proves 0.4 % of its people with 8, 0.7 % with 12.
"""

MOST_NUMBERS = 16
"""Cells of an interval of numbers, which are many people's each."""

_YEAR = 12  # months
_MONTHS = (1, 3, *(_YEAR * years for years in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)))
_LAST_MONTH = 10_000 * _YEAR
_MINUTES = (60, 120, 180, 360, 720, 1440)  # of a day
_END = " 23:59:59.999999"
_MONTH = re.compile(r"(\d{4})-(\d\d)")
_QUARTER = re.compile(r"(\d{4})-Q([1-4])")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
_MINUTE = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")


class Span(NamedTuple):
    """An interval of a grid.

    Attributes:
        low, high: its first and its last value, as a model compares with them.
        begin, end: where these stand on the line of the column.
        label: as people write it.
    """

    low: str
    high: str
    begin: float
    end: float
    label: str


class Grid(Protocol):
    """The intervals that a column may release."""

    def span(self, low: str, high: str) -> Span:
        """Return the shortest interval that covers two values."""

    def step(self, text: str) -> object:
        """Return what of a value the intervals that begin or end with it are made of."""

    def __hash__(self) -> int:
        """Return a number: two grids that are equal have the same."""

    def read(self, label: str) -> Span | None:
        """Return the interval that a label stands for; None if it is none of the grid."""


class _Cells(NamedTuple):
    """Whole numbers from `first` to the one before `last`; or, of a continuous line, to it."""

    length: int
    first: int
    last: int


def _shortest(
    low: int,
    high: int,
    steps: Iterable[int],
    *,
    closed: bool,
    bounds: tuple[int, int] | None,
    least_length: int = 1,
    most_cells: int = MOST_CELLS,
) -> _Cells:
    """Return the shortest run of cells around two numbers; steps: the sizes of cells, ascending.

    closed: numbers are whole, and a cell ends before the next one begins. Otherwise two cells
    share the place where they meet.
    bounds: cells are cut off there, unless a number lies outside; what is cut to less than two
        belongs to the cell beside it.
    least_length: of a run, unless there is no more between the bounds.
    """
    best: _Cells | None = None
    least = bounds[0] if bounds and bounds[0] <= low else None
    most = bounds[1] if bounds and high + closed <= bounds[1] else None
    ends = least, most
    gaps = [gap for gap in (_gap(least, low), _gap(high, most)) if gap is not None]
    reach = max(map(abs, bounds)) if bounds else 0
    for step in steps:
        # A larger cell can be the shorter one only where it is cut off, and that near.
        if (
            best is not None
            and step >= best.length
            and (step > reach or all(gap >= best.length for gap in gaps))
        ):
            break
        first, last = low // step, high // step + 1 if closed else -(-high // step)
        if last - first > most_cells:
            continue
        for found in _runs(first * step, last * step, step, ends, least_length):
            best = found if best is None else min(best, found, key=_shorter)
    assert best is not None  # the steps go on until one cell is enough
    return best


def _runs(
    first: int, last: int, step: int, ends: tuple[int | None, int | None], length: int
) -> Iterator[_Cells]:
    """Yield a run of cells cut off at the ends; where it is too short, those with one more."""
    cells = [(first, last)]
    if not _is_long(_cut(first, last, step, *ends), length, *ends):
        cells = [(first - step, last), (first, last + step)]
    for run in cells:
        begin, end = _cut(*run, step, *ends)
        if _is_long((begin, end), length, *ends):
            yield _Cells(end - begin, begin, end)


def _shorter(cells: _Cells) -> tuple[int, int]:
    return cells.length, -cells.first  # to the right: numbers of 0 and more stay so


def _is_long(run: tuple[int, int], length: int, least: int | None, most: int | None) -> bool:
    return run[1] - run[0] >= length or run == (least, most)


def _cut(first: int, last: int, step: int, least: int | None, most: int | None) -> tuple[int, int]:
    """Cut a run of cells off at the bounds, and leave no cell of less than two there."""
    if least is not None:
        last += step if last - least < 2 else 0
        first = least if first - least < 2 else first
    if most is not None:
        first -= step if most - first < 2 else 0
        last = most if most - last < 2 else last
        first = first if least is None or first - least >= 2 else least
    return first, last


def _gap(low: int | None, high: int | None) -> int | None:
    return None if low is None or high is None else high - low


def _round_steps(width: int) -> Iterator[int]:
    """Yield 2, 10, 20, 50, 100 …, from where cells are few enough for a width.

    Neither 1, whose cells would hold one number alone, nor 5, whose places are not all even.
    """
    power = len(str(width // MOST_NUMBERS)) - 1
    while True:
        yield from (factor * 10**power for factor in (1, 2, 5) if factor * 10**power not in (1, 5))
        power += 1


@dataclass(frozen=True, slots=True)
class NumberGrid:
    """Round numbers.

    Attributes:
        digits: behind the point, that numbers of the column have. Without any, intervals of whole
            numbers do not touch: 20–24 and 25–29; otherwise they do: 2–2.5 and 2.5–3.
        bounds: the declared domain; intervals do not go beyond it.

    Example:
        >>> NumberGrid(digits=0).span("21", "58").label
        '20–59'
        >>> NumberGrid(digits=2).span("1.37", "1.52").label
        '1.36–1.52'
        >>> NumberGrid(digits=0, bounds=(0, 55)).span("21", "54").label
        '20–55'
    """

    digits: int
    bounds: tuple[float, float] | None = None

    def span(self, low: str, high: str) -> Span:
        """Return the shortest interval that covers two numbers."""
        first, last = _scaled(low, self.digits), _scaled(high, self.digits)
        whole = not self.digits
        cells = _shortest(
            first, last, _round_steps(last - first), closed=whole, bounds=self._limits(),
            least_length=2 + whole, most_cells=MOST_NUMBERS,
        )  # fmt: skip
        low, high = (_unscaled(n, self.digits) for n in (cells.first, cells.last - whole))
        return Span(low, high, float(low), float(high), f"{low}{DASH}{high}")

    def _limits(self) -> tuple[int, int] | None:
        """Return the declared domain, scaled."""
        if self.bounds is None:
            return None
        low, high = (Decimal(number_text(bound)).scaleb(self.digits) for bound in self.bounds)
        if not self.digits:
            return math.ceil(low), math.floor(high) + 1
        return math.floor(low), math.ceil(high)  # a bound with more digits goes outward

    def step(self, text: str) -> object:
        """Return the value itself."""
        return text

    def read(self, label: str) -> Span | None:
        """Return the interval that a label stands for."""
        low, dash, high = label.partition(DASH)
        if not dash or not _NUMBER.fullmatch(low) or not _NUMBER.fullmatch(high):
            return None
        return Span(low, high, float(low), float(high), label)


def digits_of(text: str) -> int:
    """Return how many digits behind the point a number has.

    Example:
        >>> digits_of("12.50"), digits_of("1e3"), digits_of("1e-7")
        (2, 0, 7)
    """
    exponent = Decimal(text).as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _scaled(text: str, digits: int) -> int:
    sign, own, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)  # it is finite
    value: int = int("".join(map(str, own))) * 10 ** (exponent + digits)
    return -value if sign else value


def _unscaled(number: int, digits: int) -> str:
    text = f"{number}e{-digits}"
    return number_label(text) or text


@dataclass(frozen=True, slots=True)
class RankGrid:
    """Pairs, fives, tens … of the values of a declared order.

    Example:
        >>> RankGrid(("none", "school", "college", "master", "doctor")).span("school", "college")
        Span(low='none', high='doctor', begin=0.0, end=4.0, label='[none, doctor]')
    """

    order: tuple[str, ...]

    def span(self, low: str, high: str) -> Span:
        """Return the shortest interval that covers two values."""
        first, last = self.order.index(low), self.order.index(high)
        cells = _shortest(
            first, last, _round_steps(last - first), closed=True, bounds=(0, len(self.order)),
            least_length=3, most_cells=MOST_NUMBERS,
        )  # fmt: skip
        begin, end = cells.first, cells.last - 1
        low, high = self.order[begin], self.order[end]
        return Span(low, high, float(begin), float(end), f"[{low}, {high}]")

    def step(self, text: str) -> object:
        """Return the value itself."""
        return text

    def read(self, label: str) -> Span | None:
        """Return nothing: its labels are those of two values."""
        return None


@dataclass(frozen=True, slots=True)
class DateGrid:
    """Months, quarters, years, and round numbers of years.

    Attributes:
        form: in which the column writes its dates; None: ISO dates.

    Example:
        >>> DateGrid().span("1947-05-20", "1948-06-23").label
        '1947-Q2–1948-Q2'
        >>> DateGrid("%d.%m.%Y").span("20.05.1947", "01.02.1954").label
        '1947–1954'
    """

    form: str | None = None

    def span(self, low: str, high: str) -> Span:
        """Return the shortest interval that covers two days."""
        return _span_of_months(self._month(low), self._month(high))

    def step(self, text: str) -> object:
        """Return the month."""
        return self._month(text)

    def _month(self, text: str) -> int:
        moment = moment_of(text, self.form)
        assert moment is not None  # it was read before
        return moment.year * _YEAR + moment.month - 1

    def read(self, label: str) -> Span | None:
        """Return the interval that a label stands for."""
        low, dash, high = label.partition(DASH)
        first, last = _months(low), _months(high if dash else low)
        if first is None or last is None or first[0] > last[1]:
            return None
        return _date_span(first[0], last[1])


@lru_cache(maxsize=1 << 16)  # days of two months have one interval
def _span_of_months(first: int, last: int) -> Span:
    cells = _shortest(first, last, _MONTHS, closed=True, bounds=(_YEAR, _LAST_MONTH))
    return _date_span(cells.first, cells.last - 1)


def _date_span(first: int, last: int) -> Span:
    """Return the interval from the first day of a month to the end of another one."""
    low, high = date(*_year_month(first), 1), date(*_year_month(last), _days(last))
    # The last moment of the day: the next midnight is a place outside.
    end = math.nextafter(high.toordinal() + 1, 0)
    label = _written(first, last)
    return Span(low.isoformat(), high.isoformat() + _END, float(low.toordinal()), end, label)


def _year_month(month: int) -> tuple[int, int]:
    return month // _YEAR, month % _YEAR + 1


def _days(month: int) -> int:
    return monthrange(*_year_month(month))[1]


def _written(first: int, last: int) -> str:
    """Return months as people write them: whole years, whole quarters, or months."""
    if first % _YEAR == 0 and last % _YEAR == _YEAR - 1:
        texts = [f"{month // _YEAR:04d}" for month in (first, last)]
    elif first % 3 == 0 and last % 3 == 2:
        texts = [f"{m // _YEAR:04d}-Q{m % _YEAR // 3 + 1}" for m in (first, last)]
    else:
        texts = [f"{m // _YEAR:04d}-{m % _YEAR + 1:02d}" for m in (first, last)]
    return DASH.join(dict.fromkeys(texts))


def _months(text: str) -> tuple[int, int] | None:
    """Return the first and the last month of a year, a quarter or a month; None: of none."""
    if re.fullmatch(r"\d{4}", text):
        first, last = int(text) * _YEAR, int(text) * _YEAR + 11
    elif found := _QUARTER.fullmatch(text):
        first = int(found[1]) * _YEAR + 3 * int(found[2]) - 3
        last = first + 2
    elif found := _MONTH.fullmatch(text):
        first = last = int(found[1]) * _YEAR + int(found[2]) - 1
        if not 1 <= int(found[2]) <= _YEAR:
            return None
    else:
        return None
    return (first, last) if first >= _YEAR else None


@dataclass(frozen=True, slots=True)
class ClockGrid:
    """Whole hours of the day.

    Example:
        >>> ClockGrid().span("08:20:00", "11:05:00").label
        '08:00–11:59'
    """

    def span(self, low: str, high: str) -> Span:
        """Return the shortest interval that covers two times of day."""
        first, last = (60 * int(text[:2]) + int(text[3:5]) for text in (low, high))
        cells = _shortest(first, last, _MINUTES, closed=True, bounds=(0, 1440))
        return _clock_span(cells.first, cells.last - 1)

    def step(self, text: str) -> object:
        """Return the value itself."""
        return text

    def read(self, label: str) -> Span | None:
        """Return the interval that a label stands for."""
        low, dash, high = label.partition(DASH)
        found = [_MINUTE.fullmatch(text) for text in (low, high)]
        if not dash or found[0] is None or found[1] is None:
            return None
        first, last = (60 * int(each[1]) + int(each[2]) for each in found if each is not None)
        return _clock_span(first, last) if first <= last else None


def _clock_span(first: int, last: int) -> Span:
    low, high = (f"{minute // 60:02d}:{minute % 60:02d}" for minute in (first, last))
    end = math.nextafter((last + 1) / 1440, 0)
    return Span(low, f"{high}:59.999999", first / 1440, end, f"{low}{DASH}{high}")
