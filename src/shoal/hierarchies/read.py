"""Hierarchies as files and entries of a schema: the common CSV layout, trees, builders."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from shoal.core.documents import Document, read_document, read_text, to_yaml
from shoal.core.errors import HierarchyError, SchemaError
from shoal.hierarchies.build import BUILDERS, Builder
from shoal.hierarchies.tree import Hierarchy

_SEPARATORS = (";", ",", "\t")


def parse_csv(name: str, text: str, *, items: bool = False) -> Hierarchy:
    r"""Read the common layout: a row a value, then its levels up to the root; no header.

    The separator is `;`, `,` or a tab, whichever gives rows of one width that end in
    one root. Quotes work as in any CSV file. Empty cells at the end of a row, as
    spreadsheets write them, are left out.

    items: the values are items of sets, which often share the name of their group: labels above
    them that stand at several levels get the level into their name.

    Raises:
        HierarchyError: the text cannot be read as CSV, or is not a tree.

    Example:
        >>> parse_csv("sex", "female;*\nmale;*\n").labels
        ('female', 'male', '*')
    """
    body = text.removeprefix("\ufeff")
    used = [mark for mark in _SEPARATORS if mark in body] or [_SEPARATORS[0]]
    readings: list[list[list[str]]] = []
    broken: list[int] = []
    for mark in used:
        reader = csv.reader(io.StringIO(body, newline=""), delimiter=mark, strict=True)
        try:
            readings.append([_without_tail(row) for row in reader])
        except csv.Error:
            broken.append(reader.line_num)
    if not readings:
        raise HierarchyError(
            hierarchy=name,
            problem=f"line {broken[0]} cannot be read as CSV; close every quote, and double "
            "the quotes inside quoted cells",
        )
    rows = max(readings, key=_plausibility)
    return Hierarchy.from_rows(name, told_apart(rows) if items else rows)


def told_apart(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows of one width whose labels are different at each level; the root stays.

    Example:
        >>> told_apart([("ham", "meat", "*"), ("meat", "meat", "*")])
        [['ham', 'meat (level 1)', '*'], ['meat', 'meat (level 1)', '*']]
    """
    filled = [[cell.strip() for cell in row] for row in rows if row]
    stands: dict[str, set[int]] = {}
    for row in filled:
        for level, label in enumerate(row):
            stands.setdefault(label, set()).add(level)
    return [
        [
            f"{label} (level {level})" if 0 < level < len(row) - 1 and len(stands[label]) > 1
            else label
            for level, label in enumerate(row)
        ]
        for row in filled
    ]  # fmt: skip


def _without_tail(row: list[str]) -> list[str]:
    while row and not row[-1].strip():
        row.pop()
    return row


def _plausibility(rows: Iterable[Sequence[str]]) -> tuple[bool, bool, bool]:
    """Rank a reading of the file; the earlier separator wins a tie."""
    filled = [row for row in rows if row]
    widths = {len(row) for row in filled}
    roots = {row[-1].strip() for row in filled}
    return max(widths, default=0) > 1, len(roots) == 1, len(widths) == 1


def to_csv(hierarchy: Hierarchy) -> str:
    r"""Write a hierarchy in the common layout, separated by `;`; `parse_csv` reads it back.

    Example:
        >>> to_csv(Hierarchy.flat("sex", ["female", "male"]))
        'female;*\nmale;*\n'
    """
    out = io.StringIO()
    csv.writer(out, delimiter=";", lineterminator="\n").writerows(hierarchy.to_rows())
    return out.getvalue()


def to_text(hierarchy: Hierarchy, path: str | Path) -> str:
    """Write a hierarchy as the ending of a file says: nested (YAML, JSON), or CSV.

    Guarantee:
        `load_hierarchy` reads the same tree back from a file with this ending.
    """
    ending = Path(path).suffix.lower()
    if ending == ".json":
        return json.dumps(_nested(hierarchy), ensure_ascii=False, indent=2) + "\n"
    return to_yaml(_nested(hierarchy)) if ending in (".yaml", ".yml") else to_csv(hierarchy)


