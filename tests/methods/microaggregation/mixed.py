"""Small mixed tables, and the same columns as the naive twin reads them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from tests.naive import semantic as naive

from shoal.hierarchies.tree import Hierarchy
from shoal.methods.microaggregation.semantic import SCALE, distance_name, units_of
from shoal.methods.microaggregation.smdav import distinct_tuples
from shoal.schema.schema import Kind
from shoal.table.domain import MISSING_NODE, line_domain, tree_domain
from shoal.table.frequency import from_codes

TREE = Hierarchy.from_tree(
    "job",
    {"*": {"worker": {"craft": ["smith", "baker"], "clerk": None, "aid": {"maid": None}},
           "chief": ["head", "boss"], "far": {"off": {"lone": ["hermit"]}}}},
)  # fmt: skip
JOBS = ["smith", "baker", "craft", "clerk", "worker", "maid", "head", "hermit"]
DISTANCES = ["wu-palmer", "path", "leaf-share", "height", "weighted", "weighted-example", "equal",
             None]  # fmt: skip


def columns(missing):
    front = [None] if missing else []
    gap = [np.nan] if missing else []
    return {
        "tree": tree_domain("job", Kind.CATEGORICAL, JOBS, TREE, missing=missing, weight=1.0),
        "flat": tree_domain("sex", Kind.CATEGORICAL, ["f", "m", "x"],
                            Hierarchy.flat("sex", ["f", "m", "x"]), missing=missing, weight=0.5),
        "number": line_domain("age", Kind.NUMERIC, [*front, "1", "2.5", "4", "9"],
                              [*gap, 1, 2.5, 4, 9]),
        "rank": line_domain("size", Kind.ORDINAL, [*front, "s", "m", "l", "xl"],
                            [*gap, 0, 1, 2, 3], weight=2.0),
    }  # fmt: skip


@st.composite
def tables(draw, most=14, sensitive=False):
    kinds = draw(st.lists(st.sampled_from(["tree", "tree", "flat", "number", "rank"]),
                          min_size=1, max_size=3))  # fmt: skip
    known = columns(draw(st.booleans()))
    domains = tuple(
        replace(known[kind], distance=draw(st.sampled_from(DISTANCES))) if kind == "tree"
        else known[kind] for kind in kinds
    )  # fmt: skip
    n = draw(st.integers(1, most))
    cells = [draw(st.lists(st.integers(0, len(d) - 1), min_size=n, max_size=n)) for d in domains]
    codes = np.array(cells, dtype=np.int32).T.reshape(n, len(domains))
    counts = np.array(draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)), dtype=np.int64)
    if not sensitive:
        return from_codes(domains, codes, counts)
    secret = known["flat"]
    values = draw(st.lists(st.integers(0, len(secret) - 1), min_size=n, max_size=n))
    return from_codes(
        domains, codes, counts, sensitive_domains=(secret,),
        sensitive=np.array(values, dtype=np.int32).reshape(n, 1),
    )  # fmt: skip


def twin_of(domain, unit=SCALE, distance=None):
    """Return a column as the twin reads it, and the value of each code."""
    if domain.tree is None:
        inner = [float(x) for x in domain.position if not np.isnan(x)]
        span = (inner[-1] - inner[0]) or 1.0
        values = [
            None if np.isnan(x) else round((float(x) - inner[0]) / span * unit)
            for x in domain.position
        ]
        return naive.Column("mean" if domain.kind == "numeric" else "median", unit), values
    labels = domain.tree.labels
    above = {a: None if p < 0 else labels[p]
             for a, p in zip(labels, domain.tree.parents, strict=True)}  # fmt: skip
    nodes = [label for label in labels if label != MISSING_NODE]
    above.pop(MISSING_NODE, None)
    column = naive.Column(
        "tree", unit, distance_name(domain, distance), nodes, above, beta=domain.beta
    )
    return column, list(domain.labels)


def twins_of(table, distance=None):
    """Return the columns and the distinct tuples as the twin reads them."""
    units = units_of(table.domains, distance=distance)
    pairs = [twin_of(d, unit, distance) for d, unit in zip(table.domains, units, strict=True)]
    codes, counts = distinct_tuples(table)
    entries = [
        (t, tuple(pairs[j][1][c] for j, c in enumerate(row)), int(n))
        for t, (row, n) in enumerate(zip(codes.tolist(), counts, strict=True))
    ]
    return [column for column, _ in pairs], entries


def as_records(entries):
    return [(t, values, 1) for t, values, n in entries for _ in range(n)]


def by_tuple(clusters):
    """Return the twin's clusters as sorted lists of (tuple, records)."""
    found = []
    for cluster in clusters:
        sizes = {}
        for t, _, n in cluster:
            sizes[t] = sizes.get(t, 0) + n
        found.append(sorted(sizes.items()))
    return sorted(found)


def classes_of(recoding):
    """Return the classes of a recoding as sorted lists of (tuple, records)."""
    found = {}
    for row, label, n in zip(recoding.row, recoding.label, recoding.count, strict=True):
        sizes = found.setdefault(int(label), {})
        t = int(recoding.table.tuple_ids[row])
        sizes[t] = sizes.get(t, 0) + int(n)
    return sorted(sorted(sizes.items()) for sizes in found.values())
