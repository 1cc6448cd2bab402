"""The encoder that runs everywhere: from a model document and a record to a released record.

Written in the part of Python that CPython from 3.8 on and MicroPython share. `shoal edge export`
copies this file, `column`, `lines` and `core.keys` without their imports, and the
JavaScript export follows them line by line. Sets of classes are integers, one bit a class in the
order of preference; a record's class is the lowest bit that all its columns have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shoal.core.keys import number_key
from shoal.model.column import Column, Rejected, label_of, text_of
from shoal.model.document_types import (
    AttributeDocument,
    Cell,
    ColumnDocument,
    Key,
    Labels,
    ModelDocument,
    Plan,
    Record,
    Released,
)

BLOCKS = (131072, 32768, 8192)  # classes that one set holds, where memory allows
BLOCK = 2048  # … and otherwise
ROOM = 64000000  # bytes that the sets of all cells may take
HAS_LENGTH = hasattr(1, "bit_length")  # MicroPython's integers cannot say how long they are


def block_size(classes: int, cells: int) -> int:
    """Return how many classes one set holds: all of them, if the sets of all cells fit."""
    for size in BLOCKS:
        if cells * min(size, classes) // 8 <= ROOM:
            return size
    return BLOCK


def lowest(members: int) -> int:
    """Return the place of the lowest bit."""
    if HAS_LENGTH:
        return (members & -members).bit_length() - 1
    place = 0
    while not members & 0xFFFFFFFF:
        members >>= 32
        place += 32
    while not members & 1:
        members >>= 1
        place += 1
    return place


def _plan(entry: ColumnDocument, about: AttributeDocument, marks: list[str]) -> Plan:
    """Collect what all blocks share of a column: its hierarchy, order and missing marks."""
    tree = about.get("hierarchy") or {}
    labels = tree.get("labels", [])
    parents = list(tree.get("parents", []))
    index: dict[str | Key, int] = {}
    for node, label in enumerate(labels):
        index[label] = node
        key = number_key(label) if entry["scale"] == "number" else None
        if key is not None and key not in index:
            index[key] = node
    if entry["scale"] == "rank" and about.get("order"):
        index = {value: place for place, value in enumerate(about["order"])}
    absent = {"": 1}
    for mark in marks:
        absent[mark] = 1
    form = about.get("date_format")
    return {"absent": absent, "index": index, "parents": parents, "labels": labels, "form": form}


class Encoder:
    """Encodes records one by one; it remembers nothing of them but the texts it has met.

    Args:
        model: the model document.
        on_unseen: "suppress", "nearest" or "error"; None: what the model declares.
        suppressed: "star" releases a suppressed record with every quasi-identifier as the
            root, "remove" does not release it.
    """

    def __init__(
        self, model: ModelDocument, on_unseen: str | None = None, suppressed: str = "star"
    ) -> None:
        self.on_unseen = on_unseen or model["on_unseen"]
        if self.on_unseen not in ("suppress", "nearest", "error"):
            raise ValueError("on_unseen must be suppress, nearest or error")
        if suppressed not in ("star", "remove"):
            raise ValueError("suppressed must be star or remove")
        self.suppressed = suppressed
        entries = model["columns"]
        schema = model["schema"]
        self.names = [entry["name"] for entry in entries]
        self.roots: Labels = [entry["root"] for entry in entries]
        self.cells = [entry["cells"] for entry in entries]
        self.regions = model["regions"]
        self.others = schema["others"]
        self.plans = [
            _plan(entry, schema["columns"][entry["name"]], schema.get("missing", []))
            for entry in entries
        ]
        self.blocks = []
        self.block = block_size(len(self.regions), sum(len(cells) for cells in self.cells))
        for begin in range(0, max(len(self.regions), 1), self.block):
            self.blocks.append(self._block(entries, self.regions[begin : begin + self.block]))
        self.first = self.blocks[0]
        self.labels = [
            [label_of(cell, plan["labels"]) for cell in cells]
            for cells, plan in zip(self.cells, self.plans)
        ]
        self.released = model["released"]
        self.kept = [name for name in self.released if name not in self.names]
        self.removed = model["removed"]
        self.known = dict.fromkeys(self.released + self.removed, 1)
        self.templates: dict[int, Released] = {}

    def _block(self, entries: list[ColumnDocument], regions: list[list[int]]) -> list[Column]:
        bits = [[0] * len(entry["cells"]) for entry in entries]
        for place, region in enumerate(regions):
            for column, cell in enumerate(region):
                bits[column][cell] |= 1 << place
        return [
            Column(entry, plan, members) for entry, plan, members in zip(entries, self.plans, bits)
        ]

    def find(self, values: Sequence[object], among: list[int] | None = None) -> int:
        """Return the class of a tuple of quasi-identifiers; -1 if none covers it.

        among: for each block, the set of classes that may be taken; None: all.
        """
        base = 0
        for block in self.blocks:
            members = -1 if among is None else among[base // self.block]
            for column, value in zip(block, values):
                found = column.memo.get(value)
                if found is None:
                    found = column.cover(value)
                members &= found
                if not members:
                    break
            if members > 0:
                return base + lowest(members)
            base += self.block
        return -1

    def nearest(self, values: Sequence[object]) -> tuple[int, list[int]]:
        """Return the class that covers a tuple in most columns, and the columns it does not.

        Of equals, the first: classes stand in the order of preference.
        """
        best = -1
        least = len(self.names) + 1
        base = 0
        for block in self.blocks:
            covers = [column.cover(value) for column, value in zip(block, values)]
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

    def widen(self, column: int, cell: Cell, value: object) -> str | None:
        """Return a label that covers both a cell and a value outside it."""
        plan = self.plans[column]
        text = self.first[column].text(value)
        node = -1 if text is None or "node" not in cell else self.first[column].node(text)
        above = {}
        while node >= 0:
            above[node] = 1
            node = plan["parents"][node]
        if above:
            node = cell["node"]
            while node not in above:
                node = plan["parents"][node]
            return plan["labels"][node]
        return self.roots[column]

    def labels_of(self, region: int) -> Labels:
        """Return what a class releases."""
        return [names[cell] for names, cell in zip(self.labels, self.regions[region])]

    def tuple_of(self, values: Sequence[object]) -> tuple[Labels | None, int]:
        """Return (labels, class) of a tuple: the class is -1 where no class covers it.

        The labels of such a tuple follow `on_unseen`; they are None where it is suppressed.
        """
        region = self.find(values)
        if region >= 0:
            return self.labels_of(region), region
        if self.on_unseen == "error":
            raise Rejected("no class of the model covers it")
        if self.on_unseen == "suppress":
            return None, -1
        region, wrong = self.nearest(values)
        if len(wrong) == len(self.names):
            return None, -1
        labels = self.labels_of(region)
        for column in wrong:
            cell = self.cells[column][self.regions[region][column]]
            labels[column] = self.widen(column, cell, values[column])
        return labels, -1

    def values(self, record: Record) -> list[object]:
        """Return the quasi-identifiers of a record."""
        try:
            return [record[name] for name in self.names]
        except KeyError:
            raise Rejected("a quasi-identifier is not there") from None

    def encode(self, record: Record) -> Released | None:
        """Return the released record, in the model's order; None if it is removed.

        Raises:
            Rejected: a quasi-identifier is not there or no plain value, or a column has no role.
        """
        try:
            region = self.find([record[name] for name in self.names])
        except (KeyError, TypeError):
            values = self.values(record)
            for value in values:
                text_of(value)
            raise
        if region < 0:
            return self.release(record, self.tuple_of(self.values(record))[0])
        template = self.templates.get(region)
        if template is None:
            template = self.templates[region] = self._template(self.labels_of(region))
        return self._fill(record, dict(template))

    def release(self, record: Record, labels: Sequence[str | None] | None) -> Released | None:
        """Return a record with its quasi-identifiers replaced; None stands for suppressed."""
        released = self.with_labels(record, self.roots if labels is None else labels)
        return None if labels is None and self.suppressed == "remove" else released

    def with_labels(self, record: Record, labels: Sequence[str | None]) -> Released:
        """Return a record with its quasi-identifiers replaced."""
        return self._fill(record, self._template(labels))

    def _template(self, labels: Sequence[str | None]) -> Released:
        new = dict(zip(self.names, labels))
        return {name: new.get(name) for name in self.released}

    def _fill(self, record: Record, out: Released) -> Released:
        seen = len(self.names)
        for name in self.kept:
            if name in record:
                out[name] = record[name]
                seen += 1
            else:
                del out[name]
        if len(record) != seen:
            for name in self.kept_others(record):
                out[name] = record[name]
        return out

    def kept_others(self, names: Iterable[str]) -> list[str]:
        """Return the names without a role that are released all the same.

        Raises:
            Rejected: the model refuses columns without a role, and there are some.
        """
        others = [name for name in names if name not in self.known]
        if others and self.others == "fault":
            raise Rejected(str(len(others)) + " columns have no role")
        return sorted(others) if self.others == "keep" else []
