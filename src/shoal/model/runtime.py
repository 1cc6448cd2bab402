"""The encoder that runs everywhere: from a model document and a record to a released record.

Written in the part of Python that CPython from 3.8 on and MicroPython share, with no
import at run time: `shoal edge export` copies this file, and the JavaScript export follows
it line by line. Sets of classes are integers, one bit a class in the order of
preference; a record's class is the lowest bit that all its columns have in common.
"""

from __future__ import annotations

from typing import Any

from shoal.core.keys import SPACE, date_key, number_key

BLOCKS = (131072, 32768, 8192)  # classes that one set holds, where memory allows
BLOCK = 2048  # … and otherwise
ROOM = 64000000  # bytes that the sets of all cells may take
MEMO = 50000  # texts that a column remembers before it forgets all of them
DEEP = 40  # nesting that a line of JSON may have
HAS_LENGTH = hasattr(1, "bit_length")  # MicroPython's integers cannot say how long they are


class Rejected(ValueError):
    """A record that cannot be encoded; the text says why, and never holds a value."""


def text_of(value: Any) -> Any:
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


def block_size(classes: int, cells: int) -> int:
    """Return how many classes one set holds: all of them, if the sets of all cells fit."""
    for size in BLOCKS:
        if cells * min(size, classes) // 8 <= ROOM:
            return size
    return BLOCK


class Column:
    """One column of one block of classes: which of them cover a value.

    `entry` is the column as the model file has it, `bits` the set of classes of each cell.
    """

    def __init__(self, entry: Any, plan: Any, bits: list[int]) -> None:
        self.scale = entry["scale"]
        self.form = plan.get("form")
        self.absent = plan["absent"]
        self.index = plan["index"]
        self.parents = plan["parents"]
        self.mask = entry.get("mask")
        self.anything = 0
        self.missing = 0
        self.values: dict[str, int] = {}
        self.nodes: dict[int, int] = {}
        self.masked: dict[int, dict[str, int]] = {}
        self.ranges: list[Any] = []
        for cell, members in zip(entry["cells"], bits):
            if members:
                self._add(cell, members)
        self.missing |= self.anything
        ends = {r[0] for r in self.ranges} | {r[2] for r in self.ranges}
        self.ends = sorted(end for end in ends if end is not None)
        self.segments: dict[int, int] = {}
        self.memo: dict[Any, int] = {}

    def _add(self, cell: Any, members: int) -> None:
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

    def key(self, text: str) -> Any:
        """Return what a text is compared by; None if it has no place on this scale."""
        if self.scale == "number":
            return number_key(text)
        if self.scale == "date":
            return date_key(text, self.form)
        if self.scale == "rank":
            return self.index.get(text, self.index.get(text.strip(SPACE)))
        return text

    def cover(self, value: Any) -> int:
        """Return the classes that cover a value."""
        found = self.memo.get(value)
        if found is not None:
            return found
        text = text_of(value)
        if text is None or text in self.absent or text.strip(SPACE) in self.absent:
            found = self.missing
        else:
            found = self._cover_text(text)
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
        for lost in self.masked:
            hidden = hide(text, self.mask, lost)
            if hidden is not None:
                found |= self.masked[lost].get(hidden, 0)
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
        return int(found)

    def _segment(self, key: Any) -> int:
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


def hide(text: str, mask: Any, lost: int) -> Any:
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


def label_of(cell: Any, labels: Any) -> Any:
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
    return "[" + cell["low"] + ", " + cell["high"] + "]"


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


def _plan(entry: Any, about: Any, marks: Any) -> Any:
    """Collect what all blocks share of a column: its hierarchy, order and missing marks."""
    tree = about.get("hierarchy") or {}
    labels = tree.get("labels", [])
    parents = list(tree.get("parents", []))
    index: dict[Any, int] = {}
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

    def __init__(self, model: Any, on_unseen: Any = None, suppressed: str = "star") -> None:
        self.on_unseen = on_unseen or model["on_unseen"]
        if self.on_unseen not in ("suppress", "nearest", "error"):
            raise ValueError("on_unseen must be suppress, nearest or error")
        if suppressed not in ("star", "remove"):
            raise ValueError("suppressed must be star or remove")
        self.suppressed = suppressed
        entries = model["columns"]
        schema = model["schema"]
        self.names = [entry["name"] for entry in entries]
        self.roots = [entry["root"] for entry in entries]
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
        self.templates: dict[int, Any] = {}

    def _block(self, entries: Any, regions: Any) -> list[Column]:
        bits = [[0] * len(entry["cells"]) for entry in entries]
        for place, region in enumerate(regions):
            for column, cell in enumerate(region):
                bits[column][cell] |= 1 << place
        return [
            Column(entry, plan, members) for entry, plan, members in zip(entries, self.plans, bits)
        ]

    def find(self, values: Any, among: Any = None) -> int:
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

    def nearest(self, values: Any) -> Any:
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

    def widen(self, column: int, cell: Any, value: Any) -> Any:
        """Return a label that covers both a cell and a value outside it."""
        plan = self.plans[column]
        text = text_of(value)
        is_absent = text is None or text in plan["absent"] or text.strip(SPACE) in plan["absent"]
        node = -1 if is_absent or "node" not in cell else self.first[column].node(text)
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

    def tuple_of(self, values: Any) -> Any:
        """Return (labels, class) of a tuple: the class is -1 where no class covers it.

        The labels of such a tuple follow `on_unseen`; they are None where it is suppressed.
        """
        region = self.find(values)
        if region >= 0:
            return [names[i] for names, i in zip(self.labels, self.regions[region])], region
        if self.on_unseen == "error":
            raise Rejected("no class of the model covers it")
        if self.on_unseen == "suppress":
            return None, -1
        region, wrong = self.nearest(values)
        if len(wrong) == len(self.names):
            return None, -1
        labels = [names[i] for names, i in zip(self.labels, self.regions[region])]
        for column in wrong:
            cell = self.cells[column][self.regions[region][column]]
            labels[column] = self.widen(column, cell, values[column])
        return labels, -1

    def values(self, record: Any) -> Any:
        """Return the quasi-identifiers of a record."""
        try:
            return [record[name] for name in self.names]
        except KeyError:
            raise Rejected("a quasi-identifier is not there") from None

    def encode(self, record: Any) -> Any:
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
            labels = [names[i] for names, i in zip(self.labels, self.regions[region])]
            template = self.templates[region] = self._template(labels)
        return self._fill(record, dict(template))

    def release(self, record: Any, labels: Any) -> Any:
        """Return a record with its quasi-identifiers replaced; None stands for suppressed."""
        if labels is None:
            if self.suppressed == "remove":
                self._fill(record, self._template(self.roots))
                return None
            labels = self.roots
        return self._fill(record, self._template(labels))

    def _template(self, labels: Any) -> Any:
        new = dict(zip(self.names, labels))
        return {name: new.get(name) for name in self.released}

    def _fill(self, record: Any, out: Any) -> Any:
        seen = len(self.names)
        for name in self.kept:
            if name in record:
                out[name] = record[name]
                seen += 1
            else:
                del out[name]
        if len(record) != seen:
            self._strangers(record, out)
        return out

    def _strangers(self, record: Any, out: Any) -> None:
        strange = sorted(name for name in record if name not in self.known)
        if strange and self.others == "fault":
            raise Rejected(str(len(strange)) + " columns have no role")
        if self.others == "keep":
            for name in strange:
                out[name] = record[name]
