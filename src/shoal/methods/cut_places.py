"""Where the cuts of a model may be: at public places, so that no cut says what somebody has.

A line is cut at round numbers, months and hours, or at its values where these are released anyway
(tight labels, declared orders); a tree between its nodes; texts before a beginning that as many
records share as the promise asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Context, Decimal, localcontext
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.core.dates import moment_of
from shoal.core.grids import ClockGrid, DateGrid, NumberGrid, RankGrid, digits_of
from shoal.core.numbers import number_label
from shoal.hierarchies.build import Mask
from shoal.hierarchies.tree import Hierarchy
from shoal.model.cells import mask_of
from shoal.model.column import hide
from shoal.table.domain import Domain

_PLACES = 2000  # of the range of a line of numbers: a cut is no finer
_EXACT = Context(prec=2000)  # enough for any quotient of two numbers that a table may hold


@dataclass(frozen=True)
class Places:
    """The cuts that a column may have.

    Attributes:
        codes: ascending; a cut before such a code is one of them.
        at: for each, the first value, text or node to the right of it.
        first, last: what a line begins and ends with.
        before: the last value of a line before a cut.
    """

    codes: NDArray[np.int32]
    at: Sequence[str | int]
    first: str | None = None
    last: str | None = None
    before: Callable[[str], str] | None = None


def places_of(
    domain: Domain, rule: object, records: NDArray[np.int64], *, least: int, order: Sequence[str]
) -> Places | None:
    """Return where a column may be cut; None where its regions cannot be written down.

    Args:
        domain: of the column.
        rule: its hierarchy, or what builds it.
        records: for each code.
        least: records that share what a cut of a text says.
        order: the declared order of an ordinal column.
    """
    if domain.tree is not None:
        if isinstance(rule, Hierarchy):
            return _between_nodes(domain, rule)
        return _between_texts(domain, rule, records, least)
    return _on_a_line(domain, order)


def _inner(domain: Domain) -> range:
    """Return the codes before which a column may be cut, but for the one behind missing."""
    return range(1 + domain.has_missing, len(domain))


def _between_nodes(domain: Domain, tree: Hierarchy) -> Places:
    missing = domain.has_missing
    node = [int(position) - missing for position in domain.position]
    parents = tree.parents
    at: list[str | int] = []
    for code in _inner(domain):
        last = node[code - 1]
        while 0 <= parents[last] < node[code]:
            last = parents[last]
        at.append(last + 1)
    return Places(np.array(list(_inner(domain)), dtype=np.int32), at)


def _between_texts(
    domain: Domain, rule: object, records: NDArray[np.int64], least: int
) -> Places | None:
    if rule is not None and not isinstance(rule, Mask):
        return None
    texts = [text for text in domain.labels if text is not None]
    keys = [text.strip() for text in texts]
    if isinstance(rule, Mask):
        mask = mask_of(rule, texts)
        full = [hide(text, mask, 0) for text in texts]
        keys = [(text or "")[:: -1 if mask["direction"] == "left" else 1] for text in full]
    if any(a >= b for a, b in pairwise(keys)):
        return None
    codes: list[int] = []
    at: list[str | int] = []
    sums = np.append(0, np.cumsum(records[int(domain.has_missing) :]))
    for place in range(1, len(keys)):
        begin = _beginning(keys[place - 1], keys[place])
        end = place
        while end < len(keys) and keys[end].startswith(begin):
            end += 1
        if sums[end] - sums[place] >= least:
            codes.append(place + domain.has_missing)
            at.append(begin)
    return Places(np.array(codes, dtype=np.int32), at)


def _beginning(one: str, other: str) -> str:
    """Return the shortest beginning of the second text that sorts behind the first one."""
    size = 1
    while other[:size] <= one:
        size += 1
    return other[:size]


def _on_a_line(domain: Domain, order: Sequence[str]) -> Places | None:
    texts = [str(text) for text in domain.labels if text is not None]
    if not texts:
        return None
    place, before = _rule_of(domain, texts, order)
    if place is None or before is None:
        return None
    codes: list[int] = []
    at: list[str] = []
    for code in _inner(domain):
        text = place(str(domain.labels[code - 1]), str(domain.labels[code]))
        if text is not None and (not at or at[-1] != text):
            codes.append(code)
            at.append(text)
    first, last = texts[0], texts[-1]
    if domain.grid is not None and len(texts) > 1:
        span = domain.grid.span(first, last)
        first, last = span.low, span.high
    return Places(np.array(codes, dtype=np.int32), at, first, last, before)


_Place = Callable[[str, str], str | None]
_Before = Callable[[str], str]


def _rule_of(
    domain: Domain, texts: Sequence[str], order: Sequence[str]
) -> tuple[_Place | None, _Before | None]:
    """Return what finds a place between two values, and the last value before one."""
    grid = domain.grid
    if isinstance(grid, DateGrid):
        return lambda low, high: _month_between(low, high, grid.form), _day_before
    if isinstance(grid, ClockGrid):
        return _hour_between, _minute_before
    if isinstance(grid, RankGrid) or (grid is None and order and set(texts) <= set(order)):
        known = list(grid.order) if isinstance(grid, RankGrid) else list(order)
        place = {text: at for at, text in enumerate(known)}
        return lambda _, high: high, lambda text: known[place[text] - 1]
    if isinstance(grid, NumberGrid) or (grid is None and domain.kind.value == "numeric"):
        return _numbers(texts, is_round=grid is not None)
    if domain.kind.value == "date":  # tight labels: at values, whatever they are
        return lambda _, high: high, lambda text: text
    return None, None


def _month_between(low: str, high: str, form: str | None) -> str | None:
    one, other = moment_of(low, form), moment_of(high, form)
    if one is None or other is None or (one.year, one.month) == (other.year, other.month):
        return None
    return date(other.year, other.month, 1).isoformat()


def _day_before(text: str) -> str:
    return (date.fromisoformat(text) - timedelta(days=1)).isoformat()


def _hour_between(low: str, high: str) -> str | None:
    hour = f"{high[:2]}:00:00"
    return hour if low < hour <= high else None


def _minute_before(text: str) -> str:
    return f"{int(text[:2]) - 1:02d}:59:59"


def _numbers(texts: Sequence[str], *, is_round: bool) -> tuple[_Place, _Before]:
    digits = max(map(digits_of, texts))
    unit = Decimal(1).scaleb(-digits)
    width = Decimal(texts[-1]) - Decimal(texts[0])
    finest = max(unit, Decimal(1).scaleb((width / _PLACES).adjusted())) if width else unit

    def place(low: str, high: str) -> str | None:
        if not is_round:
            return high
        with localcontext(_EXACT):
            return round_between(Decimal(low), Decimal(high))

    def round_between(one: Decimal, other: Decimal) -> str | None:
        step = Decimal(1).scaleb(max((other - one).adjusted() + 1, finest.adjusted()))
        while step >= finest:
            for factor in (5, 2, 1):
                found = other // (factor * step) * (factor * step)
                if found > other:  # division of negative numbers goes towards zero
                    found -= factor * step
                if one < found <= other:
                    return number_label(str(found)) or str(found)
            step /= 10
        return None

    def before(text: str) -> str:
        if digits:
            return text  # intervals of a continuous line share the place where they meet
        return str(int(Decimal(text)) - 1)

    return place, before


def line_label(domain: Domain, low: str, high: str) -> Mapping[str, str]:
    """Return the cell of a region of a line from its first to its last value."""
    if low == high:
        return {"label": low}
    if domain.grid is not None:
        return {"label": domain.grid.span(low, high).label}
    return {"label": f"[{low}, {high}]"}
