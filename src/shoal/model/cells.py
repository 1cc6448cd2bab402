"""Cells of rules: what the label of an interval, a date, a mask or a group covers.

The bounds come from the label itself, never from the values that were seen: so a cell
says no more than the label that is released, and still covers values never seen.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence

from shoal.core.errors import MethodError
from shoal.hierarchies.build import Mask, Order
from shoal.model.column import hide
from shoal.model.document_types import Cell, MaskRule

_SPAN = re.compile(r"([\[(])([^,]*), ([^,]*)([\])])")
_ONE_SIDED = re.compile(r"(<=|<|>=|>)(.*)")
_OPEN = {"()": "both", "(]": "low", "[)": "high"}  # which ends do not belong to an interval


def _not_of_the_rule(what: str) -> MethodError:
    return MethodError(problem=f"a label of {what} is not one that the rule makes")


def interval_cell(label: str) -> Cell:
    """Return the cell of an interval as `Intervals` and `TopBottom` write it.

    Example:
        >>> interval_cell("[20, 25)")
        {'low': '20', 'high': '25', 'open': 'high', 'label': '[20, 25)'}
        >>> interval_cell("90+")
        {'low': '90', 'high': None, 'label': '90+'}
    """
    found = _SPAN.fullmatch(label)
    if found:
        cell: Cell = {"low": found[2], "high": found[3]}
        is_open = _OPEN.get(found[1] + found[4])
        if is_open:
            cell["open"] = is_open
        cell["label"] = label
        return cell
    if label.endswith("+"):
        return {"low": label[:-1], "high": None, "label": label}
    found = _ONE_SIDED.fullmatch(label)
    if not found:
        raise _not_of_the_rule("an interval")
    if found[1][0] == "<":
        cell = {"low": None, "high": found[2], "label": label}
    else:
        cell = {"low": found[2], "high": None, "label": label}
    if found[1] in ("<", ">"):
        cell["open"] = "high" if found[1] == "<" else "low"
    return cell


def date_cell(label: str) -> Cell:
    """Return the cell of a day, month, quarter, year or decade.

    Example:
        >>> date_cell("2024-Q1")["high"]
        '2024-03-31 23:59:59.999999'
    """
    year = label[:4]
    months = (1, 12)
    last_year = year
    if label[4:6] == "-Q":
        months = (3 * int(label[6]) - 2, 3 * int(label[6]))
    elif label[4:] == "s":
        last_year = f"{int(year) + 9:04d}"
    elif len(label) >= 7:
        months = (int(label[5:7]), int(label[5:7]))
    # The calendar begins with the year 1, so the first decade does, too.
    first = f"{max(year, '0001')}-{months[0]:02d}-01"
    last = f"{last_year}-{months[1]:02d}-{monthrange(int(last_year), months[1])[1]:02d}"
    if len(label) == 10:
        first = last = label
    return {"low": first, "high": f"{last} 23:59:59.999999", "label": label}


def mask_of(rule: Mask, texts: Sequence[str]) -> MaskRule:
    """Return a mask with everything that was left to its defaults written out."""
    return {
        "char": rule.char,
        "length": rule.length or max(map(len, texts), default=1),
        "direction": rule.direction,
        "pad": rule.pad or rule.direction,
        "fill": rule.fill or rule.char,
    }


def masked_cell(value: str, label: str, mask: MaskRule) -> Cell:
    """Return the cell of a masked label that covers `value`."""
    for lost in range(mask["length"] - 1, 0, -1):  # the one that covers most
        if hide(value, mask, lost) == label:
            return {"mask": label, "lost": lost}
    raise _not_of_the_rule("a mask")


def order_cell(rule: Order, label: str, values: Sequence[str | None], *, scale: str) -> Cell:
    """Return the cell of a group "low … high"; a given order says who is between."""
    known = [str(v) for v in values] if rule.order is None else [str(v) for v in rule.order]
    places = {value: i for i, value in enumerate(known)}
    at = label.find(" … ")
    while at >= 0:
        low, high = label[:at], label[at + 3 :]
        if low in places and high in places:
            if rule.order is not None and scale in ("text", "rank"):
                return {"values": known[places[low] : places[high] + 1], "label": label}
            return {"low": low, "high": high, "label": label}
        at = label.find(" … ", at + 1)
    raise _not_of_the_rule("a group")
