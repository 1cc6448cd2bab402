"""Small tables for the clustering tests, and the naive check that every release must pass."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import from_codes, join_rows

TREE = Hierarchy.from_rows(
    "place",
    [("a", "ab", "abc", "*"), ("b", "ab", "abc", "*"), ("c", "c1", "abc", "*"),
     ("d", "de", "def", "*"), ("e", "de", "def", "*"), ("f", "f1", "def", "*")],
)  # fmt: skip
FLAT = Hierarchy.flat("sex", ["m", "f", "x"])


def domains(missing=False):
    numbers = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0]
    labels = [str(int(x)) for x in numbers]
    line = line_domain(
        "age", Kind.NUMERIC, [None, *labels] if missing else labels,
        [np.nan, *numbers] if missing else numbers,
    )  # fmt: skip
    place = tree_domain("place", Kind.CATEGORICAL, list("abcdef"), TREE, missing=False, weight=1.0)
    sex = tree_domain("sex", Kind.CATEGORICAL, ["m", "f", "x"], FLAT, missing=missing, weight=1.0)
    return line, place, sex


def disease():
    return tree_domain(
        "disease", Kind.CATEGORICAL, ["flu", "hiv", "cold"],
        Hierarchy.flat("disease", ["flu", "hiv", "cold"]), missing=False, weight=1.0,
    )  # fmt: skip


@st.composite
def tables(draw, most=24, sensitive=False, missing=False):
    columns = domains(missing)
    n = draw(st.integers(1, most))
    cells = [draw(st.lists(st.integers(0, len(d) - 1), min_size=n, max_size=n)) for d in columns]
    codes = np.array(cells, dtype=np.int32).T.reshape(n, len(columns))
    counts = np.array(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)), dtype=np.int64)
    if not sensitive:
        return from_codes(columns, codes, counts)
    values = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return from_codes(
        columns, codes, counts, sensitive_domains=(disease(),),
        sensitive=np.array(values, dtype=np.int32).reshape(n, 1),
    )  # fmt: skip


@st.composite
def of_persons(draw, most=24, sensitive=False):
    """Draw a table in which 0 … 5 have several records, -1 is somebody with one, -2 nobody."""
    columns = domains()
    n = draw(st.integers(1, most))
    cells = [draw(st.lists(st.integers(0, len(d) - 1), min_size=n, max_size=n)) for d in columns]
    values = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    persons = draw(st.lists(st.sampled_from([*range(6), -1, -1, -1, -2]), min_size=n, max_size=n))
    return join_rows(
        columns,
        np.array(cells, dtype=np.int32).T.reshape(n, len(columns)),
        np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=np.int64),
        sensitive_domains=(disease(),) if sensitive else (),
        sensitive=np.array(values, dtype=np.int32).reshape(n, 1)[:, : int(sensitive)],
        persons=np.array(persons, dtype=np.int32),
    )[0]


def people_in(table, row, label, count):
    """Return the persons of each cluster; who has one record gets a name of their own."""
    found = {int(group): set() for group in label}
    for r, group, c in zip(row, label, count, strict=True):
        who = int(table.persons[r])
        if who >= 0:
            found[int(group)].add(who)
        elif who == -1:
            known = sum(1 for each in found[int(group)] if isinstance(each, tuple))
            found[int(group)] |= {(int(r), known + i) for i in range(int(c))}
    return found


def records(table):
    """Return each record's codes and its row."""
    rows = np.repeat(np.arange(table.rows), table.counts)
    return [tuple(int(c) for c in table.codes[r]) for r in rows], [int(r) for r in rows]


def groups_of(clusters, rows):
    """Return clusters as a sorted list of sorted row lists: equal records are the same."""
    return sorted(sorted(rows[m] for m in cluster) for cluster in clusters)


def groups_of_members(row, label, count):
    found = {}
    for r, group, c in zip(row, label, count, strict=True):
        found.setdefault(int(group), []).extend([int(r)] * int(c))
    return sorted(sorted(members) for members in found.values())


def check_release(recoding, k, values=None):
    """Check a recoding without the code that made it; values: distinct sensitive ones needed."""
    table = recoding.table
    given = {}
    for r, c in zip(recoding.row, recoding.count, strict=True):
        assert c > 0
        given[int(r)] = given.get(int(r), 0) + int(c)
    assert given == {r: int(c) for r, c in enumerate(table.counts)}
    classes = {}
    for r, group, c in zip(recoding.row, recoding.label, recoding.count, strict=True):
        if group >= 0:
            assert (recoding.low[group] <= table.codes[r]).all()
            assert (table.codes[r] <= recoding.high[group]).all()
            classes.setdefault(int(group), []).append((int(r), int(c)))
    shown = {}
    for group, members in classes.items():
        label = tuple(recoding.labels(j)[group] for j in range(len(table.domains)))
        shown.setdefault(label, []).extend(members)
    for members in shown.values():
        assert sum(c for _, c in members) >= k
        if values is not None:
            assert len({int(table.sensitive[r, 0]) for r, _ in members}) >= values
