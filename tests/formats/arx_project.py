"""A project as ARX writes it, by its public layout, made of a table in plain Python.

The losses in lattice.xml are counted here, by the definition: nothing of shoal is used.
"""

from __future__ import annotations

import math
import zipfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from xml.sax.saxutils import escape

Rows = Sequence[Sequence[str]]
Trees = Mapping[str, Rows]

QUASI, SENSITIVE = "QUASI_IDENTIFYING_ATTRIBUTE", "SENSITIVE_ATTRIBUTE"
HEADER = ["name", "age", "sex", "ill", "note"]
TYPES = {"name": "IDENTIFYING_ATTRIBUTE", "age": QUASI, "sex": QUASI, "ill": SENSITIVE,
         "note": "INSENSITIVE_ATTRIBUTE"}  # fmt: skip
TREES = {
    "age": [[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(30, 50)],
    "sex": [["f", "*"], ["m", "*"]],
}
ROWS = [[f"p{i}", str(30 + i * 7 % 20), "fm"[i % 3 % 2], "ab"[i % 2], "x"] for i in range(60)]


def xml(tag: str, *inside: str) -> str:
    return f"<{tag}>{''.join(inside)}</{tag}>"


def field(tag: str, value: object) -> str:
    return xml(tag, escape(str(value)))


def config(
    criteria: Sequence[str], *, limit: float, metric: str = "Loss (0.5/0.5/1.0)",
    weights: Mapping[str, float] | None = None,
) -> str:  # fmt: skip
    weighed = [
        xml("attributeWeight", field("attribute", name), field("weight", weight))
        for name, weight in (weights or {}).items()
    ]
    return xml(
        "config", field("suppressTuplesInNonAnonymousOutput", "true"),
        field("suppressionString", "*"), xml("suppressedAttributeTypes"),
        field("practicalMonotonicity", "false"), field("relativeMaxOutliers", limit),
        field("metric", metric), xml("attributeWeights", *weighed),
        xml("criteria", *(field("criterion", each) for each in criteria)),
    )  # fmt: skip


def definition(types: Mapping[str, str], trees: Trees, **more: Mapping[str, str]) -> str:
    entries = []
    for name, kind in types.items():
        own = {"datatype": "String", **more.get(name, {})}
        parts = [field("name", name), field("type", kind)]
        parts += [field(tag, value) for tag, value in own.items() if tag not in ("min", "max")]
        if name in trees:
            parts.append(field("ref", f"hierarchies/{name}.csv"))
            parts += [field(bound, own.get(bound, "All")) for bound in ("min", "max")]
        entries.append(xml("assigment", *parts))
    return xml("definition", *entries)


def csv_text(rows: Rows) -> str:
    return "".join(";".join(row) + "\n" for row in rows)


def write_project(
    place: Path, header: Sequence[str], rows: Rows, *, types: Mapping[str, str], trees: Trees,
    config_xml: str, lattice_xml: str | None = None, definition_xml: str | None = None,
) -> Path:  # fmt: skip
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "metadata.xml", xml("metadata", field("version", "3.9.1"), field("vocabulary", "2.0"))
        )
        archive.writestr("project.dat", b"\xac\xed\x00\x05")
        archive.writestr("project.xml", xml("project", field("name", "x"), field("separator", ";")))
        archive.writestr("data/input.csv", csv_text([header, *rows]))
        archive.writestr("input/config.dat", b"\xac\xed\x00\x05")
        archive.writestr("input/config.xml", config_xml)
        archive.writestr("input/definition.xml", definition_xml or definition(types, trees))
        for name, tree in trees.items():
            archive.writestr(f"input/hierarchies/{name}.csv", csv_text(tree))
        if lattice_xml is not None:
            archive.writestr("lattice.xml", lattice_xml)
    return place


def lattice(header: Sequence[str], rows: Rows, trees: Trees, *, k: int, limit: float) -> str:
    """Return every node with its loss (geometric mean of the shares of leaves) and its safety."""
    names = [name for name in header if name in trees]
    columns = [header.index(name) for name in names]
    tuples = Counter(tuple(row[c] for c in columns) for row in rows)
    steps = [{row[0]: row for row in trees[name]} for name in names]
    heights = [len(trees[name][0]) - 1 for name in names]
    below = []  # by column and level, the leaves under each label
    for name, height in zip(names, heights, strict=True):
        below.append([Counter(row[at] for row in trees[name]) for at in range(height + 1)])
    levels: dict[int, list[str]] = defaultdict(list)
    nodes = list(product(*(range(height + 1) for height in heights)))
    for number, node in enumerate(nodes):
        loss, is_safe = _loss(tuples, steps, below, node, k=k, limit=limit, n=len(rows))
        levels[sum(node)].append(
            f'<n i="{number}">' + field("t", list(node))
            + field("a", "ANONYMOUS" if is_safe else "NOT_ANONYMOUS") + field("c", "true")
            + xml("l", field("u", loss), field("f", loss)) + "</n>"
        )  # fmt: skip
    inside = "".join(
        f'<level depth="{depth}">{"".join(texts)}</level>' for depth, texts in levels.items()
    )
    return f"<!-- ARX XML Vocabulary Version 2.0 -->\n<lattice>{inside}</lattice>"


def _loss(tuples, steps, below, node, *, k, limit, n) -> tuple[float, bool]:
    classes: Counter[tuple[str, ...]] = Counter()
    for values, times in tuples.items():
        key = tuple(s[v][at] for s, v, at in zip(steps, values, node, strict=True))
        classes[key] += times
    kept = {key: size for key, size in classes.items() if size >= k}
    gone = n - sum(kept.values())
    product_of = 1.0
    for column, at in enumerate(node):
        leaves = len(steps[column])
        paid = (
            sum(below[column][at][key[column]] / leaves * size for key, size in kept.items()) + gone
        )
        least = n / leaves
        product_of *= (1 + (paid - least) / (n - least)) ** (1 / len(node))
    return product_of - 1, gone <= math.floor(limit * n)


def write_small_project(place: Path) -> Path:
    """Write a project with a promise and a lattice."""
    return write_project(
        place, HEADER, ROWS, types=TYPES, trees=TREES,
        config_xml=config(["3-anonymity", "distinct-2-diversity for attribute 'ill'"], limit=0.1),
        lattice_xml=lattice(HEADER, ROWS, TREES, k=3, limit=0.1),
    )  # fmt: skip
