"""Which classes cover a tuple, where classes may overlap: looked up, not scanned.

Classes are grouped by their cells in the columns whose cells are texts (their labels nest, so a
value has few), under one integer; in each group the columns with ranges are boxes, in a small tree
where they are many. Written like `runtime`, in the part of Python that MicroPython shares.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.keys import SPACE
from shoal.model.column import MEMO, Column, hide
from shoal.model.document_types import Cell, ColumnDocument, Key, Plan, Range

FEW = 8  # classes that are looked at one by one
NONE = 1 << 30  # stands for: no class


class CellColumn(Column):
    """A column whose cells may overlap: which of them cover a value."""

    def __init__(self, entry: ColumnDocument, plan: Plan) -> None:
        super().__init__(entry, plan)
        self.anything: list[int] = []
        self.missing: list[int] = []
        self.values: dict[str, list[int]] = {}
        self.nodes: dict[int, list[int]] = {}
        self.masked: dict[int, dict[str | None, list[int]]] = {}
        self.ranges: list[Range] = []
        for number, cell in enumerate(entry["cells"]):
            self._add(cell, number)
        is_plain = self.values or self.nodes or self.masked
        self.is_line = len(self.ranges) > 0 and not is_plain
        ends = sorted({end for r in self.ranges for end in (r[0], r[2]) if end is not None})
        self.ends: list[Key] = ends
        self.found: dict[object, list[int]] = {}

    def _add(self, cell: Cell, number: int) -> None:
        if "any" in cell:
            self.anything.append(number)
        elif "missing" in cell:
            self.missing.append(number)
        elif "node" in cell:
            self.nodes.setdefault(cell["node"], []).append(number)
        elif "value" in cell or "values" in cell:
            for value in cell.get("values") or [cell["value"]]:
                self.values.setdefault(value, []).append(number)
        elif "mask" in cell:
            known = self.masked.setdefault(cell["lost"], {})
            known.setdefault(cell["mask"], []).append(number)
        else:
            ends = [None if end is None else self.key(end) for end in (cell["low"], cell["high"])]
            is_open = cell.get("open", "")
            low_open, high_open = is_open in ("low", "both"), is_open in ("high", "both")
            self.ranges.append((ends[0], low_open, ends[1], high_open, number))

    def boxes(self, cells: int) -> list[tuple[int, int]]:
        """Return the first and the last segment that each cell of a line covers.

        Segment 0 is the missing value, 1 what has no place; each end is a segment of its own, as
        is what lies between two of them.
        """
        at = {}
        for place, edge in enumerate(self.ends):
            at[edge] = 2 * place + 3
        last = 2 * len(self.ends) + 2
        found = [(0, 0)] * cells
        for number in self.anything:
            found[number] = (0, last)
        for low, low_open, high, high_open, number in self.ranges:
            begin = 2 if low is None else at[low] + (1 if low_open else 0)
            end = last if high is None else at[high] - (1 if high_open else 0)
            found[number] = (begin, end)
        return found

    def segment(self, value: object) -> int:
        """Return the segment of a line that a value lies in."""
        found = self.memo.get(value)
        if found is not None:
            return found
        text = self.text(value)
        found = 0 if text is None else self._segment(text)
        if value is None or isinstance(value, str):
            if len(self.memo) >= MEMO:
                self.memo.clear()
            self.memo[value] = found
        return found

    def _segment(self, text: str) -> int:
        key = self.key(text)
        if key is None:
            return 1
        low, high = 0, len(self.ends)
        while low < high:
            middle = (low + high) // 2
            if self.ends[middle] < key:
                low = middle + 1
            else:
                high = middle
        return 2 * low + (3 if low < len(self.ends) and self.ends[low] == key else 2)

    def cells(self, value: object) -> list[int]:
        """Return the cells that cover a value."""
        known = self.found.get(value)
        if known is not None:
            return known
        text = self.text(value)
        found = self.anything + (self.missing if text is None else self._cells(text))
        if value is None or isinstance(value, str):
            if len(self.found) >= MEMO:
                self.found.clear()
            self.found[value] = found
        return found

    def _cells(self, text: str) -> list[int]:
        found: list[int] = []
        if self.nodes:
            node = self.node(text)
            while node >= 0:
                found += self.nodes.get(node, [])
                node = self.parents[node]
        if self.values:
            found += self.values.get(text, self.values.get(text.strip(SPACE), []))
        if self.mask:
            for lost in self.masked:
                found += self.masked[lost].get(hide(text, self.mask, lost), [])
        key = self.key(text) if self.ranges else None
        if key is not None:
            for low, low_open, high, high_open, number in self.ranges:
                above = low is None or low < key or (low == key and not low_open)
                below = high is None or key < high or (high == key and not high_open)
                if above and below:
                    found.append(number)
        return found


class CellIndex:
    """The first class that covers a tuple, of classes that stand in the order of preference."""

    def __init__(
        self, entries: Sequence[ColumnDocument], plans: Sequence[Plan], regions: list[list[int]]
    ) -> None:
        self.columns = [CellColumn(entry, plan) for entry, plan in zip(entries, plans)]
        self.regions = regions
        self.sizes = [len(entry["cells"]) for entry in entries]
        self.plain = [j for j, column in enumerate(self.columns) if not column.is_line]
        self.lines = [j for j, column in enumerate(self.columns) if column.is_line]
        self.boxes = [self.columns[j].boxes(self.sizes[j]) for j in self.lines]
        self.steps: list[dict[int, int]] = [{} for _ in self.plain]  # keys of the first columns
        self.groups: list[list[int]] = []
        self.trees: dict[int, list[list[int]]] = {}
        for number, region in enumerate(regions):
            self._add(number, region)

    def _add(self, number: int, region: list[int]) -> None:
        """Put a class into its group: a step says the least class below it, the last the group."""
        key = 0
        for step, j in zip(self.steps, self.plain):
            key = key * self.sizes[j] + region[j]
            if key not in step:
                step[key] = number
        if not self.plain:
            if not self.groups:
                self.groups.append([])
            self.groups[0].append(number)
            return
        last = self.steps[-1]
        if last[key] == number:  # the first one of its group
            last[key] = -1 - len(self.groups)
            self.groups.append([])
        self.groups[-1 - last[key]].append(number)

    def find(self, values: Sequence[object], closed: dict[int, int] | None = None) -> int:
        """Return the first class that covers a tuple, those that are closed left out; or -1."""
        covers = [self.columns[j].cells(values[j]) for j in self.plain]
        point = [self.columns[j].segment(values[j]) for j in self.lines]
        if not self.plain:
            best = self._in_group(0, point, NONE, closed) if self.groups else NONE
        else:
            best = self._below(0, 0, covers, point, NONE, closed)
        return -1 if best == NONE else best

    def _below(
        self, depth: int, key: int, covers: list[list[int]], point: list[int], best: int,
        closed: dict[int, int] | None,
    ) -> int:  # fmt: skip
        step = self.steps[depth]
        size = self.sizes[self.plain[depth]]
        is_last = depth + 1 == len(self.plain)
        for cell in covers[depth]:
            below = step.get(key * size + cell)
            if below is None:
                continue
            if is_last:
                best = self._in_group(-1 - below, point, best, closed)
            elif below < best:
                best = self._below(depth + 1, key * size + cell, covers, point, best, closed)
        return best

    def _in_group(
        self, group: int, point: list[int], best: int, closed: dict[int, int] | None
    ) -> int:
        """Return the first class of a group around a point, or what was the best before."""
        members = self.groups[group]
        if members[0] >= best:
            return best
        if len(members) <= FEW or not self.lines:
            for number in members:
                if number >= best:
                    break
                if self._holds(number, point) and (closed is None or number not in closed):
                    return number
            return best
        tree = self.trees.get(group)
        if tree is None:
            tree = self.trees[group] = self._tree(members)
        node = 0
        while node < len(tree):
            at = tree[node]  # least class, next node beside, box, classes of a leaf
            inside = at[0] < best
            place = 2
            for here in point:
                if here < at[place] or here > at[place + 1]:
                    inside = False
                    break
                place += 2
            if not inside:
                node = at[1]
                continue
            for number in at[2 + 2 * len(point) :]:
                if number >= best:
                    break
                if self._holds(number, point) and (closed is None or number not in closed):
                    best = number
                    break
            node += 1
        return best

    def _holds(self, number: int, point: list[int]) -> bool:
        region = self.regions[number]
        for place, j in enumerate(self.lines):
            low, high = self.boxes[place][region[j]]
            if point[place] < low or point[place] > high:
                return False
        return True

    def _tree(self, members: list[int]) -> list[list[int]]:
        """Return the boxes of a group as a tree; a node stands before all nodes below it."""
        tree: list[list[int]] = []
        self._grow(tree, members)
        return tree

    def _grow(self, tree: list[list[int]], members: list[int]) -> None:
        node = [min(members), 0]
        wide, widest = -1, 0
        for place, j in enumerate(self.lines):
            spans = [self.boxes[place][self.regions[number][j]] for number in members]
            middles = [span[0] + span[1] for span in spans]
            node.append(min([span[0] for span in spans]))
            node.append(max([span[1] for span in spans]))
            if max(middles) - min(middles) > widest:
                wide, widest = place, max(middles) - min(middles)
        tree.append(node)
        if len(members) <= FEW or wide < 0:
            node += sorted(members)
        else:
            j, spans = self.lines[wide], self.boxes[wide]
            order = sorted(members, key=lambda number: sum(spans[self.regions[number][j]]))
            half = len(order) // 2
            self._grow(tree, order[:half])
            self._grow(tree, order[half:])
        node[1] = len(tree)
