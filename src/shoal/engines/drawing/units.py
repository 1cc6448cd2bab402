"""The values that a line can have: as whole numbers of its finest step, and back to texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from shoal.core.dates import moment_text
from shoal.core.grids import digits_of
from shoal.core.numbers import number_label
from shoal.schema.attribute import Attribute
from shoal.schema.schema import Kind
from shoal.table.domain import Domain

_DAY = 86_400
MOST_DIGITS = 9
"""Digits behind the point of numbers that have a step; others are drawn from their own values."""


@dataclass(frozen=True)
class Units:
    """A line as steps: days, minutes or seconds, ranks, numbers with so many digits.

    Attributes:
        known: the unit of each code, without the missing value.
        step: units between two values.
        text: how the value of a unit is written.
        place: where it stands on the line of the domain.
        each: units between two whole numbers, or days, of that line.
    """

    known: Sequence[int]
    step: int
    text: Callable[[int], str]
    place: Callable[[int], float]
    each: int

    def between(self, low: float, high: float) -> range:
        """Return the units from one place of the line to another, step by step from the first.

        Example:
            >>> cents = Units([10, 15], 1, str, lambda unit: unit / 10, 10)
            >>> list(cents.between(1.15, 1.45))
            [12, 13, 14]
        """
        begin, end = round(low * self.each), round(high * self.each)
        while self.place(begin) < low:
            begin += 1
        while self.place(end) > high:
            end -= 1
        return range(begin, end + 1, self.step)


def units_of(domain: Domain, attribute: Attribute) -> Units | None:
    """Return the steps of a column on a line; None: only its own values are known.

    Example:
        A column of numbers with one digit behind the point:

        >>> import numpy as np
        >>> from shoal.schema.attribute import Role
        >>> from shoal.table.domain import line_domain
        >>> line = line_domain("x", Kind.NUMERIC, ["1", "1.5"], [1, 1.5])
        >>> units = units_of(line, Attribute(name="x", role=Role.QUASI))
        >>> units.known, units.text(12)
        ([10, 15], '1.2')
    """
    labels = [text for text in domain.labels if text is not None]
    places = domain.position[int(domain.has_missing) :].tolist()
    if not labels or domain.tree is not None:
        return None
    if domain.ladder is not None or domain.kind not in (Kind.NUMERIC, Kind.DATE):
        return None  # a hierarchy or a declared order has its values
    if domain.kind is Kind.NUMERIC:
        return _numbers(labels, max(map(digits_of, labels)))
    if labels[0][2:3] == ":":
        return _moments([round(place * _DAY) for place in places], _clock_text, is_clock=True)
    form = attribute.date_format if attribute.dates == "same" else None

    def written(seconds: int) -> str:
        return moment_text(_moment(seconds), form)

    return _moments([round(place * _DAY) for place in places], written, is_clock=False)


def _numbers(labels: Sequence[str], digits: int) -> Units | None:
    if digits > MOST_DIGITS or any("e" in label for label in labels):
        return None
    from decimal import Decimal

    def text(unit: int) -> str:
        return number_label(f"{unit}e{-digits}") or str(unit)

    known = [int(Decimal(label).scaleb(digits)) for label in labels]
    return Units(known, 1, text, lambda unit: float(text(unit)), 10**digits)


def _moments(known: Sequence[int], text: Callable[[int], str], *, is_clock: bool) -> Units:
    steps = (60, 1) if is_clock else (_DAY, 60, 1)
    step = next(s for s in steps if all(unit % s == 0 for unit in known) or s == 1)

    def place(seconds: int) -> float:
        if is_clock:
            return timedelta(seconds=seconds) / timedelta(days=1)
        moment = _moment(seconds)
        midnight = datetime.combine(moment.date(), time.min)
        return moment.toordinal() + (moment - midnight) / timedelta(days=1)

    return Units(known, step, text, place, _DAY)


def _moment(seconds: int) -> datetime:
    return datetime.fromordinal(seconds // _DAY) + timedelta(seconds=seconds % _DAY)


def _clock_text(seconds: int) -> str:
    return (datetime.min + timedelta(seconds=seconds)).time().isoformat()
