"""The tree of cuts of a model whose regions divide the domain: one walk finds a record's class.

A node is a cut: the values of one column below it go to the left. Nodes stand before all nodes
below them, the left side first; a node says how many classes its left side has, so that neither
places of children nor regions need to be written down. Classes are numbered from left to right.

Written like `runtime`, in the part of Python that CPython from 3.8 on and MicroPython share.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.model.column import Column
from shoal.model.document_types import Cell, ColumnDocument, Plan, TreeOfCuts

DIGITS_36 = "0123456789abcdefghijklmnopqrstuvwxyz"


class CutTree:
    """Finds the class of a tuple among regions that do not overlap.

    tree: `cut` has, for each node, the number of its cut in its column, times the number of
    columns, plus the column; `left` the classes of its left side.
    """

    def __init__(
        self, entries: Sequence[ColumnDocument], plans: Sequence[Plan], tree: TreeOfCuts
    ) -> None:
        self.columns = [Column(entry, plan) for entry, plan in zip(entries, plans)]
        self.width = len(self.columns)
        self.cut = tree["cut"]
        self.left = tree["left"]
        self.classes = len(self.cut) + 1
        self.ends = [len(entry.get("cuts", [])) + 1 for entry in entries]
        # The cell of each pair of cuts and variant, as one integer; -1 is open to the left.
        self.cells: list[dict[int, int]] = []
        for entry in entries:
            self.cells.append({_place_of(cell): i for i, cell in enumerate(entry["cells"])})
        self.variants = [entry.get("variant") for entry in entries]
        self.entries = [entry["cells"] for entry in entries]
        self.checked = [  # columns where a cell may not cover what its cuts let through
            j
            for j, entry in enumerate(entries)
            if entry["scale"] == "text" and not all("any" in cell for cell in entry["cells"])
        ]

    def find(self, values: Sequence[object]) -> int:
        """Return the class of a tuple; -1 if there is none."""
        places = []
        for column, value in zip(self.columns, values):
            found = column.memo.get(value)
            places.append(column.place(value) if found is None else found)
        width, cuts, lefts = self.width, self.cut, self.left
        node = first = 0
        many = len(cuts) + 1
        low = [-1] * width
        high = self.ends[:]
        while many > 1:
            cut = cuts[node]
            j = cut % width
            cut //= width
            place = places[j]
            left = lefts[node]
            if place > cut:
                low[j] = cut
                first += left
                node += left
                many -= left
            elif place < 0:
                return -1
            else:
                high[j] = cut
                node += 1
                many = left
        for j in self.checked:
            cell = self.entries[j][self._cell(j, first, low[j], high[j])]
            if not self.columns[j].covers(cell, values[j]):
                return -1
        return first

    def region(self, number: int) -> list[int]:
        """Return the cells of a class."""
        low = [-1] * self.width
        high = self.ends[:]
        node = first = 0
        many = len(self.cut) + 1
        while many > 1:
            j, cut = self.cut[node] % self.width, self.cut[node] // self.width
            left = self.left[node]
            if number < first + left:
                high[j] = cut
                node += 1
                many = left
            else:
                low[j] = cut
                first += left
                node += left
                many -= left
        return [self._cell(j, number, low[j], high[j]) for j in range(self.width)]

    def _cell(self, j: int, number: int, low: int, high: int) -> int:
        """Return the cell of a class in a column."""
        variant = self.variants[j]
        which = 0 if variant is None else DIGITS_36.find(variant[number])
        return self.cells[j][((low + 1) * 1000003 + high) * 36 + which]


def _place_of(cell: Cell) -> int:
    """Return the cuts and the variant of a cell as one integer."""
    low, high = cell["cut"]
    return ((low + 1) * 1000003 + high) * 36 + cell.get("variant", 0)


def regions_of(columns: Sequence[ColumnDocument], tree: TreeOfCuts) -> list[list[int]] | None:
    """Return the cells of all classes of a tree, class by class; None if it is no such tree."""
    width, cuts, lefts = len(columns), tree["cut"], tree["left"]
    ends = [len(column.get("cuts", [])) + 1 for column in columns]
    cells = [{_place_of(cell): i for i, cell in enumerate(column["cells"])} for column in columns]
    variants = [column.get("variant", "") for column in columns]
    open_at = [end * 36 for end in ends]  # the place of each column's cell, as `_place_of` has it
    varied = [j for j in range(width) if variants[j]]
    regions: list[list[int]] = []
    waiting = [(0, len(cuts) + 1, open_at)]
    while waiting:
        node, many, at = waiting.pop()
        if many == 1:
            if varied:
                at = at.copy()
                for j in varied:
                    at[j] += DIGITS_36.find(variants[j][len(regions)])
            region = [known.get(place, -1) for known, place in zip(cells, at)]
            if -1 in region:
                return None
            regions.append(region)
            continue
        j, cut, left = cuts[node] % width, cuts[node] // width, lefts[node]
        low, high = divmod(at[j] // 36, 1000003)
        if not 0 < left < many or not low - 1 < cut < high:
            return None
        right = at.copy()
        right[j] += (cut + 1 - low) * 1000003 * 36
        waiting.append((node + left, many - left, right))
        below = at.copy()
        below[j] += (cut - high) * 36
        waiting.append((node + 1, left, below))
    return regions
