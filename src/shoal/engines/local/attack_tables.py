"""Tables as attacks read them: classes by their labels, cells, and what values mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.core.numbers import number_label
from shoal.engines.column_facts import dense_codes
from shoal.engines.local.source import Source
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Attribute

ROWS, KEY, CLASS = "\x00rows", "\x00key", "\x00class"
_CLOSE = 0.1  # numbers within a tenth of the range mean nearly the same


@dataclass(frozen=True)
class ReleasedClasses:
    """Released classes: the labels of each column, and each class as numbers of labels."""

    labels: list[list[str | None]]
    codes: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def read(cls, source: Source, quasi: Sequence[str]) -> ReleasedClasses:
        """Read the classes of a release from what is written in it."""
        grouped = source.collect(
            source.scan(quasi, coded=quasi).group_by(list(quasi)).agg(pl.len().alias(ROWS))
        )
        if not grouped.height:
            raise InputError(where=source.where, problem="the table has a header but no record")
        labels, codes = [], np.empty((grouped.height, len(quasi)), dtype=np.int64)
        for j, name in enumerate(quasi):
            texts, codes[:, j] = coded_texts(grouped[name].cast(pl.String))
            labels.append(texts)
        order = np.lexsort(codes.T[::-1])
        return cls(labels, codes[order], grouped[ROWS].to_numpy().astype(np.int64)[order])


def texts_of(names: Sequence[str]) -> list[pl.Expr]:
    """Return the columns as plain texts."""
    return [pl.col(name).cast(pl.String).str.strip_chars().alias(name) for name in names]


def key_of(key: str) -> pl.Expr:
    """Return a column as plain text under the name KEY."""
    return pl.col(key).cast(pl.String).str.strip_chars().alias(KEY)


def coded_texts(series: pl.Series) -> tuple[list[str | None], NDArray[np.int64]]:
    """Return the different texts in order, the missing one first, and the number of each cell."""
    texts: list[str | None] = list(series.drop_nulls().unique().sort().to_list())
    codes = dense_codes(series.cast(pl.String)).astype(np.int64)
    if series.null_count():
        texts.insert(0, None)
        return texts, codes
    return texts, codes - 1


def cells_of(source: Source, quasi: Sequence[str], column: str) -> pl.DataFrame:
    """Count the records of each class and sensitive value; classes are numbered."""
    names = list(dict.fromkeys([*quasi, column]))
    grouped = source.collect(
        source.scan(names, coded=names).group_by(names).agg(pl.len().alias(ROWS))
    )
    texts = grouped.select(*texts_of(quasi), key_of(column), pl.col(ROWS))
    joined = texts.group_by([*quasi, KEY]).agg(pl.col(ROWS).sum()).sort([*quasi, KEY])
    number = joined.select(quasi).unique(maintain_order=True).with_row_index(CLASS)
    return joined.join(number, on=list(quasi), how="left", nulls_equal=True, maintain_order="left")


def meanings(values: list[str | None], attribute: Attribute) -> NDArray[np.int64]:
    """Return the meaning of each value: its parent in the hierarchy, or a tenth of the range."""
    tree = attribute.hierarchy
    if isinstance(tree, Hierarchy):
        nodes = [None if value is None else tree.get(value) for value in values]
        keys: list[object] = [
            value if node is None else ("node", _parent(tree, node))
            for value, node in zip(values, nodes, strict=True)
        ]
    else:
        numbers = [_number(value) for value in values]
        real = [number for number in numbers if number is not None]
        if not real or len(real) < len([v for v in values if v]):
            return np.arange(len(values), dtype=np.int64)
        low = min(real) / 2  # halves: the whole range may be more than a float can be
        width = (max(real) / 2 - low) * _CLOSE or 1.0
        keys = [None if x is None else int((x / 2 - low) / width) for x in numbers]
    seen: dict[object, int] = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)


def _parent(tree: Hierarchy, node: int) -> int:
    """Return the node above a value, but never the root: all values mean something there."""
    above = tree.parents[node]
    return node if above < 0 or above == tree.root else above


def _number(text: str | None) -> float | None:
    """Return a number as columns have it; Python reads `inf`, `nan` and `1_000`, too."""
    label = None if text is None else number_label(text)
    return None if label is None else float(label)
