"""Small coded tables for the tests of this folder."""

from __future__ import annotations

from collections import Counter

import numpy as np

from shoal.hierarchies.tree import Hierarchy
from shoal.methods.xk.rows import rows_of
from shoal.schema.schema import Kind
from shoal.table.domain import tree_domain
from shoal.table.frequency import NOBODY, ONCE, join_rows

VALUES = ("a1", "a2", "a3", "b1", "b2")
TREE = [(value, value[0], "*") for value in VALUES]
UP = {value: value[0] for value in VALUES}


def frequency_table(records, *, columns, sensitive=0):
    """Return the frequency table of (quasi-identifiers, sensitive values[, person]) tuples."""
    quasi = [_domain(f"q{j}", [qi[j] for qi, *_ in records], TREE) for j in range(columns)]
    spread = [_domain(f"s{j}", [s[j] for _, s, *_ in records], None) for j in range(sensitive)]
    codes = [[_code(d, qi[j]) for j, d in enumerate(quasi)] for qi, *_ in records]
    hidden = [[_code(d, s[j]) for j, d in enumerate(spread)] for _, s, *_ in records]
    who = [record[2] for record in records if len(record) > 2]
    table, _ = join_rows(
        tuple(quasi),
        np.array(codes, dtype=np.int32).reshape(len(records), columns),
        np.ones(len(records), dtype=np.int64),
        sensitive_domains=tuple(spread),
        sensitive=np.array(hidden, dtype=np.int32).reshape(len(records), sensitive),
        persons=_persons(who) if who else None,
    )
    return table


def _persons(who):
    """Return the code of each record's person; None is nobody."""
    times = Counter(who)
    several = sorted(name for name, n in times.items() if name is not None and n > 1)
    codes = {name: several.index(name) if name in several else ONCE for name in times}
    return np.array([NOBODY if name is None else codes[name] for name in who], dtype=np.int32)


def coded_rows(records, *, columns, sensitive=0):
    """Return the rows of a small table, every column with groups."""
    table = frequency_table(records, columns=columns, sensitive=sensitive)
    return rows_of(table, grouped=[f"q{j}" for j in range(columns)])


def _domain(name, values, tree):
    present = sorted({value for value in values if value is not None})
    if tree is None:
        hierarchy = Hierarchy.flat(name, present or ["?"])
    else:
        hierarchy = Hierarchy.from_rows(name, tree)
    missing = None in values
    return tree_domain(name, Kind.CATEGORICAL, present, hierarchy, missing=missing, weight=1.0)


def _code(domain, value):
    return domain.labels.index(value)
