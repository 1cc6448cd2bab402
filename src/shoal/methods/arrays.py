"""From domains and privacy models to the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.kernels import axes as ax
from shoal.kernels.plain import PlainJudge
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable
from shoal.methods.sensitive import named, sensitive_column
from shoal.privacy import Needs, Promise
from shoal.privacy.compiled import Compiled, Measure


def axes_of(domains: Sequence[Domain]) -> ax.Axes:
    """Return the columns as flat arrays."""
    trees = [domain.tree for domain in domains]
    first = [t.first for t in trees if t is not None]
    parent = [t.parents for t in trees if t is not None]
    heights = [np.asarray(t.heights) / max(t.height, 1) for t in trees if t is not None]
    return ax.Axes(
        is_tree=np.array([t is not None for t in trees], dtype=np.bool_),
        has_missing=np.array([d.has_missing for d in domains], dtype=np.bool_),
        span=np.array([d.span if d.tree is None and d.span > 0 else 1.0 for d in domains]),
        weight=np.array([d.weight for d in domains]),
        start=_starts([len(d) for d in domains]),
        position=_joined([d.position for d in domains], np.float64),
        tree_start=_starts([0 if t is None else len(t) for t in trees]),
        first=_joined(first, np.int32),
        parent=_joined(parent, np.int32),
        height=_joined(heights, np.float64),
    )


def promise_of(models: Sequence[Promise], table: FrequencyTable) -> ax.PromiseArrays:
    """Return the promise as flat arrays; `models` name their columns (see `privacy.expand`)."""
    domains = table.sensitive_domains
    names = [domain.name for domain in domains]
    spread = [m for m in models if m.needs != Needs.SIZE]
    columns = [names.index(str(m.column)) for m in spread]
    judged = [named(m, domains[s]) for m, s in zip(spread, columns, strict=True)]
    rows = [model.compiled() or Compiled(Measure.PLAIN) for model in judged]
    sizes = [len(domain) for domain in domains]
    trees = [domain.ladder for domain in domains]
    nodes = [np.zeros(len(d)) if d.ladder is None else d.ladder_nodes() for d in domains]
    heights = [np.asarray(t.heights) / max(t.height, 1) for t in trees if t is not None]
    marked = np.ones((len(spread), max(sizes, default=0)), dtype=np.bool_)
    plain: list[PlainJudge | None] = [None] * len(spread)
    for m, (row, column) in enumerate(zip(rows, columns, strict=True)):
        if row.values is not None:
            labels = domains[column].labels
            marked[m, : len(labels)] = [label in row.values for label in labels]
        if row.measure == Measure.PLAIN:
            seen = sensitive_column(domains[column], table.reference(column))
            plain[m] = PlainJudge(judged[m], *seen)
    return ax.PromiseArrays(
        k=max((m.least_records for m in models), default=1),
        kind=np.array([row.measure for row in rows], dtype=np.int32),
        column=np.array(columns, dtype=np.int32),
        first_number=np.array([row.first for row in rows], dtype=np.float64),
        second_number=np.array([row.second for row in rows], dtype=np.float64),
        distance=np.array([row.distance for row in rows], dtype=np.int32),
        start=_starts(sizes),
        reference=_joined([table.reference(s) for s in range(len(names))], np.int64),
        node=_joined(nodes, np.int32),
        tree_start=_starts([0 if t is None else len(t) for t in trees]),
        tree_parent=_joined([t.parents for t in trees if t is not None], np.int32),
        tree_height=_joined(heights, np.float64),
        marked=marked,
        plain=tuple(plain),
    )


def _starts(sizes: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def _joined(pieces: Sequence[object], dtype: type) -> np.ndarray[tuple[int], np.dtype]:
    if not pieces:
        return np.zeros(0, dtype=dtype)
    return np.concatenate([np.asarray(piece, dtype=dtype) for piece in pieces])
