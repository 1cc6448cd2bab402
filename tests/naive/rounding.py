"""Slow, obvious twin of round labels: the family of public intervals, tried one by one.

An interval of a column is a run of at most eight equal cells, sixteen of numbers. A cell of numbers
is 1, 2 or 5 times a power of ten wide, but neither one nor five of the smallest units of the
column; a cell of dates is a month, a quarter or a round number of years. A place less than two
units from a bound is none, and an interval is two units long at least. What a class releases is the
shortest one that covers all its values, of equally short ones the last. Nothing of shoal is used.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

CELLS = 8
NUMBERS = 16
YEARS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)


def decimals(texts):
    """Return the digits behind the point that the numbers of a column have."""
    return max(max(-Decimal(text.strip()).as_tuple().exponent, 0) for text in texts)


def number_interval(values, digits, bounds=None):
    """Return (low, high) for numbers, as fractions; whole numbers end before the next cell."""
    low, high = min(values), max(values)
    unit = Fraction(1, 10**digits)
    whole = digits == 0
    bottom = None if bounds is None or low < bounds[0] else bounds[0]
    top = None if bounds is None or high > bounds[1] else bounds[1] + whole
    found = [] if bottom is None or top is None else [(top - bottom, bottom, top)]
    for power in range(-digits, 12):
        for factor in (1, 2, 5):
            step = factor * Fraction(10) ** power
            if step in (unit, 5 * unit):
                continue
            for start in (low // step * step, low // step * step - step):
                for cells in range(1, NUMBERS + 1):
                    begin = _place(start, bottom, top, unit)
                    end = _place(start + cells * step, bottom, top, unit)
                    if begin is None or end is None or end - begin < (2 + whole) * unit:
                        continue
                    if begin <= low and high <= end - whole:
                        found.append((end - begin, begin, end))
    _, begin, end = min(found, key=lambda each: (each[0], -each[1]))
    return begin, end - whole


def _place(place, bottom, top, unit):
    """Return where an interval ends that would end at a place; None: beyond the other bound."""
    if bottom is not None and place < bottom + 2 * unit:
        return bottom
    if top is not None and place > top - 2 * unit:
        return top
    return place


def date_interval(values):
    """Return (first day, last day) for days."""
    months = [day.year * 12 + day.month - 1 for day in values]
    found = []
    for step in (1, 3, *(12 * years for years in YEARS)):
        for cells in range(1, CELLS + 1):
            first = min(months) // step * step
            last = first + cells * step - 1
            if last >= max(months):
                found.append((max(first, 12), min(last, 9999 * 12 + 11)))
    first, last = min(found, key=lambda pair: (pair[1] - pair[0], -pair[0]))
    begin = date(first // 12, first % 12 + 1, 1)
    end = last + 1
    if end == 120000:
        return begin, date(9999, 12, 31)
    return begin, date(end // 12, end % 12 + 1, 1) - timedelta(days=1)


def read_numbers(label):
    """Return what a round label of numbers spans; None if it is none."""
    parts = label.split("–")
    if len(parts) != 2:
        return None
    return Fraction(parts[0]), Fraction(parts[1])


def read_dates(label):
    """Return the first and the last day of a round label; None if it is none."""
    parts = label.split("–")
    days = [_days(part) for part in parts]
    if len(parts) > 2 or None in days:
        return None
    return days[0][0], days[-1][1]


def _days(text):
    found = re.fullmatch(r"(\d{4})(?:-(?:Q([1-4])|(\d\d)))?", text)
    if not found:
        return None
    year, quarter, month = (int(part) if part else 0 for part in found.groups())
    first = month or (3 * quarter - 2 if quarter else 1)
    last = month or (3 * quarter if quarter else 12)
    end = date(year + last // 12, last % 12 + 1, 1) - timedelta(days=1)
    return date(year, first, 1), end


def lifted(parents, node):
    """Return the node above until it has not exactly two children; the root stays."""
    while parents[node] is not None and list(parents.values()).count(node) == 2:
        node = parents[node]
    return node


def covers(label, value, kind):
    """Say whether a round label of numbers or dates stands for a value."""
    if kind == "numeric":
        span = read_numbers(label)
        return span is not None and span[0] <= Fraction(value.strip()) <= span[1]
    span = read_dates(label)
    return span is not None and span[0] <= datetime.fromisoformat(value.strip()).date() <= span[1]
