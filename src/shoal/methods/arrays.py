"""From domains and privacy models to the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.hierarchies.tree import Hierarchy
from shoal.kernels import axes as ax
from shoal.kernels.plain import PlainJudge
from shoal.methods.sensitive import named, sensitive_column
from shoal.privacy import Needs, Promise
from shoal.privacy.compiled import Compiled, Measure
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable

Number = TypeVar("Number", bound=np.generic)


def axes_of(domains: Sequence[Domain]) -> ax.Axes:
    """Return the columns as flat arrays."""
    trees = [domain.tree for domain in domains]
    tree_start, parent, height = _flat_trees(trees)
    return ax.Axes(
        is_tree=np.array([tree is not None for tree in trees], dtype=np.bool_),
        has_missing=np.array([d.has_missing for d in domains], dtype=np.bool_),
        span=np.array([d.span if d.tree is None and d.span > 0 else 1.0 for d in domains]),
        weight=np.array([d.weight for d in domains]),
        start=_starts([len(d) for d in domains]),
        position=_joined([d.position for d in domains], np.float64),
        tree_start=tree_start,
        first=_joined([tree.first for tree in trees if tree is not None], np.int32),
        parent=parent,
        height=height,
    )


def promise_of(models: Sequence[Promise], table: FrequencyTable) -> ax.PromiseArrays:
    """Return the promise as flat arrays; `models` name their columns (see `privacy.expand`)."""
    domains = table.sensitive_domains
    names = [domain.name for domain in domains]
    spread = [m for m in models if m.needs != Needs.SIZE]
    columns = [names.index(str(m.column)) for m in spread]
    judged = [named(m, domains[s]) for m, s in zip(spread, columns, strict=True)]
    rows = [model.compiled() or Compiled(Measure.PLAIN) for model in judged]
    nodes = [np.zeros(len(d)) if d.ladder is None else d.ladder_nodes() for d in domains]
    tree_start, tree_parent, tree_height = _flat_trees([domain.ladder for domain in domains])
    return ax.PromiseArrays(
        k=max((m.least_records for m in models), default=1),
        kind=np.array([row.measure for row in rows], dtype=np.int32),
        column=np.array(columns, dtype=np.int32),
        first_number=np.array([row.first for row in rows], dtype=np.float64),
        second_number=np.array([row.second for row in rows], dtype=np.float64),
        distance=np.array([row.distance for row in rows], dtype=np.int32),
        start=_starts([len(domain) for domain in domains]),
        reference=_joined([table.reference(s) for s in range(len(names))], np.int64),
        node=_joined(nodes, np.int32),
        tree_start=tree_start,
        tree_parent=tree_parent,
        tree_height=tree_height,
        marked=_marked(rows, columns, domains),
        plain=tuple(_plain_judge(*each, table) for each in zip(judged, rows, columns, strict=True)),
    )


def _marked(
    rows: Sequence[Compiled], columns: Sequence[int], domains: Sequence[Domain]
) -> NDArray[np.bool_]:
    """Return, for each promise, the values that it speaks of: all, unless it names some."""
    marked = np.ones((len(rows), max((len(d) for d in domains), default=0)), dtype=np.bool_)
    for m, (row, column) in enumerate(zip(rows, columns, strict=True)):
        if row.values is not None:
            labels = domains[column].labels
            marked[m, : len(labels)] = [label in row.values for label in labels]
    return marked


def _plain_judge(
    promise: Promise, row: Compiled, column: int, table: FrequencyTable
) -> PlainJudge | None:
    """Return the judge of a promise that has no compiled form."""
    if row.measure != Measure.PLAIN:
        return None
    return PlainJudge(
        promise, *sensitive_column(table.sensitive_domains[column], table.reference(column))
    )


def _flat_trees(
    trees: Sequence[Hierarchy | None],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return where each tree begins, the parents of its nodes, and their share of its height."""
    known = [tree for tree in trees if tree is not None]
    heights = [np.asarray(tree.heights) / max(tree.height, 1) for tree in known]
    return (
        _starts([0 if tree is None else len(tree) for tree in trees]),
        _joined([tree.parents for tree in known], np.int32),
        _joined(heights, np.float64),
    )


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def _joined(arrays: Sequence[ArrayLike], dtype: type[Number]) -> NDArray[Number]:
    return np.concatenate([np.zeros(0, dtype), *(np.asarray(each, dtype) for each in arrays)])
