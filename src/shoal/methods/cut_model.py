"""From the regions of a tree of cuts to a model: each class has the records of its region."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.build import Mask
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.cut_places import Places, line_label
from shoal.methods.cut_tree import Cutting
from shoal.model.cells import mask_of, masked_cell
from shoal.model.document_types import Cell, MaskRule
from shoal.model.model import Cuts, ModelColumn, RecodingModel
from shoal.schema.schema import Attribute, Kind, Schema
from shoal.table.distinct import distinct_rows
from shoal.table.domain import Domain

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LINES = {Kind.NUMERIC: "number", Kind.DATE: "date", Kind.ORDINAL: "rank"}


def model_of_cuts(
    cutting: Cutting,
    schema: Schema,
    *,
    method: str,
    utility: Mapping[str, float | None],
    on_unseen: str = "suppress",
) -> RecodingModel:
    """Return regions as a model.

    Guarantee:
        Encoding the training records puts each into the region that it was counted in.
    """
    recoding = cutting.recoding
    columns, numbers, cells_of = [], [], []
    for j, domain in enumerate(recoding.table.domains):
        made = _Column(domain, schema.attribute(domain.name), cutting.places[j])
        used = sorted({code for column, code in cutting.cuts if column == j})
        boxes = [cutting.low, cutting.high, recoding.low, recoding.high]
        ends, which = distinct_rows([box[:, j] for box in boxes], [len(domain)] * 4)
        column, number, cells = made.column(used, ends.tolist(), which)
        columns.append(column)
        numbers.append(number)
        cells_of.append(cells)
    width = len(columns)
    return RecodingModel(
        method=method,
        schema=schema,
        records=recoding.table.records,
        suppressed=0,
        columns=tuple(columns),
        regions=tuple(zip(*cells_of, strict=True)),
        utility={n: None if v is None or math.isinf(v) else v for n, v in utility.items()},
        counts=tuple(recoding.sizes.tolist()),
        tree={
            "cut": [numbers[j][code] * width + j for j, code in cutting.cuts],
            "left": list(cutting.left),
        },
        on_unseen=on_unseen,
    )


def _as_they_come(numbers: NDArray[np.int32]) -> list[int]:
    """Return the different numbers in the order of their first places."""
    distinct, first = np.unique(numbers, return_index=True)
    found: list[int] = distinct[np.argsort(first)].tolist()
    return found


class _Column:
    """One column on its way into a model."""

    def __init__(self, domain: Domain, attribute: Attribute, places: Places) -> None:
        self.domain, self.rule, self.places = domain, attribute.hierarchy, places
        self.scale = "text" if domain.tree is not None else _LINES.get(domain.kind, "text")
        self.at = dict(zip(places.codes.tolist(), places.at, strict=True))
        self.mask: MaskRule | None = None
        if isinstance(self.rule, Mask):
            self.mask = mask_of(self.rule, [text for text in domain.labels if text is not None])

    def column(
        self, used: Sequence[int], boxes: Sequence[list[int]], which: NDArray[np.int32]
    ) -> tuple[ModelColumn, dict[int, int], list[int]]:
        """Return the column, the number of each cut, and the cell of each region.

        boxes: the codes of regions and of their labels, each once. which: those of each region.
        """
        domain = self.domain
        missing = domain.has_missing
        inner = [code for code in used if not (missing and code == 1)]
        number = {code: place for place, code in enumerate(inner, start=1)}
        end = len(inner) + 1
        if missing:
            number[1] = 0
        known: dict[tuple[object, ...], int] = {}  # the label of a region between two cuts
        variants: dict[tuple[int, int], int] = {}
        cells: list[Cell] = []
        cell_of = np.zeros(len(boxes), dtype=np.int64)
        for at in _as_they_come(which):
            low, high, label_low, label_high = boxes[at]
            label = self._label(label_low, label_high)
            key = (low, high, *sorted(map(str, label.items())))
            if key not in known:
                known[key] = len(cells)
                cut = [number[low] if low else -1, number.get(high + 1, end)]
                variant = variants[low, high] = variants.get((low, high), -1) + 1
                cells.append({"cut": cut, **label})
                if variant:
                    cells[-1]["variant"] = variant
            cell_of[at] = known[key]
        found = cell_of[which].tolist()
        digit = [_DIGITS[cell.get("variant", 0)] for cell in cells]
        is_line = domain.tree is None
        cuts = Cuts(
            at=tuple(self.at[code] for code in inner),
            first=self.places.first if is_line else None,
            last=self.places.last if is_line else None,
            missing=missing,
            variant="".join([digit[cell] for cell in found]) if set(digit) - {"0"} else None,
        )
        column = ModelColumn(
            name=domain.name, scale=self.scale, root=domain.root, cells=tuple(cells),
            mask=self.mask, cuts=cuts,
        )  # fmt: skip
        return column, number, found

    def _label(self, low: int, high: int) -> Cell:
        """Return what a region from one code to another releases."""
        domain = self.domain
        if domain.is_blank:
            return {"any": domain.root}
        if low == 0 and domain.has_missing:
            return {"missing": True} if high == 0 else {"any": domain.root}
        if domain.tree is None:
            return self._line_label(low, high)
        label = domain.label(low, high)
        node = domain.released_node(low, high)
        if node == domain.tree.root and len(domain.tree) > 1:
            return {"any": domain.root}
        if isinstance(self.rule, Hierarchy):
            return {"node": self.rule.index(str(label))}
        if self.mask is None or label in domain.labels:
            return {"value": str(label)}
        return masked_cell(str(domain.labels[high]), str(label), self.mask)

    def _line_label(self, low: int, high: int) -> Cell:
        domain, places = self.domain, self.places
        is_first, is_last = low == domain.has_missing, high == len(domain) - 1
        if is_first and is_last:  # nobody is told apart by it
            return {"any": domain.root}
        assert places.before is not None
        begin = str(places.first if is_first else self.at[low])
        end = str(places.last) if is_last else places.before(str(self.at[high + 1]))
        return {"label": line_label(domain, begin, end)["label"]}