def _nested(hierarchy: Hierarchy) -> Document:
    """Return the tree as nested mappings, a leaf with nothing below it."""
    below: list[Document] = [{} for _ in hierarchy.labels]
    for node, above in enumerate(hierarchy.parents):  # children come before their parents
        if above >= 0:
            below[above][hierarchy.labels[node]] = below[node] or None
    root = hierarchy.root
    return {hierarchy.labels[root]: below[root] or None}


def parse_tree(name: str, document: object) -> Hierarchy:
    """Read a document as YAML or JSON gives it: a nested tree, a list of rows, or our own.

    Our own is what `Hierarchy.to_document` wrote. A tree has a single key, its root, so
    the three cannot be mistaken for each other.

    Example:
        >>> parse_tree("place", {"*": {"Europe": ["France", "Italy"], "Asia": ["Japan"]}}).labels
        ('France', 'Italy', 'Europe', 'Japan', 'Asia', '*')
    """
    if isinstance(document, Mapping) and {"labels", "parents"} <= set(document):
        return Hierarchy.from_document(name, document)
    if isinstance(document, list) and document and all(isinstance(row, list) for row in document):
        return Hierarchy.from_rows(name, document)
    return Hierarchy.from_tree(name, document)


def read_hierarchy(
    name: str, entry: object, *, folder: Path, items: bool = False
) -> Hierarchy | Builder | None:
    """Return the hierarchy that a schema's `hierarchy:` entry stands for.

    A text is the path of a CSV, YAML or JSON file; a mapping is a tree
    (`{tree: …}`), a stored hierarchy (`{labels: …, parents: …}`) or a builder
    (`{mask: {}}`, `{intervals: {width: [5, 10]}}`, `{dates: {}}` …). items: see `parse_csv`.
    """
    if entry is None:
        return None
    if isinstance(entry, str):
        return load_hierarchy(name, folder / entry, items=items)
    if not isinstance(entry, Mapping):
        raise SchemaError(where="hierarchy", faults=["must be a file name or a mapping"])
    if "labels" in entry:
        return Hierarchy.from_document(name, dict(entry))
    if set(entry) == {"tree"}:
        return Hierarchy.from_tree(name, entry["tree"])
    if len(entry) != 1 or next(iter(entry)) not in BUILDERS:
        known = ", ".join(("tree", *BUILDERS))
        raise SchemaError(where="hierarchy", faults=[f"must have one key: {known}"])
    key, options = next(iter(entry.items()))
    try:
        return BUILDERS[key].from_document({} if options is None else options)
    except ValueError as error:
        raise SchemaError(where=f"hierarchy {key}", faults=[str(error)]) from None


def write_hierarchy(hierarchy: Hierarchy | Builder) -> Document:
    """Return a column's hierarchy as an entry that `read_hierarchy` reads back.

    Example:
        >>> write_hierarchy(BUILDERS["mask"]())
        {'mask': {'char': '*', 'direction': 'right'}}
    """
    if not isinstance(hierarchy, Hierarchy):
        keys = [key for key, kind in BUILDERS.items() if isinstance(hierarchy, kind)]
        return {keys[0] if keys else type(hierarchy).__name__: hierarchy.to_document()}
    return hierarchy.to_document()


def load_hierarchy(name: str, path: str | Path, *, items: bool = False) -> Hierarchy:
    """Read a hierarchy file: CSV in the common layout, or a nested YAML or JSON tree.

    The hierarchy keeps the path as its `origin`. items: see `parse_csv`.
    """
    place = Path(path)
    if place.suffix.lower() in (".yaml", ".yml", ".json"):
        return parse_tree(name, read_document(place)).read_from(str(path))
    return parse_csv(name, read_text(place), items=items).read_from(str(path))
