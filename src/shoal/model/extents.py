"""What a released label stands for, and the label of two of them together.

The collector of a fleet sees labels alone. Read with the model beside it, a label is a run of a
line, a node of a hierarchy or a masked text; what covers two of them is written as the model's own
labels are, and never finer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.core.grids import ClockGrid, DateGrid, Grid, NumberGrid, digits_of
from shoal.core.keys import number_key
from shoal.model.column import Column, label_of
from shoal.model.document_types import Cell, Key, Plan
from shoal.model.model import ModelColumn


@dataclass(frozen=True, slots=True)
class Extent:
    """What a label covers: everything, one text or node, or a line from low to high."""

    label: str | None
    low: str | None = None
    high: str | None = None

    @property
    def is_line(self) -> bool:
        """Say whether it is a run of a line."""
        return self.low is not None


class Extents:
    """Reads the labels of one column, and joins them."""

    def __init__(self, column: ModelColumn, plan: Plan, *, is_round: bool) -> None:
        self.column, self.plan = column, plan
        self.line = Column(column.to_document(), plan)
        self.root = column.root
        self.labels = plan["labels"]
        self.node = {label: node for node, label in enumerate(self.labels)}
        self.cells: dict[str | None, Cell] = {}
        for cell in column.cells:
            self.cells.setdefault(label_of(cell, self.labels), cell)
        self.grid = self._grid() if is_round else None
        self.known: dict[str | None, Extent] = {}
        self.width = self._width()

    def _grid(self) -> Grid | None:
        """Return the grid that the labels of the column are of."""
        texts = [str(label) for label in self.cells if label is not None]
        if self.column.scale == "date":
            return ClockGrid() if any(":" in t.partition("–")[0][:3] for t in texts) else DateGrid()
        if self.column.scale != "number":
            return None
        ends = [end for text in texts for end in text.split("–") if number_key(end) is not None]
        return NumberGrid(digits=max(map(digits_of, ends), default=0))

    def read(self, label: str | None) -> Extent:
        """Return what a label covers; the root where nobody could tell."""
        found = self.known.get(label)
        if found is None:
            found = self.known[label] = self._read(label)
        return found

    def _read(self, label: str | None) -> Extent:
        if label is None or label == self.root or self.column.scale == "text":
            return Extent(label)
        span = None if self.grid is None else self.grid.read(label)
        if span is not None:
            return Extent(label, span.low, span.high)
        if label[:1] == "[" and label[-1:] == "]" and ", " in label:
            low, _, high = label[1:-1].partition(", ")
            if self.line.key(low) is not None and self.line.key(high) is not None:
                return Extent(label, low, high)
        cell = self.cells.get(label)
        if cell is not None and cell.get("low") is not None and cell.get("high") is not None:
            return Extent(label, cell["low"], cell["high"])
        return (
            Extent(label, label, label) if self.line.key(label) is not None else Extent(self.root)
        )

    def join(self, one: Extent, other: Extent) -> Extent:
        """Return the least that covers both."""
        if one.label == other.label:
            return one
        if one.low is not None and other.low is not None:
            return self._joined_lines(one, other)
        if None in (one.label, other.label) or self.column.scale != "text":
            return Extent(self.root)
        if self.column.mask is not None:
            return Extent(self._joined_masks(str(one.label), str(other.label)))
        return Extent(self._joined_nodes(str(one.label), str(other.label)))

    def _joined_lines(self, one: Extent, other: Extent) -> Extent:
        low = min(str(one.low), str(other.low), key=self._key)
        high = max(str(one.high), str(other.high), key=self._key)
        if self.grid is None:
            return Extent(f"[{low}, {high}]", low, high)
        span = self.grid.span(low[:10] if isinstance(self.grid, DateGrid) else low,
                              high[:10] if isinstance(self.grid, DateGrid) else high)  # fmt: skip
        return Extent(span.label, span.low, span.high)

    def _key(self, text: str) -> Key:
        found = self.line.key(text)
        assert found is not None
        return found

    def _joined_nodes(self, one: str, other: str) -> str:
        if one not in self.node or other not in self.node:
            return self.root
        above = set()
        node = self.node[one]
        while node >= 0:
            above.add(node)
            node = self.plan["parents"][node]
        node = self.node[other]
        while node not in above:
            node = self.plan["parents"][node]
        return self.labels[node]

    def _joined_masks(self, one: str, other: str) -> str:
        mask = self.column.mask
        assert mask is not None
        if len(one) != len(other) or len(one) != mask["length"]:
            return self.root
        is_right = mask["direction"] == "right"
        pairs = list(zip(one, other, strict=True))[:: 1 if is_right else -1]
        same = 0
        while same < len(pairs) and pairs[same][0] == pairs[same][1]:
            same += 1
        kept = one[:same] if is_right else one[len(one) - same :]
        if not kept.strip(mask["char"]):
            return self.root
        hidden = mask["char"] * (len(one) - same)
        return kept + hidden if is_right else hidden + kept

    def _width(self) -> float:
        """Return how long the line is, from end to end of all labels."""
        runs = [self.read(label) for label in self.cells]
        ends = [self._at(end) for run in runs for end in (run.low, run.high) if end is not None]
        return max(ends) - min(ends) if ends else 0.0

    def _at(self, text: str) -> float:
        if self.column.scale == "number":
            return float(text)
        if self.column.scale == "rank":
            return float(str(self._key(text)[0]))
        key = str(self._key(text)[0])
        if key[2] == ":":
            return int(key[:2]) + int(key[3:5]) / 60
        return int(key[:4]) * 372 + int(key[5:7]) * 31 + int(key[8:10])

    def cost(self, extent: Extent) -> float:
        """Return the share of the column's information that a label loses."""
        label = extent.label
        if label == self.root:
            return 1.0
        if extent.low is not None and extent.high is not None:
            long = self._at(extent.high) - self._at(extent.low)
            return min(long / self.width, 1.0) if self.width else 0.0
        if label is None or self.column.scale != "text":
            return 0.0
        mask = self.column.mask
        if mask is not None:
            return label.count(mask["char"]) / mask["length"]
        return self._heights().get(label, 0.0)

    def _heights(self) -> Mapping[str, float]:
        if not hasattr(self, "_high"):
            heights = [0] * len(self.labels)
            for node, above in enumerate(self.plan["parents"]):
                if above >= 0:
                    heights[above] = max(heights[above], heights[node] + 1)
            most = max([*heights, 1])
            self._high = {
                label: high / most for label, high in zip(self.labels, heights, strict=True)
            }
        return self._high


Box = tuple[Extent, ...]


def joined(columns: Sequence[Extents], one: Box, other: Box) -> Box:
    """Return the least box around two."""
    return tuple(column.join(a, b) for column, a, b in zip(columns, one, other, strict=True))
