"""Random small tables and hierarchies for lattice searches."""

from __future__ import annotations

import random

import numpy as np
from tests.naive.lattice import Column, Naive

from shoal.hierarchies.tree import Hierarchy
from shoal.methods.lattice.space import space_of
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, NTCloseness, TCloseness
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import from_codes

PROMISES = {
    "k": lambda: [KAnonymity(2)],
    "k3": lambda: [KAnonymity(3)],
    "distinct": lambda: [KAnonymity(2), LDiversity(2, column="s")],
    "entropy": lambda: [LDiversity(1.7, "entropy", column="s")],
    "recursive": lambda: [KAnonymity(2), LDiversity(2, "recursive", c=1.5, column="s")],
    "recursive3": lambda: [LDiversity(3, "recursive", c=2.5, column="s")],
    "equal": lambda: [KAnonymity(2), TCloseness(0.35, column="s")],
    "ordered": lambda: [TCloseness(0.2, "ordered", column="s")],
    "hierarchical": lambda: [KAnonymity(2), TCloseness(0.3, "hierarchical", column="s")],
    "chi2": lambda: [TCloseness(0.3, "chi2", column="s")],
    "nt": lambda: [KAnonymity(2), NTCloseness(5, 0.2, column="s")],
    "alpha": lambda: [AlphaKAnonymity(0.6, 2, column="s")],
    "two": lambda: [KAnonymity(2), LDiversity(2, column="s"), TCloseness(0.5, column="u")],
}


def random_tree(rng, name):
    """A tree of height 1 to 3, balanced or not; sometimes levels come from rows."""
    number = iter(range(1000))

    def grow(depth):
        if depth == 0 or (depth < 3 and rng.random() < 0.25):
            return None
        return {f"{name}{next(number)}": grow(depth - 1) for _ in range(rng.randint(1, 3))}

    return Hierarchy.from_tree(name, {"*": grow(rng.randint(1, 3)) or [f"{name}x"]})


def random_domain(rng, name):
    weight = rng.choice([1.0, 1.0, 0.5, 3.0])
    kind = rng.choice(["tree", "tree", "tree", "inner", "line", "ladder"])
    if kind in ("line", "ladder"):
        values = sorted(rng.sample(range(1, 13), rng.randint(1, 5)))
        ladder = None
        if kind == "ladder":
            rows = [(str(v), f"[{(v - 1) // 3}]", f"<{(v - 1) // 6}>", "*") for v in range(1, 13)]
            rng.shuffle(rows)
            ladder = Hierarchy.from_rows(name, rows)
        labels = [str(v) for v in values]
        if ladder is None and rng.random() < 0.4:
            return line_domain(name, Kind.NUMERIC, [None, *labels], [float("nan"), *values],
                               weight=weight)  # fmt: skip
        return line_domain(name, Kind.NUMERIC, labels, values, ladder=ladder, weight=weight)
    tree = random_tree(rng, name)
    nodes = tree.leaves if kind == "tree" else range(len(tree) - 1)
    nodes = list(nodes) or [tree.root]
    chosen = rng.sample(nodes, min(len(nodes), rng.randint(1, 6)))
    values = [tree.labels[node] for node in chosen]
    return tree_domain(
        name, Kind.CATEGORICAL, values, tree, missing=rng.random() < 0.2, weight=weight
    )


def random_case(seed, promise, limit):
    """Return a space, the models, and the naive twin."""
    rng = random.Random(seed)
    domains = tuple(random_domain(rng, name) for name in "abc"[: rng.randint(1, 3)])
    tree = Hierarchy.from_tree("s", {"*": {"g": ["p", "q"], "h": ["r"]}})
    s = tree_domain("s", Kind.CATEGORICAL, ["p", "q", "r"], tree, missing=False, weight=1.0)
    u = line_domain("u", Kind.NUMERIC, ["1", "2"], [1.0, 2.0])
    count = rng.randint(1, 30)
    skew = rng.choice([1, 3])
    records = [
        (
            tuple(min(rng.randrange(len(d)) for _ in range(skew)) for d in domains),
            (rng.randrange(3), rng.randrange(2)),
        )
        for _ in range(count)
    ]
    models = PROMISES[promise]()
    table = from_codes(
        domains,
        np.array([record[0] for record in records], dtype=np.int32).reshape(count, -1),
        np.ones(count, dtype=np.int64),
        sensitive_domains=(s, u),
        sensitive=np.array([record[1] for record in records], dtype=np.int32),
    )
    space = space_of(table)
    columns = [
        Column(
            ladder.tree,
            [int(ladder.nodes[0][c]) for c in ladder.codes[0]],
            ladder.domain.weight,
        )
        for ladder in space.ladders
    ]
    naive = Naive(columns, records, sensitive=(s, u), models=models, limit=limit)
    return space, models, naive


def people(ages, sexes, diagnoses=None):
    """Return a small table of ages by tens and of sexes, and of diagnoses where there are some."""
    rows = [(str(a), f"{a // 10 * 10}s", "*") for a in range(20, 60)]
    age = line_domain(
        "age", Kind.NUMERIC, [str(a) for a in range(20, 60)], [float(a) for a in range(20, 60)],
        ladder=Hierarchy.from_rows("age", rows),
    )  # fmt: skip
    sex = tree_domain(
        "sex", Kind.CATEGORICAL, ["f", "m"], Hierarchy.flat("sex", ["f", "m"]), missing=False,
        weight=1.0,
    )  # fmt: skip
    codes = np.array([(a - 20, "fm".index(s)) for a, s in zip(ages, sexes, strict=True)])
    counts = np.ones(len(ages), dtype=np.int64)
    if diagnoses is None:
        return from_codes((age, sex), codes.astype(np.int32), counts)
    names = ["asthma", "flu", "gout"]
    diagnosis = tree_domain(
        "diagnosis", Kind.CATEGORICAL, names, Hierarchy.flat("diagnosis", names), missing=False,
        weight=1.0,
    )  # fmt: skip
    spread = np.array([[names.index(d)] for d in diagnoses], dtype=np.int32)
    return from_codes(
        (age, sex), codes.astype(np.int32), counts, sensitive_domains=(diagnosis,), sensitive=spread
    )
