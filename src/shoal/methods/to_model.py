"""From a recoding to a model: released cells only, each class shared by enough records.

What a class releases is kept, what it was made from is not: a cell is a label and the
values that this label covers, as the schema, a rule or the label itself says. Where
labels overlap, the finest class that covers a record is preferred; the classes are then
tried on the training records, and one that would not keep the promise so is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.build import Dates, Intervals, Mask, Order, TopBottom
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.trial import sizes_of, try_model
from shoal.model.batch import ReleasedTuple
from shoal.model.cells import date_cell, interval_cell, mask_of, masked_cell, order_cell
from shoal.model.document_types import Cell, MaskRule
from shoal.model.model import ModelColumn, RecodingModel
from shoal.schema.schema import Attribute, Kind, Schema
from shoal.table.domain import Domain
from shoal.table.recoding import Recoding

_LINES = {Kind.NUMERIC: "number", Kind.DATE: "date", Kind.ORDINAL: "rank"}
# Settles the training records in the classes of a draft: the records of each, and those of none.
Trial = Callable[[RecodingModel], tuple[Mapping[ReleasedTuple, int], int]]


class _Cells(NamedTuple):
    """The cells of a column: each once, and which one every class has."""

    distinct: list[Cell]
    where: NDArray[np.int64]

    @classmethod
    def of(cls, cells: Iterable[Cell], where: NDArray[np.int64]) -> _Cells:
        """Return cells, those that are alike as one."""
        number: dict[tuple[tuple[str, object], ...], int] = {}
        distinct: list[Cell] = []
        found = []
        for cell in cells:
            key = _key(cell)
            found.append(number.setdefault(key, len(number)))
            if found[-1] == len(distinct):
                distinct.append(cell)
        return cls(distinct, np.array(found, dtype=np.int64)[where])

    def among(self, classes: NDArray[np.int64]) -> _Cells:
        """Return the cells of some classes, numbered as they come."""
        used, first, where = np.unique(self.where[classes], return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(used), dtype=np.int64)
        rank[order] = np.arange(len(used))
        return _Cells([self.distinct[i] for i in used[order].tolist()], rank[where])


def model_of(
    recoding: Recoding,
    schema: Schema,
    *,
    method: str,
    utility: Mapping[str, float | None],
    on_unseen: str = "suppress",
    released: Sequence[Sequence[str | None]] | None = None,
    trial: Trial | None = None,
) -> RecodingModel:
    """Return a recoding as a model.

    Args:
        recoding: what the search found.
        schema: of the training table, its promise included.
        method: the name of the search.
        utility: measures of the release, to be written into the model.
        on_unseen: what encode does with a record that no class covers.
        released: for each class, the centroid to release instead of the generalized
            tuple; None: the generalized tuple.
        trial: tries the model on the training records where they are; None: on the
            recoding's own table.

    Guarantee:
        Encoding the training records with the model keeps the promise, and every class
        of it is shared by as many of them as the promise asks for.
    """
    columns = [
        _Column.of(domain, schema.attribute(domain.name)) for domain in recoding.table.domains
    ]
    cells = [column.cells(recoding, j) for j, column in enumerate(columns)]
    if released is not None:
        cells = _with_centroids(cells, released)
    order = _preference(recoding, cells)
    levels = recoding.facts.get("levels")
    draft = RecodingModel(
        method=method,
        schema=schema,
        records=recoding.table.records,
        suppressed=0,
        columns=tuple(
            ModelColumn(name=c.name, scale=c.scale, root=c.root, cells=(), mask=c.mask)
            for c in columns
        ),
        regions=(),
        # A model holds numbers or null; a measure without bounds tells an encoder nothing.
        utility={n: None if v is None or math.isinf(v) else v for n, v in utility.items()},
        levels=(
            {n: v for n, v in levels.items() if isinstance(v, int)}
            if isinstance(levels, dict)
            else None
        ),
        on_unseen=on_unseen,
    )
    cells = [column.among(order) for column in cells]
    draft = _with_cells(draft, cells)
    if trial is None:
        records, lost = try_model(draft, recoding, order)
    else:
        sizes, lost = trial(draft)
        records = sizes_of(draft, sizes)
    kept = np.flatnonzero(records)  # the classes that training records are in
    model = _with_cells(draft, [column.among(kept) for column in cells])
    return replace(model, counts=tuple(records[kept].tolist()), suppressed=lost)


def _with_cells(model: RecodingModel, cells: Sequence[_Cells]) -> RecodingModel:
    """Return the model with the classes that have these cells."""
    columns = tuple(
        replace(column, cells=tuple(cell.copy() for cell in own.distinct))
        for column, own in zip(model.columns, cells, strict=True)
    )
    regions = tuple(zip(*(own.where.tolist() for own in cells), strict=True))
    return replace(model, columns=columns, regions=regions)


def _key(cell: Cell) -> tuple[tuple[str, object], ...]:
    return tuple(sorted((k, tuple(v) if isinstance(v, list) else v) for k, v in cell.items()))


def _with_centroids(cells: list[_Cells], released: Sequence[Sequence[str | None]]) -> list[_Cells]:
    found = []
    for column, labels in zip(cells, zip(*released, strict=True), strict=True):
        pairs: dict[tuple[int, str | None], int] = {}
        both = zip(column.where.tolist(), labels, strict=True)
        where = [pairs.setdefault(pair, len(pairs)) for pair in both]
        new = [column.distinct[i].copy() for i, _ in pairs]
        for cell, (_, label) in zip(new, pairs, strict=True):
            if label is not None:
                cell["label"] = label
        found.append(_Cells.of(new, np.array(where, dtype=np.int64)))
    return found


def _preference(recoding: Recoding, cells: list[_Cells]) -> NDArray[np.int64]:
    """Return the classes, the finest first; equals by their cells, so that no search decides."""
    total: NDArray[np.float64] = np.zeros(recoding.classes)
    for j, domain in enumerate(recoding.table.domains):
        if recoding.node is not None and domain.ladder is not None:
            height = max(domain.ladder.height, 1)
            costs = np.array(domain.ladder.heights)[recoding.node[:, j]] / height
        else:
            distinct, where = recoding.distinct_runs(j)
            each = [domain.cost(low, high) for low, high in distinct]
            costs = np.array(each)[where]
        total += costs * domain.weight
    # Sums of floats in another order differ in their last bits; equals must stay equals.
    sums, which = np.unique(total, return_inverse=True)
    keys = [np.array([round(each, 9) for each in sums.tolist()])[which]]
    for column in cells:
        texts = [repr(_key(cell)) for cell in column.distinct]
        rank = np.empty(len(texts), dtype=np.int64)
        rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        keys.append(rank[column.where])
    return np.lexsort(keys[::-1])


@dataclass(frozen=True)
class _Column:
    """One column on its way into a model."""

    name: str
    domain: Domain
    attribute: Attribute
    scale: str
    root: str
    mask: MaskRule | None

    @classmethod
    def of(cls, domain: Domain, attribute: Attribute) -> _Column:
        rule = attribute.hierarchy
        scale = "text"
        if domain.tree is None:
            scale = _LINES.get(domain.kind, "text")
        elif isinstance(rule, (Intervals, TopBottom)):
            scale = "number"
        elif isinstance(rule, Dates):
            scale = "date"
        texts = [label for label in domain.labels if label is not None]
        mask = mask_of(rule, texts) if isinstance(rule, Mask) else None
        return cls(domain.name, domain, attribute, scale, domain.root, mask)

    def cells(self, recoding: Recoding, j: int) -> _Cells:
        """Return the cells of the classes."""
        if recoding.node is None:
            runs, where = recoding.distinct_runs(j)
            return _Cells.of((self._of_run(low, high) for low, high in runs), where)
        nodes, first, where = np.unique(recoding.node[:, j], return_index=True, return_inverse=True)
        pairs = zip(nodes.tolist(), recoding.low[first, j].tolist(), strict=True)
        return _Cells.of((self._of_node(node, low) for node, low in pairs), where)

    def _of_node(self, node: int, code: int) -> Cell:
        ladder = self.domain.ladder
        label = self.domain.ladder_label(node)
        if label is None:
            return {"missing": True}
        assert ladder is not None
        if node == ladder.root and len(ladder) > 1:
            return {"any": label}
        return self._of_label(label, code)

    def _of_run(self, low: int, high: int) -> Cell:
        domain = self.domain
        label = domain.label(low, high)
        if label is None:
            return {"missing": True}
        if domain.is_blank and low != high:
            return {"any": label}
        if domain.tree is not None:
            node = domain.released_node(low, high)
            if node == domain.tree.root and len(domain.tree) > 1:
                return {"any": label}
            return self._of_label(label, high)
        if low == 0 and domain.has_missing:
            return {"any": label}
        if self.scale == "rank" and not self.attribute.order:
            return self._of_ranks(str(domain.labels[low]), str(domain.labels[high]), str(label))
        if low != high and domain.grid is not None:
            span = domain.released_span(low, high)
            return {"low": span.low, "high": span.high, "label": span.label}
        return {"low": domain.labels[low], "high": domain.labels[high]}

    def _of_ranks(self, low: str, high: str, label: str) -> Cell:
        """Return the cell of a run in an order that only the hierarchy or its rule knows."""
        rule = self.attribute.hierarchy
        if isinstance(rule, Hierarchy):
            return {"low": low, "high": high}
        known = [str(v) for v in rule.order] if isinstance(rule, Order) and rule.order else []
        between = known[known.index(low) : known.index(high) + 1] if known else []
        # Without a declared order only the two ends may be named: what stands between was data.
        return {"values": between or list(dict.fromkeys((low, high))), "label": label}

    def _of_label(self, label: str, code: int) -> Cell:
        """Return the cell of a label below the root; `code` is a value that it covers."""
        rule = self.attribute.hierarchy
        if isinstance(rule, Hierarchy):
            return {"node": rule.index(label)}
        if label in self.domain.labels:
            if self.scale == "text":
                return {"value": label}
            if self.scale == "rank" and not self.attribute.order:
                return {"value": label}
            return {"low": label, "high": label}
        if isinstance(rule, (Intervals, TopBottom)):
            return interval_cell(label)
        if isinstance(rule, Dates):
            return date_cell(label)
        if isinstance(rule, Order):
            return order_cell(rule, label, self.domain.labels, scale=self.scale)
        assert self.mask is not None
        return masked_cell(str(self.domain.labels[code]), label, self.mask)
