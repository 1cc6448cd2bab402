"""The encoder of machines that look at whole tables: sets of classes, one bit a class.

Where millions of values are met, the set of classes that cover a value is worked out once, and the
first class of a tuple is the lowest bit that the sets of its columns share. Devices look classes
up instead (`runtime`), and find the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.keys import SPACE
from shoal.model.cell_index import CellIndex
from shoal.model.column import Column, hide
from shoal.model.cut_tree import CutTree
from shoal.model.document import explicit_regions
from shoal.model.document_types import Cell, ColumnDocument, Key, ModelDocument, Plan, Range
from shoal.model.runtime import Encoder

SETS_MEMO = 50000  # texts that a column remembers before it forgets all of them
BLOCKS = (131072, 32768, 8192)  # classes that one set holds, where memory allows
BLOCK = 2048  # … and otherwise
ROOM = 64000000  # bytes that the sets of all cells may take


def block_size(classes: int, cells: int) -> int:
    """Return how many classes one set holds: all of them, if the sets of all cells fit."""
    for size in BLOCKS:
        if cells * min(size, classes) // 8 <= ROOM:
            return size
    return BLOCK


def lowest(members: int) -> int:
    """Return the place of the lowest bit."""
    return (members & -members).bit_length() - 1


class SetColumn(Column):
    """One column of one block of classes: which of them cover a value.

    `entry` is the column as the model file has it, `bits` the set of classes of each cell.
    """

    def __init__(self, entry: ColumnDocument, plan: Plan, bits: list[int]) -> None:
        super().__init__(entry, plan)
        self.anything = 0
        self.missing = 0
        self.values: dict[str, int] = {}
        self.nodes: dict[int, int] = {}
        self.masked: dict[int, dict[str | None, int]] = {}
        self.ranges: list[Range] = []
        for cell, members in zip(entry["cells"], bits, strict=True):
            if members and "cut" not in cell:
                self._add(cell, members)
        self.missing |= self.anything
        ends = {r[0] for r in self.ranges} | {r[2] for r in self.ranges}
        self.ends = sorted(end for end in ends if end is not None)
        self.segments: dict[int, int] = {}
        self.sets: dict[object, int] = {}
        self.after: list[int] = []  # for each place among the cuts, the classes around it
        self.guard: SetColumn | None = None  # which of these release a label that covers a value
        if "cuts" in entry:
            self._add_cuts(entry, plan, bits)

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

    def _add_cuts(self, entry: ColumnDocument, plan: Plan, bits: list[int]) -> None:
        """Take in cells that are bounded by cuts; one that none bounds is there for every value."""
        end = len(self.cuts) + 1
        turned = [0] * (end + 2)
        whole = 0
        for cell, members in zip(entry["cells"], bits, strict=True):
            low, high = cell["cut"]
            if low < 0 and high == end:
                whole |= members
            else:
                turned[low + 1] ^= members
                turned[high + 1] ^= members
        inside = 0
        for change in turned[: end + 1]:
            inside ^= change
            self.after.append(inside | whole)
        self.whole = whole
        labels: ColumnDocument = {**entry, "cells": [_label_part(c) for c in entry["cells"]]}
        del labels["cuts"]
        self.guard = SetColumn(labels, plan, bits)

    def cover(self, value: object) -> int:
        """Return the classes that cover a value."""
        found = self.sets.get(value)
        if found is not None:
            return found
        text = self.text(value)
        if self.guard is not None:
            place = self.place(value)
            found = (self.after[place] if place >= 0 else self.whole) & self.guard.cover(value)
        else:
            found = self.missing if text is None else self._cover_text(text)
        if value is None or isinstance(value, str):  # 1, 1.0 and True would share a place
            if len(self.sets) >= SETS_MEMO:
                self.sets.clear()
            self.sets[value] = found
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


def _label_part(cell: Cell) -> Cell:
    """Return which values the label of a cell covers, as a cell that no cut bounds."""
    for kind in ("node", "value"):
        if kind in cell:
            return {kind: cell[kind]}  # type: ignore[misc]
    if "mask" in cell:
        return {"mask": cell["mask"], "lost": cell["lost"]}
    return {"missing": True} if "missing" in cell else {"any": ""}


class SetEncoder(Encoder):
    """Encodes as `Encoder` does.

    Attributes:
        regions: the cells of each class.
        blocks: columns for so many classes as one set holds, and then for the next ones.
    """

    regions: Sequence[Sequence[int]]
    blocks: list[list[SetColumn]]

    def __init__(
        self,
        model: ModelDocument,
        on_unseen: str | None = None,
        suppressed: str = "star",
        *,
        regions: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Make ready; regions: the cells of each class, where they are known already."""
        self._known_regions = regions
        super().__init__(model, on_unseen, suppressed)

    def _index(self, model: ModelDocument) -> CutTree | CellIndex:
        entries = model["columns"]
        known = self._known_regions
        self.regions = explicit_regions(model) if known is None else known
        self.blocks = []
        self.block = block_size(len(self.regions), sum(len(cells) for cells in self.cells))
        for begin in range(0, max(len(self.regions), 1), self.block):
            self.blocks.append(self._block(entries, self.regions[begin : begin + self.block]))
        self.first = self.blocks[0] if self.blocks else []
        return (
            CellIndex(entries, self.plans, [])
            if "tree" not in model
            else CutTree(entries, self.plans, model["tree"])
        )

    @property
    def classes(self) -> int:
        """Return how many classes the model has."""
        return len(self.regions)

    def region(self, number: int) -> list[int]:
        """Return the cells of a class."""
        return list(self.regions[number])

    def _block(
        self, entries: Sequence[ColumnDocument], regions: Sequence[Sequence[int]]
    ) -> list[SetColumn]:
        bits = [[0] * len(entry["cells"]) for entry in entries]
        for place, region in enumerate(regions):
            for column, cell in enumerate(region):
                bits[column][cell] |= 1 << place
        return [
            SetColumn(entry, plan, members)
            for entry, plan, members in zip(entries, self.plans, bits, strict=True)
        ]

    def find(self, values: Sequence[object], among: list[int] | None = None) -> int:
        """Return the class of a tuple of quasi-identifiers; -1 if none covers it.

        among: for each block, the set of classes that may be taken; None: all.
        """
        base = 0
        for block in self.blocks:
            members = -1 if among is None else among[base // self.block]
            for column, value in zip(block, values, strict=True):
                members &= column.cover(value)
                if not members:
                    break
            if members > 0:
                return base + lowest(members)
            base += self.block
        return -1

    def nearest(self, values: Sequence[object]) -> tuple[int, list[int]]:
        """Return the class that covers a tuple in most columns, and the columns it does not."""
        best = -1
        least = len(self.names) + 1
        base = 0
        for block in self.blocks:
            covers = [column.cover(value) for column, value in zip(block, values, strict=True)]
            exact = [(1 << min(self.block, len(self.regions) - base)) - 1]  # by columns missed
            for found in covers:
                exact.append(0)
                for missed in range(len(exact) - 1, 0, -1):
                    here, before = exact[missed], exact[missed - 1]
                    exact[missed] = (here & found) | (before ^ (before & found))
                exact[0] &= found
            for missed, members in enumerate(exact):
                if members and missed < least:
                    best, least = base + lowest(members), missed
                    break
            base += self.block
        if best < 0:
            return -1, list(range(len(self.names)))
        place = best % self.block
        block = self.blocks[best // self.block]
        wrong = [j for j, value in enumerate(values) if not (block[j].cover(value) >> place) & 1]
        return best, wrong
