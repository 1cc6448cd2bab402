"""Measuring a release by its counted cells, against what is known of the table it came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.core.errors import InputError
from shoal.engines.coding import Coder, coder_of, with_codes, with_kinds
from shoal.measures.cells import costs_of_labels, leaves
from shoal.measures.fidelity.fidelity import Released, fidelity_of
from shoal.measures.labels import label_diversity
from shoal.measures.utility import Grouping, column_diversity, column_losses, utility_of
from shoal.reports.release import written
from shoal.schema.schema import Schema
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable

ROWS = "\x00rows"
_CLASS = "\x00class"


@dataclass(frozen=True, kw_only=True)
class ReleasedCells:
    """A release as an engine counts it, and what is known of the original.

    Attributes:
        cells: returns the distinct rows of some columns and the records (ROWS) of each.
        records: records of the original.
        domains: its quasi-identifiers.
        sensitive: its sensitive columns, as far as they are released.
        table: its frequency table, where that is on this machine: fidelity needs it.
    """

    where: str
    columns: Sequence[str]
    cells: Callable[[Sequence[str]], pl.DataFrame]
    records: int
    domains: tuple[Domain, ...]
    sensitive: Mapping[str, Domain]
    table: FrequencyTable | None = None

    def measured(self, schema: Schema, *, starred: bool | None) -> Document:
        """Return the document of `shoal metrics`."""
        quasi = list(schema.quasi)
        classes = self._texts(self.cells(quasi), quasi).sort(quasi)  # sums in a fixed order
        is_root = _all_root(classes, {d.name: d.root for d in self.domains})
        stars = 0 if starred is False else int(classes.filter(is_root)[ROWS].sum())
        if stars:
            classes = classes.filter(~is_root)
        sizes = classes[ROWS].to_numpy().astype(np.int64)
        suppressed = self.records - int(sizes.sum())
        if suppressed < stars:
            raise InputError(
                where=self.where, problem="has more records than the original; is it another table?"
            )
        grouping = self._grouping(schema, classes, sizes, suppressed)
        utility = utility_of(grouping)
        fidelity = self._fidelity(classes, sizes)
        text = (
            f"{stars} records are the root in every quasi-identifier and count as suppressed "
            "(--suppressed remove counts them as a class)"
        )
        return {
            "records": self.records,
            "released": int(sizes.sum()) + stars,
            "suppressed": suppressed,
            "classes": len(sizes),
            "smallest_class": int(sizes.min()) if len(sizes) else 0,
            "utility": {**written(utility)},
            "notes": {
                **{name: why for name, why in _NOTES.items() if utility[name] is None},
                "usefulness": _USEFULNESS,
                **({} if self.table is not None else {"fidelity": _ON_A_CLUSTER}),
            },
            "fidelity": fidelity,
            "column_loss": {**column_losses(grouping, schema.quasi)},
            "notices": [text] if stars and starred is None else [],
        }

    def _fidelity(self, classes: pl.DataFrame, sizes: NDArray[np.int64]) -> Document | None:
        if self.table is None:
            return None
        labels = [_distinct(classes[domain.name]) for domain in self.domains]
        return fidelity_of(self.table, Released(labels, sizes))

    def _grouping(
        self, schema: Schema, classes: pl.DataFrame, sizes: NDArray[np.int64], suppressed: int
    ) -> Grouping:
        shape = (len(sizes), len(self.domains))
        height, level, cover = (np.empty(shape) for _ in range(3))
        diversity = np.zeros(len(sizes))
        for j, domain in enumerate(self.domains):
            texts, where = _distinct(classes[domain.name])
            costs = np.array(costs_of_labels(domain, texts)).reshape(-1, 3)
            height[:, j], level[:, j], cover[:, j] = costs[where].T
            diversity += label_diversity(domain, texts)[where]
        keys = classes.select(schema.quasi).with_row_index(_CLASS)
        target = schema.target or (schema.sensitive[0] if schema.sensitive else None)
        return Grouping(
            records=self.records,
            suppressed=suppressed,
            sizes=sizes,
            height=height,
            level=level,
            cover=cover,
            leaves=np.array([leaves(domain) for domain in self.domains], dtype=np.int64),
            minority=self._minority(schema, keys, sizes, target),
            diversity=diversity,
            spread=self._spread(schema, keys),
        )

    def _minority(
        self, schema: Schema, keys: pl.DataFrame, sizes: NDArray[np.int64], target: str | None
    ) -> int | None:
        """Count the released records whose target is not their class's commonest one."""
        if target is None or target not in self.columns or target in schema.quasi:
            return None
        label, codes, counts, coder = self._codes(schema, keys, target)
        size = max(len(coder.domain), 1)
        cells, where = np.unique(label * size + codes, return_inverse=True)
        together = np.bincount(where, weights=counts).astype(np.int64)
        majority = np.zeros(len(sizes), dtype=np.int64)
        np.maximum.at(majority, cells // size, together)
        return int(sizes.sum() - majority.sum())

    def _spread(self, schema: Schema, keys: pl.DataFrame) -> NDArray[np.float64] | None:
        """Return the records diversity of each class over the sensitive columns.

        None where one of them is not released, or holds a value that the original does not.
        """
        if not schema.sensitive or len(self.sensitive) < len(schema.sensitive):
            return None
        total = np.zeros(keys.height)
        for name, domain in self.sensitive.items():
            label, codes, _, coder = self._codes(schema, keys, name)
            known = _places(coder.domain, domain)
            if (known < 0).any():
                return None
            total += column_diversity(label, known[codes], domain, classes=keys.height)
        return total

    def _codes(
        self, schema: Schema, keys: pl.DataFrame, name: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], Coder]:
        """Return class, code and records of each distinct value of a column in each class.

        Texts that mean the same value (7 and 7.0) have the same code.
        """
        quasi = list(schema.quasi)
        found = self._texts(self.cells([*quasi, name]), quasi)
        found = found.join(keys, on=quasi, nulls_equal=True)
        texts = with_codes(found.lazy().select(name), [name]).collect()[name]
        # What the original is, where the schema does not say.
        coder = coder_of(texts.unique(), with_kinds(schema, self.sensitive.values()), name)
        label = found[_CLASS].to_numpy().astype(np.int64)
        return label, coder.codes(texts), found[ROWS].to_numpy().astype(np.int64), coder

    def _texts(self, found: pl.DataFrame, quasi: Sequence[str]) -> pl.DataFrame:
        """Return the quasi-identifiers as the texts that are written."""
        return found.with_columns(pl.col(list(quasi)).cast(pl.String))


