"""Columns whose cells are sets of items: told by what stands between items that come again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from shoal.inference.column import ColumnFacts
from shoal.inference.roles import Verdict
from shoal.schema.schema import Kind, Role

SEPARATORS = ("json", "|", "; ", ";", ", ", ",")
_LEAST_CELLS = 8  # different cells, below which chance may look like anything
_SEVERAL = 0.4  # share of the cells that hold more than one item
_AGAIN = 2.0  # occurrences of an item among different cells, on average
_DIFFERENT = 0.95  # share of the cells that hold no item twice
_WANDER = 0.3  # share of the items in several cells that are not always at the same place
_LONG = 40  # letters of an item, on average, above which it is prose


@dataclass(frozen=True, slots=True, kw_only=True)
class SetForm:
    """How the cells of a column hold sets.

    Attributes:
        separator: what stands between items; "json" for lists in JSON.
        items: different items in the sample.
        mean: items of a cell, on average.
    """

    separator: str
    items: int
    mean: float


def set_form(sample: Iterable[str]) -> SetForm | None:
    """Return how some different cells hold sets; None: they seem to hold none.

    Example:
        >>> cells = ["a|b", "a", "b", "a|c", "c|b", "c", "a|b|c", "b|d", "d|a"]
        >>> set_form(cells)
        SetForm(separator='|', items=4, mean=1.7777777777777777)
        >>> set_form(["Rome, Italy", "Pisa, Italy", "Bonn, Germany"] * 3) is None
        True
    """
    cells = [cell for cell in sample if cell.strip()]
    if len(cells) < _LEAST_CELLS:
        return None
    for separator in SEPARATORS:
        lists = [_items(cell, separator) for cell in cells]
        known = [each for each in lists if each is not None]
        if len(known) == len(cells) and _are_sets(known):
            every = {item for each in known for item in each}
            mean = sum(map(len, known)) / len(known)
            return SetForm(separator=separator, items=len(every), mean=mean)
    return None


def _items(cell: str, separator: str) -> list[str] | None:
    if separator != "json":
        return cell.split(separator)
    try:
        found = json.loads(cell)
    except ValueError:
        return None
    is_list = isinstance(found, list) and all(isinstance(item, str) for item in found)
    return found if is_list else None


def _are_sets(lists: Sequence[Sequence[str]]) -> bool:
    """Say whether lists have several items, which come again elsewhere and at other places.

    The parts of an address or of a name come in the same order, and about as many in each cell.
    """
    total = sum(map(len, lists))
    count = Counter(item for each in lists for item in each)
    if not total or any(item == "" or item.isspace() for item in count):
        return False
    if sum(len(each) > 1 for each in lists) < _SEVERAL * len(lists):
        return False
    if sum(len(set(each)) == len(each) for each in lists) < _DIFFERENT * len(lists):
        return False
    if total < _AGAIN * len(count) or len({len(each) for each in lists}) < 3:
        return False
    if sum(map(len, count)) > _LONG * len(count) or all(_is_figure(item) for item in count):
        return False
    return _wander(lists, count) >= _WANDER


def _is_figure(item: str) -> bool:
    """Say whether an item may be the part of a number, as in 1,234,567."""
    return item.strip().isdigit() and len(item.strip()) <= 3


def _wander(lists: Sequence[Sequence[str]], count: Mapping[str, int]) -> float:
    """Return the share, of the items that come again, of those that stand at several places."""
    places: dict[str, set[int]] = {}
    for each in lists:
        for place, item in enumerate(each):
            places.setdefault(item, set()).add(place)
    again = [item for item, number in count.items() if number > 1]
    return sum(len(places[item]) > 1 for item in again) / len(again) if again else 0.0


_WEAK = ("text", "uniqueness", "name form", "constancy", "")
"""Signs that say less than the form of a set does."""


def propose_sets(
    columns: Sequence[ColumnFacts], verdicts: Mapping[str, Verdict]
) -> dict[str, Verdict]:
    """Return verdicts in which the column that holds most items is a column of sets.

    Only one column of sets is recoded in a release; others keep what else is said of them, and
    so does a column that a header, or what its values hide, makes identifying or sensitive.
    """
    found = dict(verdicts)
    forms = []
    for column in columns:
        verdict = verdicts[column.name]
        is_weak = verdict.role is Role.QUASI or verdict.by in _WEAK
        form = set_form(column.sample) if column.form == "text" and is_weak else None
        if form is not None:
            forms.append((form.items, column, form))
    if not forms:
        return found
    _, column, form = max(forms, key=lambda each: each[0])
    how = "lists in JSON" if form.separator == "json" else f"items between {form.separator!r}"
    found[column.name] = replace(
        verdicts[column.name], role=Role.QUASI, kind=Kind.SET, confidence=0.8, free_text=False,
        date_format=None, concept=None, hipaa=None, by="items", set_sep=form.separator,
        why=f"sets: {how}, {form.mean:.1f} of {form.items} in a cell",
    )  # fmt: skip
    return found
