"""Small linked tables for searches: persons with rows below them, and rows below these."""

from __future__ import annotations

import numpy as np

from shoal.methods.linked.shapes import LinkedCounts
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import join_rows

SIZE = 6
"""Codes of every column: 0 … 5 on a line."""


def counted(codes, above=-1, parent=(), whose=None, sensitive=None, promise=()):
    """Return a table with one quasi-identifier; codes: one a record (None: it has no column)."""
    has_column = not codes or codes[0] is not None
    labels = [str(i) for i in range(SIZE)]
    line = line_domain("q", Kind.NUMERIC, labels, list(range(SIZE)))
    values = line_domain("s", Kind.CATEGORICAL, labels, list(range(SIZE)))
    width = 1 if has_column else 0
    plain = np.array(codes if has_column else [], dtype=np.int32).reshape(len(codes), width)
    kept = np.array(sensitive or [], dtype=np.int32).reshape(len(codes), 1 if sensitive else 0)
    table, row = join_rows(
        (line,) * width, plain, np.ones(len(codes), dtype=np.int64),
        sensitive_domains=(values,) if sensitive else (), sensitive=kept,
        persons=None if whose is None else np.array(whose, dtype=np.int32),
    )  # fmt: skip
    where = np.array(parent if above >= 0 else [-1] * len(codes), dtype=np.int64)
    return LinkedCounts(table, row, above, where, tuple(promise))


def tables_of(people):
    """Return persons, stays and drugs of [(code, [(code, [code, …]), …]), …]."""
    persons, stays, drugs = [], [], []
    for i, (code, own) in enumerate(people):
        persons.append(code)
        for ward, given in own:
            drugs += [(drug, len(stays), i) for drug in given]
            stays.append((ward, i))
    return [
        counted(persons),
        counted([w for w, _ in stays], 0, [i for _, i in stays], [i for _, i in stays]),
        counted([d for d, _, _ in drugs], 1, [s for _, s, _ in drugs], [i for _, _, i in drugs]),
    ]


def shape_of(person):
    """Return how many drugs each stay of a person has, most first."""
    return tuple(sorted((len(drugs) for _, drugs in person[1]), reverse=True))
