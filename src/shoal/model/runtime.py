"""The encoder that runs everywhere: from a model document and a record to a released record.

Written in the part of Python that CPython from 3.8 on and MicroPython share. `shoal edge export`
copies this file, `column`, `cut_tree`, `cell_index`, `lines` and `core.keys` without their imports,
and the JavaScript export follows them line by line. A record's class is looked up: by a walk down
the model's tree of cuts, or, where classes may overlap, by an index of their cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shoal.core.keys import number_key
from shoal.model.cell_index import CellIndex
from shoal.model.column import Rejected, label_of, text_of
from shoal.model.cut_tree import CutTree
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

MOST_TEMPLATES = 1024  # classes whose labels are remembered, before all of them are forgotten


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
        self.others = schema["others"]
        self.plans = [
            _plan(entry, schema["columns"][entry["name"]], schema.get("missing", []))
            for entry in entries
        ]
        self.index: CutTree | CellIndex = self._index(model)
        self.labels = [
            [label_of(cell, plan["labels"]) for cell in cells]
            for cells, plan in zip(self.cells, self.plans)
        ]
        self.released = model["released"]
        self.kept = [name for name in self.released if name not in self.names]
        self.removed = model["removed"]
        self.known = dict.fromkeys(self.released + self.removed, 1)
        self.templates: dict[int, Released] = {}

    def _index(self, model: ModelDocument) -> CutTree | CellIndex:
        tree = model.get("tree")
        if tree is not None:
            return CutTree(model["columns"], self.plans, tree)
        return CellIndex(model["columns"], self.plans, model["regions"])

    @property
    def classes(self) -> int:
        """Return how many classes the model has."""
        index = self.index
        return index.classes if isinstance(index, CutTree) else len(index.regions)

    def find(self, values: Sequence[object]) -> int:
        """Return the class of a tuple of quasi-identifiers; -1 if none covers it."""
        return self.index.find(values)

    def region(self, number: int) -> list[int]:
        """Return the cells of a class."""
        index = self.index
        return index.region(number) if isinstance(index, CutTree) else index.regions[number]

    def nearest(self, values: Sequence[object]) -> tuple[int, list[int]]:
        """Return the class that covers a tuple in most columns, and the columns it does not.

        Of equals, the first: classes stand in the order of preference.
        """
        covers = [self.covering(j, value) for j, value in enumerate(values)]
        best: list[int] = list(range(len(values)))
        found = -1
        for number in range(self.classes):
            region = self.region(number)
            wrong = [j for j, cells in enumerate(covers) if region[j] not in cells]
            if found < 0 or len(wrong) < len(best):
                best, found = wrong, number
        return found, best

    def covering(self, j: int, value: object) -> dict[int, int]:
        """Return the cells of a column that cover a value, as the keys of a dictionary."""
        if isinstance(self.index, CellIndex):
            return dict.fromkeys(self.index.columns[j].cells(value), 1)
        column = self.index.columns[j]
        place = column.place(value)
        found = {}
        for number, cell in enumerate(self.cells[j]):
            low, high = cell["cut"]
            is_whole = low < 0 and high == self.index.ends[j]
            if (is_whole or low < place <= high) and column.covers(cell, value):
                found[number] = 1
        return found

    def widen(self, column: int, cell: Cell, value: object) -> str | None:
        """Return a label that covers both a cell and a value outside it."""
        plan = self.plans[column]
        text = self.index.columns[column].text(value)
        node = -1 if text is None or "node" not in cell else self.index.columns[column].node(text)
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
        return [names[cell] for names, cell in zip(self.labels, self.region(region))]

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
            cell = self.cells[column][self.region(region)[column]]
            labels[column] = self.widen(column, cell, values[column])
        return labels, -1

    def is_number(self, text: str | None, token: str) -> bool:
        """Say whether a cell is released as a JSON number; labels never are."""
        return False

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
            if len(self.templates) >= MOST_TEMPLATES:
                self.templates.clear()
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
