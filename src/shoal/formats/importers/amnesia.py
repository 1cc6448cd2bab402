"""Amnesia: hierarchies as text and as JSON, and anonymization rules.

A text names its kind (`distinct` or `range`), then `name`, `type` and `height`; after a blank line
each line is a parent, the word `has`, and its children, the lowest level first. Words are parted
by spaces, so a label with a space stands in quotes. The page of Amnesia hands out the same tree as
JSON: nodes with labels, and edges. Rules say for each column what became of each value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.core.documents import parse_json, read_text
from shoal.core.errors import InputError
from shoal.core.numbers import number_text
from shoal.formats.importers.project import Imported
from shoal.hierarchies.tree import Hierarchy

RULES = "Anonymization rules:"
_WORD = re.compile(r'"((?:[^"]|"")*)"|(\S+)')


@dataclass(frozen=True, slots=True)
class _Head:
    kind: str
    name: str
    type: str


def read_amnesia(path: str | Path, *, column: str | None = None) -> Imported:
    """Return the hierarchies of a file: one of a hierarchy, one a column of rules.

    column: the column that a hierarchy is for; by default the name that it has in the file.

    Raises:
        InputError: nothing that Amnesia writes.
        HierarchyError: what is written is not a tree.
    """
    where, text = str(path), read_text(Path(path)).removeprefix("\ufeff")
    if text.lstrip()[:1] in ("{", "["):
        name = column or Path(path).stem
        return _one(name, _graph(name, parse_json(text, where=where), where))
    lines = text.splitlines()
    first = lines[0].strip() if lines else ""
    if first == RULES:
        return _rules(lines[1:], where)
    if first not in ("distinct", "range"):
        problem = "is no hierarchy and no rules of Amnesia: its first line is none of distinct, "
        raise InputError(where=where, problem=problem + f"range and {RULES!r}")
    head, body = _head(lines, where)
    name = column or head.name
    if head.kind == "distinct":
        return _one(name, _distinct(name, body, where))
    return _one(name, _ranges(name, body, where), head)


def _one(name: str, tree: Hierarchy, head: _Head | None = None) -> Imported:
    notices: tuple[str, ...] = ()
    if head is not None:
        notices = (
            "its values are intervals: `shoal hierarchy` draws them; they go from each low bound "
            "up to, and without, the next",
        )
    return Imported(schema=None, hierarchies={name: tree}, notices=notices)


def _head(lines: Sequence[str], where: str) -> tuple[_Head, list[str]]:
    end = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
    words = dict(line.split(" ", 1) for line in lines[1:end] if " " in line)
    known = {name.lower(): value.strip() for name, value in words.items()}
    if "name" not in known or "type" not in known:
        raise InputError(where=where, problem="its first lines name no `name` and `type`")
    return _Head(lines[0].strip(), known["name"], known["type"]), list(lines[end + 1 :])


def _families(body: Sequence[str], where: str) -> list[tuple[str, list[str]]]:
    """Return each parent with its children."""
    found: list[tuple[str, list[str]]] = []
    for line in body:
        words = [
            (quoted or "").replace('""', '"') if plain == "" else plain
            for quoted, plain in _WORD.findall(line)
        ]
        if not words:
            continue
        if "has" not in words[1:]:
            number = len(found) + 1
            problem = f"line {number} of its tree has no word `has` between parent and children"
            raise InputError(where=where, problem=problem)
        at = words.index("has", 1)
        found.append((" ".join(words[:at]), words[at + 1 :]))
    if not found:
        raise InputError(where=where, problem="has no line `parent has child child …`")
    return found


def _distinct(name: str, body: Sequence[str], where: str) -> Hierarchy:
    parents: dict[str, str | None] = {}
    for parent, children in _families(body, where):
        for child in children:
            parents[child] = parent
    return _tree(name, parents, where)


def _tree(name: str, parents: Mapping[str, str | None], where: str) -> Hierarchy:
    """Return a hierarchy from the parent of each label."""
    inner = {parent for parent in parents.values() if parent is not None}
    rows = []
    for label in parents:
        if label in inner or parents[label] is None:
            continue
        row, at = [label], parents[label]
        while at is not None:
            row.append(at)
            if len(row) > len(parents) + 1:
                raise InputError(where=where, problem="its tree goes round in a circle")
            at = parents.get(at)
        rows.append(row)
    if not rows:
        raise InputError(where=where, problem="its tree has no leaves")
    return Hierarchy.from_rows(name, _even(rows))


def _even(rows: list[list[str]]) -> list[list[str]]:
    """Return rows of one length: a leaf nearer to the root stays itself for longer."""
    longest = max(len(row) for row in rows)
    return [[row[0]] * (longest - len(row)) + row for row in rows]


def _ranges(name: str, body: Sequence[str], where: str) -> Hierarchy:
    parents: dict[str, str | None] = {}
    for parent, children in _families(body, where):
        for child in children:
            parents[_range(child)] = _range(parent)
    return _tree(name, parents, where)


def _range(text: str) -> str:
    """Return the label of an interval, as shoal writes it."""
    low, _, high = text.partition(",")
    try:
        return f"[{number_text(float(low))}, {number_text(float(high))})"
    except ValueError:
        return f"[{low}, {high})"  # dates


def _graph(name: str, document: object, where: str) -> Hierarchy:
    """Read a nested tree, or the nodes and edges that the page of Amnesia hands out."""
    if isinstance(document, Mapping) and {"nodeList", "edgeList"} <= set(document):
        return _from_edges(name, document, where)
    parents: dict[str, str | None] = {}
    root = document
    if isinstance(document, Mapping) and isinstance(document.get("root"), Mapping):
        root = document["root"]
    _walk(root, None, parents, where)
    return _tree(name, parents, where)


def _from_edges(name: str, document: Mapping[str, object], where: str) -> Hierarchy:
    nodes, edges = document["nodeList"], document["edgeList"]
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise InputError(where=where, problem="nodeList and edgeList must be lists")
    label = {str(n.get("id")): str(n.get("label")) for n in nodes if isinstance(n, Mapping)}
    parents: dict[str, str | None] = dict.fromkeys(label.values())
    for edge in edges:
        ends = edge if isinstance(edge, Mapping) else {}
        upper, lower = (label.get(str(ends.get(end))) for end in ("from", "to"))
        if upper is None or lower is None:
            raise InputError(where=where, problem="an edge leads to a node that is not there")
        parents[lower] = upper
    return _tree(name, parents, where)


def _walk(node: object, parent: str | None, parents: dict[str, str | None], where: str) -> None:
    if isinstance(node, (str, int, float)):
        parents[str(node)] = parent
        return
    if not isinstance(node, Mapping):
        raise InputError(where=where, problem="a node is neither a label nor has a name")
    label = next((node[key] for key in ("name", "label", "value", "text") if key in node), None)
    if label is None:
        raise InputError(where=where, problem="a node has no name")
    if parent is not None or str(label) not in parents:
        parents[str(label)] = parent
    children = node.get("children", [])
    if not isinstance(children, list):
        raise InputError(where=where, problem="the children of a node must be a list")
    for child in children:
        _walk(child, str(label), parents, where)


def _rules(lines: Sequence[str], where: str) -> Imported:
    """Return, for each column, a hierarchy of one step: what each value became, then `*`."""
    rules: dict[str, dict[str, str]] = {}
    column: str | None = None
    for line in lines:
        if not line.strip():
            column = None
        elif column is None:
            column = line
            rules[column] = {}
        else:
            value, arrow, label = line.partition("->")
            if not arrow:
                raise InputError(where=where, problem=f"column {column!r}: a rule has no ->")
            if value.strip():  # a missing value is one of its own here, whatever became of it
                rules[column][value] = label
    if not rules:
        raise InputError(where=where, problem="has no rule for any column")
    trees = {
        name: Hierarchy.from_rows(name, [[value, label, "*"] for value, label in each.items()])
        for name, each in rules.items()
        if each
    }
    notices = (
        "rules are the end of an anonymization: as hierarchies they allow the step that was taken, "
        "and none, and *",
    )
    return Imported(schema=None, hierarchies=trees, notices=notices)
