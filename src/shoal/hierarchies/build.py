"""Hierarchies built from the values of a column: every builder, by its name in a schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from decimal import Decimal
from itertools import pairwise

from shoal.core.dates import find_form, is_form, moment_of
from shoal.core.errors import HierarchyError
from shoal.core.specs import is_count
from shoal.hierarchies.builder import ROOT, Builder, Value, exact_number, text_of
from shoal.hierarchies.intervals import Intervals, TopBottom
from shoal.hierarchies.tree import Hierarchy

__all__ = ["BUILDERS", "Builder", "Dates", "Intervals", "Mask", "Order", "TopBottom"]


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
        if self.length is not None and not is_count(self.length, least=1):
            faults.append("length must be a whole number of at least 1")
        if self.direction not in ("right", "left") or self.pad not in (None, "right", "left"):
            faults.append("direction and pad must be 'right' or 'left'")
        return faults

    def build(self, name: str, values: Sequence[Value]) -> Hierarchy:
        """Return the hierarchy of these texts."""
        texts = sorted(set(map(text_of, values)))
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
        texts = set(map(text_of, values))
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
        if self.fanout is not None and not is_count(self.fanout, least=2):
            faults.append("fanout must be a whole number of at least 2")
        sizes = self.groups
        if sizes is not None and (
            not isinstance(sizes, tuple)
            or not sizes
            or not all(is_count(size, least=2) for size in sizes)
            or any(high <= low or high % low for low, high in pairwise(sizes))
        ):
            faults.append("groups must be sizes of at least 2, each a multiple of the one before")
        if self.order is not None and not (
            isinstance(self.order, tuple)
            and all(isinstance(value, str | int | float) for value in self.order)
            and 0 < len(self.order) == len(set(map(text_of, self.order)))
        ):
            faults.append("order must be a list of different values")
        return faults

    def build(self, name: str, values: Sequence[Value]) -> Hierarchy:
        """Return the hierarchy of these values, and of those that `order` adds."""
        texts = list(set(map(text_of, values)))
        if self.order is None:
            ordered = _sorted(texts)
        else:
            ordered = list(map(text_of, self.order))
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


def _sorted(texts: Iterable[str]) -> list[str]:
    keyed = [(exact_number(text), text) for text in texts]
    if any(number is None for number, _ in keyed):
        return sorted(text for _, text in keyed)
    return [text for _, text in sorted(keyed, key=lambda pair: (pair[0] or Decimal(0), pair[1]))]


def _group_labels(ordered: Sequence[str], size: int) -> list[str]:
    labels = []
    for start in range(0, len(ordered), size):
        group = ordered[start : start + size]
        label = group[0] if len(group) == 1 else f"{group[0]} … {group[-1]}"
        labels.extend([label] * len(group))
    return labels
