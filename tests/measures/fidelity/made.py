"""Random tables with random releases of them, for the tests of fidelity."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import polars as pl
from hypothesis import strategies as st

from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import open_source
from shoal.hierarchies.tree import Hierarchy
from shoal.measures.fidelity.columns import Column
from shoal.measures.fidelity.fidelity import Released
from shoal.schema.attribute import Attribute
from shoal.schema.schema import Kind, Role, Schema
from shoal.table.frequency import FrequencyTable

BELOW = {"warm": ["red", "orange"], "cold": ["blue", "green", "teal"]}
KINDS = {"n": "number", "few": "number", "r": "real", "c": BELOW}
"""The columns of the tables, as `tests.naive.fidelity` describes them."""

_TREE = Hierarchy.from_tree("c", {"*": BELOW})
_SCHEMA = Schema(
    attributes=(
        *(Attribute(name=name, role=Role.QUASI, kind=Kind.NUMERIC) for name in ("n", "few", "r")),
        Attribute(name="c", role=Role.QUASI, kind=Kind.CATEGORICAL, hierarchy=_TREE),
    ),
)
_VALUES = {
    "n": st.one_of(st.none(), st.integers(-5, 90).map(str), st.sampled_from(["7", "30"])),
    "few": st.integers(0, 12).map(str),
    "r": st.one_of(st.none(), st.integers(1, 4000).map(lambda x: f"{x / 16 + 0.01:g}")),
    "c": st.sampled_from(["red", "orange", "blue", "green", "teal", None]),
}


class Made(NamedTuple):
    """A table and a release of it: rows of texts, and as shoal sees both."""

    names: tuple[str, ...]
    before: list[tuple[str | None, ...]]
    after: list[tuple[str | None, ...]]
    table: FrequencyTable
    released: Released
    columns: list[Column]

    def column(self, name):
        """Return the texts of a column before and after, and its kind."""
        place = self.names.index(name)
        return [row[place] for row in self.before], [r[place] for r in self.after], KINDS[name]


def made(names, before, after) -> Made:
    """Return a table and a release as shoal counts them."""
    frame = pl.DataFrame(before, schema=dict.fromkeys(names, pl.String), orient="row")
    schema = Schema(attributes=tuple(_SCHEMA.attribute(name) for name in names))
    source = open_source(frame)
    table = frequencies(
        source, source.scan(list(names), coded=list(names)), schema, sensitive=()
    ).table
    classes = sorted(Counter(after).items(), key=repr)
    labels = []
    for place in range(len(names)):
        texts = sorted({row[place] for row, _ in classes}, key=repr)
        number = {text: i for i, text in enumerate(texts)}
        labels.append((texts, np.array([number[row[place]] for row, _ in classes], dtype=np.int64)))
    released = Released(labels, np.array([size for _, size in classes], dtype=np.int64))
    columns = []
    for j, domain in enumerate(table.domains):
        held = np.bincount(table.codes[:, j], weights=table.counts, minlength=len(domain))
        columns.append(Column(domain, held.astype(float), *labels[j]))
    return Made(tuple(names), before, after, table, released, columns)


def label_of(name: str, values) -> str | None:
    """Return what covers some values of a column."""
    known = {value for value in values if value is not None}
    if None in values:
        return "*" if known else None
    if len(known) == 1:
        return known.pop()
    if name == "c":
        return next((node for node, below in BELOW.items() if known <= set(below)), "*")
    return f"[{min(known, key=float)}, {max(known, key=float)}]"


@st.composite
def releases(draw, *, columns=("n", "c", "few", "r"), least=2, most=24):
    """Draw a table, and a release of it in classes; some records are suppressed."""
    names = draw(st.permutations(columns))[: draw(st.integers(min(2, len(columns)), len(columns)))]
    row = st.tuples(*(_VALUES[name] for name in names))
    before = draw(st.lists(row, min_size=least, max_size=most))
    for place in range(len(names)):  # a column has something in it
        if all(each[place] is None for each in before):
            before = [(*each[:place], "red" if names[place] == "c" else "5", *each[place + 1 :])
                      for each in before]  # fmt: skip
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=8))
    after: list[tuple[str | None, ...]] = []
    start = 0
    for size in sizes:
        group = before[start : start + size]
        start += size
        if group:
            cells = (label_of(name, [r[i] for r in group]) for i, name in enumerate(names))
            after += [tuple(cells)] * len(group)
    return made(names, before, after)