_USEFULNESS = "at most: of all values that the labels cover"
_ON_A_CLUSTER = "needs the tuples of the table on this machine (--engine local)"
_NOTES = {
    "cm": "needs a target, or a sensitive column in the release",
    "usefulness": "there is no class",
    "protection": "needs the sensitive columns (--sensitive), all of them in the release",
    "sse_loss": "needs centroids; these are labels",
}


def _places(domain: Domain, original: Domain) -> NDArray[np.int64]:
    """Return the code that each value of a released column has in the original; -1 for none."""

    def keys(of: Domain) -> list[object]:
        if of.tree is not None:
            return list(of.labels)
        return [None if t is None else p for t, p in zip(of.labels, of.position, strict=True)]

    place = {key: code for code, key in enumerate(keys(original))}
    return np.array([place.get(key, -1) for key in keys(domain)], dtype=np.int64)


def _distinct(texts: pl.Series) -> tuple[list[str | None], NDArray[np.int64]]:
    """Return the distinct texts of a column, and which of them each row has."""
    known = texts.unique(maintain_order=True)
    ranks = pl.DataFrame({"t": known, "i": range(len(known))})
    found = pl.DataFrame({"t": texts}).join(
        ranks, on="t", how="left", nulls_equal=True, maintain_order="left"
    )
    return known.to_list(), found["i"].to_numpy().astype(np.int64)


def _all_root(classes: pl.DataFrame, roots: dict[str, str]) -> pl.Series:
    flags = [classes[name].cast(pl.String) == root for name, root in roots.items()]
    found = flags[0]
    for flag in flags[1:]:
        found = found & flag
    return found.fill_null(value=False)
