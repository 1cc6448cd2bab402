"""One column of a model where encoders run: which classes cover a value, and what is released.

Written like `runtime`, in the part of Python that CPython from 3.8 on and MicroPython share.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.keys import SPACE, date_key, number_key
from shoal.model.document_types import Cell, ColumnDocument, Key, MaskRule, Plan, Range

MEMO = 50000  # texts that a column remembers before it forgets all of them


class Rejected(ValueError):
    """A record that cannot be encoded; the text says why, and never holds a value."""


def text_of(value: object) -> str | None:
    """Return a value of a record as text; None for a missing one."""
    if value is None or isinstance(value, str):
        return value
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value != value:  # not a number: a missing one
            return None
        if -1e15 < value < 1e15 and value == int(value):
            return str(int(value))
        return repr(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise Rejected("a quasi-identifier holds a list or an object")


class Column:
    """One column of one block of classes: which of them cover a value.

    `entry` is the column as the model file has it, `bits` the set of classes of each cell.
    """

    def __init__(self, entry: ColumnDocument, plan: Plan, bits: list[int]) -> None:
        self.scale = entry["scale"]
        self.form = plan["form"]
        self.absent = plan["absent"]
        self.index = plan["index"]
        self.parents = plan["parents"]
        self.mask = entry.get("mask")
        self.anything = 0
        self.missing = 0
        self.values: dict[str, int] = {}
        self.nodes: dict[int, int] = {}
        self.masked: dict[int, dict[str | None, int]] = {}
        self.ranges: list[Range] = []
        for cell, members in zip(entry["cells"], bits):
            if members:
                self._add(cell, members)
        self.missing |= self.anything
        ends = {r[0] for r in self.ranges} | {r[2] for r in self.ranges}
        self.ends = sorted(end for end in ends if end is not None)
        self.segments: dict[int, int] = {}
        self.memo: dict[object, int] = {}

    def _add(self, cell: Cell, members: int) -> None:
        if "any" in cell:
            self.anything |= members
        elif "missing" in cell:
            self.missing |= members
        elif "node" in cell:
            self.nodes[cell["node"]] = self.nodes.get(cell["node"], 0) | members
        elif "value" in cell or "values" in cell:
            for value in cell.get("values") or [cell["value"]]:
                self.values[value] = self.values.get(value, 0) | members
        elif "mask" in cell:
            known = self.masked.setdefault(cell["lost"], {})
            known[cell["mask"]] = known.get(cell["mask"], 0) | members
        else:
            ends = [None if end is None else self.key(end) for end in (cell["low"], cell["high"])]
            is_open = cell.get("open", "")
            low_open, high_open = is_open in ("low", "both"), is_open in ("high", "both")
            self.ranges.append((ends[0], low_open, ends[1], high_open, members))

    def key(self, text: str) -> Key | None:
        """Return what a text is compared by; None if it has no place on this scale."""
        if self.scale == "number":
            return number_key(text)
        found: str | int | None = text
        if self.scale == "date":
            found = date_key(text, self.form)
        elif self.scale == "rank":
            found = self.index.get(text, self.index.get(text.strip(SPACE)))
        return None if found is None else (found,)

    def text(self, value: object) -> str | None:
        """Return a value as text; None for a missing one, marks of missing values included."""
        text = text_of(value)
        if text is None or text in self.absent or text.strip(SPACE) in self.absent:
            return None
        return text

    def cover(self, value: object) -> int:
        """Return the classes that cover a value."""
        found = self.memo.get(value)
        if found is not None:
            return found
        text = self.text(value)
        found = self.missing if text is None else self._cover_text(text)
        if value is None or isinstance(value, str):  # 1, 1.0 and True would share a place
            if len(self.memo) >= MEMO:
                self.memo.clear()
            self.memo[value] = found
        return found

    def _cover_text(self, text: str) -> int:
        found = self.anything
        if self.nodes:
            node = self.node(text)
            while node >= 0:
                found |= self.nodes.get(node, 0)
                node = self.parents[node]
        if self.values:
            found |= self.values.get(text, self.values.get(text.strip(SPACE), 0))
        if self.mask:
            for lost in self.masked:
                found |= self.masked[lost].get(hide(text, self.mask, lost), 0)
        if self.ranges:
            key = self.key(text)
            if key is not None:
                found |= self._segment(key)
        return found

    def node(self, text: str) -> int:
        """Return the node of a text in the column's hierarchy; -1 if there is none."""
        found = self.index.get(text, self.index.get(text.strip(SPACE), -1))
        if found < 0 and self.scale == "number":
            key = number_key(text)
            found = -1 if key is None else self.index.get(key, -1)
        return found

    def _segment(self, key: Key) -> int:
        """Return the ranges around a key: between two neighbouring ends they are the same."""
        low, high = 0, len(self.ends)
        while low < high:
            middle = (low + high) // 2
            if self.ends[middle] < key:
                low = middle + 1
            else:
                high = middle
        place = 2 * low
        if low < len(self.ends) and self.ends[low] == key:
            place += 1
        found = self.segments.get(place)
        if found is None:
            found = 0
            for first, first_open, last, last_open, members in self.ranges:
                above = first is None or first < key or (first == key and not first_open)
                below = last is None or key < last or (last == key and not last_open)
                if above and below:
                    found |= members
            self.segments[place] = found
        return found


def hide(text: str, mask: MaskRule, lost: int) -> str | None:
    """Return a text with `lost` characters masked; None if it is too long to be masked."""
    length = mask["length"]
    if len(text) > length:
        return None
    fill = mask["fill"] * (length - len(text))
    full = text + fill if mask["pad"] == "right" else fill + text
    hidden = mask["char"] * lost
    if mask["direction"] == "right":
        return full[: length - lost] + hidden
    return hidden + full[lost:]


def label_of(cell: Cell, labels: Sequence[str]) -> str | None:
    """Return what a cell releases; `labels` are those of the column's hierarchy."""
    if "missing" in cell:
        return cell.get("label")
    if "label" in cell:
        return cell["label"]
    for key in ("any", "value", "mask"):
        if key in cell:
            return cell[key]
    if "node" in cell:
        return labels[cell["node"]]
    if cell["low"] == cell["high"]:
        return cell["low"]
    return "[" + str(cell["low"]) + ", " + str(cell["high"]) + "]"
