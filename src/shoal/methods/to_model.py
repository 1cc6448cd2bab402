"""From a recoding to a model: released cells only, each class shared by enough records.

What a class releases is kept, what it was made from is not: a cell is a label and the
values that this label covers, as the schema, a rule or the label itself says. Where
labels overlap, the finest class that covers a record is preferred; the classes are then
tried on the training records, and one that would not keep the promise so is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.build import Dates, Intervals, Mask, Order, TopBottom
from shoal.hierarchies.tree import Hierarchy
from shoal.model.batch import EACH, Histogram, Judge, ReleasedTuple, assign_classes
from shoal.model.cells import date_cell, interval_cell, mask_of, masked_cell, order_cell
from shoal.model.coverage import precompute_coverage
from shoal.model.document_types import Cell, MaskRule
from shoal.model.model import ModelColumn, RecodingModel
from shoal.model.runtime import Encoder
from shoal.schema.schema import Attribute, Kind, Schema
from shoal.table.domain import Domain
from shoal.table.frequency import NOBODY, ONCE, FrequencyTable
from shoal.table.recoding import Recoding

_LINES = {Kind.NUMERIC: "number", Kind.DATE: "date", Kind.ORDINAL: "rank"}
# Settles the training records in the classes of a draft: the records of each, and those of none.
Trial = Callable[[RecodingModel], tuple[Mapping[ReleasedTuple, int], int]]


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
    draft = _with_regions(draft, [[column[i] for column in cells] for i in order], counts=None)
    sizes, lost = _tried(draft, recoding) if trial is None else trial(draft)
    return _with_training_counts(draft, sizes, lost)


def _with_regions(
    model: RecodingModel, regions: list[list[Cell]], *, counts: tuple[int, ...] | None
) -> RecodingModel:
    """Return the model with these regions; a cell that several share is kept once."""
    columns, places = [], []
    for j, column in enumerate(model.columns):
        found: dict[tuple[tuple[str, object], ...], int] = {}
        keys = [_key(region[j]) for region in regions]
        places.append([found.setdefault(key, len(found)) for key in keys])
        first: dict[int, Cell] = {}
        for place, region in zip(places[-1], regions, strict=True):
            first.setdefault(place, region[j])
        columns.append(replace(column, cells=tuple(first[i] for i in range(len(found)))))
    numbers = tuple(zip(*places, strict=True)) if regions else ()
    return replace(model, columns=tuple(columns), regions=numbers, counts=counts)


def _key(cell: Cell) -> tuple[tuple[str, object], ...]:
    return tuple(sorted((k, tuple(v) if isinstance(v, list) else v) for k, v in cell.items()))


def _with_centroids(
    cells: list[list[Cell]], released: Sequence[Sequence[str | None]]
) -> list[list[Cell]]:
    found = []
    for j, column in enumerate(cells):
        new = []
        for cell, row in zip(column, released, strict=True):
            label = row[j]
            new.append(cell if label is None else {**cell, "label": label})
        found.append(new)
    return found


def _preference(recoding: Recoding, cells: list[list[Cell]]) -> list[int]:
    """Return the classes, the finest first; equals by their cells, so that no search decides."""
    total: NDArray[np.float64] = np.zeros(recoding.classes)
    for j, domain in enumerate(recoding.table.domains):
        if recoding.node is not None and domain.ladder is not None:
            height = max(domain.ladder.height, 1)
            costs = np.array(domain.ladder.heights)[recoding.node[:, j]] / height
        else:
            runs = recoding.low[:, j].astype(np.int64) << 32 | recoding.high[:, j]
            distinct, where = np.unique(runs, return_inverse=True)
            each = [domain.cost(int(run >> 32), int(run & 0xFFFFFFFF)) for run in distinct]
            costs = np.array(each)[where]
        total += costs * domain.weight
    texts = [repr([_key(column[i]) for column in cells]) for i in range(recoding.classes)]
    # Sums of floats in another order differ in their last bits; equals must stay equals.
    return sorted(range(recoding.classes), key=lambda i: (round(float(total[i]), 9), texts[i]))


def _tried(draft: RecodingModel, recoding: Recoding) -> tuple[Mapping[ReleasedTuple, int], int]:
    """Try a model on its training records: how many are in each class in the end."""
    judge = Judge.of(draft.schema, draft.schema.privacy)
    tuples, spreads = _training(recoding, judge)
    encoder = Encoder(draft.to_document(), "suppress")
    precompute_coverage(encoder)
    released = assign_classes(encoder, tuples, spreads, judge=judge)
    sizes: Counter[ReleasedTuple] = Counter()
    lost = 0
    for label, spread in zip(released, spreads, strict=True):
        if label is None:
            lost += sum(spread.values())
        else:
            sizes[label] += sum(spread.values())
    return sizes, lost


def _with_training_counts(
    draft: RecodingModel, sizes: Mapping[ReleasedTuple, int], lost: int
) -> RecodingModel:
    """Keep the classes that training records are in."""
    left = dict(sizes)
    kept, counts = [], []
    for region, label in zip(draft.regions, draft.tuples(), strict=True):
        if left.get(label):
            cells = [c.cells[i].copy() for c, i in zip(draft.columns, region, strict=True)]
            kept.append(cells)
            counts.append(left.pop(label))
    return replace(_with_regions(draft, kept, counts=tuple(counts)), suppressed=lost)


def _training(
    recoding: Recoding, judge: Judge
) -> tuple[list[tuple[str | None, ...]], list[Histogram]]:
    """Return the distinct training tuples as texts, and the sensitive values of each."""
    table = recoding.table
    starts = np.flatnonzero(np.diff(table.tuple_ids, prepend=-1))
    columns = [
        [domain.labels[code] for code in table.codes[starts, j].tolist()]
        for j, domain in enumerate(table.domains)
    ]
    names = [domain.name for domain in table.sensitive_domains]
    wanted = [names.index(name) for name in judge.columns]
    spreads: list[Counter[tuple[str | None, ...]]] = [Counter() for _ in starts]
    values: list[list[str | None]] = [
        [table.sensitive_domains[i].labels[code] for code in table.sensitive[:, i].tolist()]
        for i in wanted
    ]
    if judge.persons:
        values.append(_who(table))
    rows = zip(*values, strict=True) if values else ((),) * table.rows
    for number, texts, records in zip(
        table.tuple_ids.tolist(), rows, table.counts.tolist(), strict=True
    ):
        spreads[number][texts] += records
    return list(zip(*columns, strict=True)), list(spreads)


def _who(table: FrequencyTable) -> list[str | None]:
    """Return the person of each row as a judge reads it."""
    if table.persons is None:  # nobody has two records
        return [EACH] * table.rows
    special: dict[int, str | None] = {int(ONCE): EACH, int(NOBODY): None}
    return [special.get(who, str(who)) for who in table.persons.tolist()]


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

    def cells(self, recoding: Recoding, j: int) -> list[Cell]:
        """Return the cell of each class."""
        known: dict[tuple[int, int], Cell] = {}
        found = []
        keys = zip(recoding.low[:, j].tolist(), recoding.high[:, j].tolist(), strict=True)
        for number, (low, high) in enumerate(keys):
            if recoding.node is not None:
                node = int(recoding.node[number, j])
                if (node, -1) not in known:
                    known[node, -1] = self._of_node(node, low)
                found.append(known[node, -1])
                continue
            if (low, high) not in known:
                known[low, high] = self._of_run(low, high)
            found.append(known[low, high])
        return found

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
