"""One column of a model where encoders run: where a value stands, and which cells cover it.

Written like `runtime`, in the part of Python that CPython from 3.8 on and MicroPython share.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.keys import SPACE, date_key, number_key
from shoal.model.document_types import Cell, ColumnDocument, Key, MaskRule, Plan

MEMO = 4096  # texts that a column remembers before it forgets all of them


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
    """One column of a model: what a text is compared by, and where a value stands among the cuts.

    The place of a value is 0 where it is missing, 1 below the first cut, 2 from there to below the
    second one, and so on; -1 where it has none. `entry` is the column as the model file has it.
    """

    def __init__(self, entry: ColumnDocument, plan: Plan) -> None:
        self.scale = entry["scale"]
        self.form = plan["form"]
        self.absent = plan["absent"]
        self.index = plan["index"]
        self.parents = plan["parents"]
        self.mask = entry.get("mask")
        self.is_tree = self.scale == "text" and len(plan["labels"]) > 0
        keys = [self.cut_key(cut) for cut in entry.get("cuts", [])]
        self.cuts: list[Key] = [key for key in keys if key is not None]
        bounds = [entry.get("first"), entry.get("last")]
        self.bounds = [None if end is None else self.cut_key(end) for end in bounds]
        self.missing_place = 0 if entry.get("missing") else -1
        self.memo: dict[object, int] = {}

    def cut_key(self, cut: str | int) -> Key | None:
        """Return what a cut of a model document is compared by."""
        if isinstance(cut, int):
            return (cut,)
        return (cut,) if self.scale == "text" else self.key(cut)

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

    def line_key(self, text: str) -> Key | None:
        """Return what a text is compared with cuts by; None if it has no place."""
        if self.scale != "text":
            return self.key(text)
        if self.is_tree:
            node = self.node(text)
            return None if node < 0 else (node,)
        if self.mask:
            full = hide(text, self.mask, 0)
            if full is None:
                return None
            if self.mask["direction"] == "left":
                full = "".join([full[len(full) - 1 - i] for i in range(len(full))])
            return (full,)
        return (text.strip(SPACE),)

    def text(self, value: object) -> str | None:
        """Return a value as text; None for a missing one, marks of missing values included."""
        text = text_of(value)
        if text is None or text in self.absent or text.strip(SPACE) in self.absent:
            return None
        return text

    def place(self, value: object) -> int:
        """Return the place of a value among the cuts; -1 if it has none."""
        found = self.memo.get(value)
        if found is not None:
            return found
        text = self.text(value)
        found = self.missing_place if text is None else self._place(text)
        if value is None or isinstance(value, str):  # 1, 1.0 and True would share a place
            if len(self.memo) >= MEMO:
                self.memo.clear()
            self.memo[value] = found
        return found

    def _place(self, text: str) -> int:
        key = self.line_key(text)
        first, last = self.bounds
        if key is None or (first is not None and key < first) or (last is not None and last < key):
            return -1
        low, high = 0, len(self.cuts)
        while low < high:
            middle = (low + high) // 2
            if key < self.cuts[middle]:
                high = middle
            else:
                low = middle + 1
        return low + 1

    def covers(self, cell: Cell, value: object) -> bool:
        """Say whether what a cell releases covers a value that its cuts let through."""
        if "missing" in cell:
            return self.text(value) is None
        if "node" in cell:
            text = self.text(value)
            node = -1 if text is None else self.node(text)
            while node >= 0 and node != cell["node"]:
                node = self.parents[node]
            return node >= 0
        if "value" in cell:
            text = self.text(value)
            return text is not None and (
                cell["value"] == text or cell["value"] == text.strip(SPACE)
            )
        if "mask" in cell and self.mask:
            text = self.text(value)
            return text is not None and hide(text, self.mask, cell["lost"]) == cell["mask"]
        return True

    def node(self, text: str) -> int:
        """Return the node of a text in the column's hierarchy; -1 if there is none."""
        found = self.index.get(text, self.index.get(text.strip(SPACE), -1))
        if found < 0 and self.scale == "number":
            key = number_key(text)
            found = -1 if key is None else self.index.get(key, -1)
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
