"""From domains and privacy models to the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.core.privacy import (
    AlphaKAnonymity,
    KAnonymity,
    LDiversity,
    NTCloseness,
    PrivacyModel,
    TCloseness,
)
from shoal.kernels import axes as ax
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable

_DISTANCES = {
    "equal": ax.EQUAL,
    "ordered": ax.ORDERED,
    "hierarchical": ax.HIERARCHICAL,
    "chi2": ax.CHI2,
}
_DIVERSITIES = {"distinct": ax.DISTINCT, "entropy": ax.ENTROPY, "recursive": ax.RECURSIVE}


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


def promise_of(models: Sequence[PrivacyModel], table: FrequencyTable) -> ax.Promise:
    """Return the promise as flat arrays; `models` name their columns (see `privacy.expand`)."""
    names = [domain.name for domain in table.sensitive_domains]
    spread = [m for m in models if not isinstance(m, KAnonymity)]
    sizes = [len(domain) for domain in table.sensitive_domains]
    trees = [domain.ladder for domain in table.sensitive_domains]
    widest = max(sizes, default=0)
    rows = [_row(model) for model in spread]
    marked = np.ones((len(spread), widest), dtype=np.bool_)
    for m, model in enumerate(spread):
        if isinstance(model, AlphaKAnonymity) and model.values is not None:
            domain = table.sensitive_domains[names.index(str(model.column))]
            named = model if domain.scale is None else domain.scale.named(model)
            wanted = named.values or ()
            marked[m, : len(domain)] = [label in wanted for label in domain.labels]
    nodes = [
        d.ladder_nodes() if d.ladder is not None else np.zeros(len(d))
        for d in table.sensitive_domains
    ]
    heights = [np.asarray(t.heights) / max(t.height, 1) for t in trees if t is not None]
    return ax.Promise(
        k=max((m.k for m in models if isinstance(m, (KAnonymity, AlphaKAnonymity))), default=1),
        kind=np.array([row[0] for row in rows], dtype=np.int32),
        column=np.array([names.index(str(m.column)) for m in spread], dtype=np.int32),
        first_number=np.array([row[1] for row in rows], dtype=np.float64),
        second_number=np.array([row[2] for row in rows], dtype=np.float64),
        distance=np.array([row[3] for row in rows], dtype=np.int32),
        start=_starts(sizes),
        reference=_joined([table.reference(s) for s in range(len(names))], np.int64),
        node=_joined(nodes, np.int32),
        tree_start=_starts([0 if t is None else len(t) for t in trees]),
        tree_parent=_joined([t.parents for t in trees if t is not None], np.int32),
        tree_height=_joined(heights, np.float64),
        marked=marked,
    )


def _row(model: PrivacyModel) -> tuple[int, float, float, int]:
    if isinstance(model, LDiversity):
        return _DIVERSITIES[model.kind], float(model.l), float(model.c or 0.0), 0
    if isinstance(model, TCloseness):
        return ax.CLOSENESS, model.t, 0.0, _DISTANCES[model.distance]
    if isinstance(model, NTCloseness):
        return ax.NT_CLOSENESS, model.t, float(model.n), _DISTANCES[model.distance]
    if isinstance(model, AlphaKAnonymity):
        return ax.ALPHA, model.alpha, 0.0, 0
    raise TypeError(f"no kernel for {type(model).__name__}")


def _starts(sizes: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def _joined(pieces: Sequence[object], dtype: type) -> np.ndarray[tuple[int], np.dtype]:
    if not pieces:
        return np.zeros(0, dtype=dtype)
    return np.concatenate([np.asarray(piece, dtype=dtype) for piece in pieces])
