"""Applying a recoding: records come out in the order of their released values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.schema import Schema
from shoal.engines.local.frequencies import Frequencies
from shoal.engines.local.passes import Stretches
from shoal.engines.local.source import Source
from shoal.methods.recoding import Recoding

# Records that one pass over a table too large for memory holds at a time.
PASS_CELLS = 40_000_000
BATCH = 500_000


class Part(NamedTuple):
    """Released records: each row of `frame` stands `counts` times (None: once)."""

    frame: pl.DataFrame
    counts: NDArray[np.int64] | None

    def whole(self) -> pl.DataFrame:
        """Return the frame with every record in a row of its own."""
        if self.counts is None:
            return self.frame
        return self.frame[np.repeat(np.arange(self.frame.height), self.counts)]


@dataclass(frozen=True)
class Recoder:
    """Turns records into released records.

    Attributes:
        star: release suppressed records with every quasi-identifier as the root
            instead of removing them.
        keep_order: leave the records in the order of the input (a stated choice).
    """

    source: Source
    lazy: pl.LazyFrame
    schema: Schema
    counted: Frequencies
    recoding: Recoding
    star: bool = False
    keep_order: bool = False

    def parts(self) -> Iterator[Part]:
        """Yield the release in parts, each fitting memory, sorted within and across parts."""
        turns = _Turns(self.recoding)
        if self.source.fits_memory():
            batch = self.source.collect(self.lazy)
            yield self._released(batch, self._classes_of(batch, turns))
        elif self.keep_order:
            for batch in self.lazy.collect_batches(chunk_size=BATCH, maintain_order=True):
                yield self._released(batch, self._classes_of(batch, turns))
        else:
            yield from self._stretches()

    def _stretches(self) -> Iterator[Part]:
        """Yield the release of a table that does not fit memory, stretch by stretch."""
        sizes = np.zeros(len(self._rank), dtype=np.int64)
        sizes[self._rank[:-1]] = self.recoding.sizes
        sizes[self._rank[-1]] += self.recoding.suppressed if self.star else 0
        class_at = np.argsort(self._rank)

        def ranked() -> Iterator[tuple[pl.DataFrame, NDArray[np.int64]]]:
            turns = _Turns(self.recoding)
            for batch in self.lazy.collect_batches(chunk_size=BATCH, maintain_order=True):
                labels = self._classes_of(batch, turns)
                if not self.star and self.recoding.suppressed:
                    kept = labels >= 0
                    batch, labels = batch.filter(pl.Series(kept)), labels[kept]
                yield batch, self._rank[labels]

        most = max(PASS_CELLS // max(len(self.columns), 1), 1)
        for frame, rank, counts in Stretches(ranked, self._others, sizes, most).gather():
            order = _text_order(frame, first=rank) if self._others else np.argsort(rank)
            labels = class_at[rank[order]]
            yield Part(self._frame(frame[order] if self._others else frame, labels), counts[order])

    @cached_property
    def _others(self) -> list[str]:
        return [name for name in self.columns if name not in self.schema.quasi]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the released columns, in the table's own order."""
        kept = set(self.schema.released)
        return tuple(name for name in self.source.columns if name in kept)

    @cached_property
    def _labels(self) -> pl.DataFrame:
        """One row a class, and a last one for suppressed records."""
        table = self.recoding.table
        columns = {}
        for j, domain in enumerate(table.domains):
            texts = [*self.recoding.labels(j), domain.root]
            names = pl.Series(sorted({text for text in texts if text is not None}), dtype=pl.String)
            columns[domain.name] = pl.Series(domain.name, texts, dtype=pl.Enum(names))
        return pl.DataFrame(columns)

    @cached_property
    def _rank(self) -> NDArray[np.int64]:
        """The place of each class in the order of the released values; the last: suppressed."""
        order = _text_order(self._labels)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return rank

    def _classes_of(self, batch: pl.DataFrame, turns: _Turns) -> NDArray[np.int64]:
        """Return the class of each record of a batch (-1: suppressed)."""
        rows = self.counted.rows_of(batch)
        labels = turns.whole[rows]
        shared = np.flatnonzero(turns.is_shared[rows])
        if len(shared):
            # Records that agree in everything the search saw are told apart by their
            # other values, so that their order in the input decides nothing.
            order = np.arange(len(shared))
            if self._others and self.source.fits_memory():
                order = _text_order(batch.select(self._others)[shared])
            labels[shared[order]] = turns.deal(rows[shared[order]])
        return labels

    def _released(self, batch: pl.DataFrame, labels: NDArray[np.int64]) -> Part:
        if not self.star and self.recoding.suppressed:
            kept = labels >= 0
            batch, labels = batch.filter(pl.Series(kept)), labels[kept]
        counts = None
        if not self.keep_order:
            order, counts = self._order(batch, labels, self._others)
            labels = labels[order]
            batch = batch.select(self._others)[order] if self._others else batch
        return Part(self._frame(batch, labels), counts)

    def _frame(self, batch: pl.DataFrame, labels: NDArray[np.int64]) -> pl.DataFrame:
        """Put the labels of the classes beside the other columns of the records."""
        recoded = self._labels[np.where(labels < 0, self.recoding.classes, labels)]
        quasi = set(self.schema.quasi)
        return pl.DataFrame(
            [recoded[name] if name in quasi else batch[name] for name in self.columns]
        )

    def _order(
        self, batch: pl.DataFrame, labels: NDArray[np.int64], others: list[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return the order by class, then by every other released value.

        Ranks are packed into one integer as far as they fit: one argsort of
        3,000,000 packed keys takes a sixth of a sort by two columns. Where they fit
        whole and most records are equal, only one record of each run of equal ones is
        named, and beside it the length of the run.
        """
        key = self._rank[labels]
        room = len(self._rank)
        rest: list[str] = []
        for name in others:
            ranks, size = _ranks(batch[name])
            if rest or ranks is None or room * size >= 2**62:
                rest.append(name)
                continue
            key = key * size + ranks
            room *= size
        if rest:
            return _text_order(batch.select(rest), first=key), None
        if room <= 2**22:  # few possible records: count them instead of sorting
            lengths = np.bincount(key, minlength=room)
            some = np.empty(room, dtype=np.int64)
            some[key] = np.arange(len(key))
            present = np.flatnonzero(lengths)
            if 2 * len(present) < len(key):
                return some[present], lengths[present]
        return np.argsort(key, kind="stable"), None


def _text_order(
    frame: pl.DataFrame, *, first: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return the order that sorts a frame by its texts, behind an integer key if there is one."""
    texts = frame.select(pl.all().cast(pl.String))
    if first is not None:
        texts.insert_column(0, pl.Series("\x00key", first))
    order = texts.select(pl.arg_sort_by(texts.columns, nulls_last=False))
    return order.to_series().to_numpy().astype(np.int64)


def _ranks(series: pl.Series) -> tuple[NDArray[np.int64] | None, int]:
    """Return the rank of each value of a dictionary-coded column, the missing one first."""
    if not isinstance(series.dtype, (pl.Categorical, pl.Enum)):
        return None, 0
    physical = series.to_physical()
    distinct = series.unique().drop_nulls()
    if not distinct.len():
        return np.zeros(series.len(), dtype=np.int64), 1
    texts = distinct.cast(pl.String)
    order = texts.arg_sort().to_numpy()
    lookup = np.zeros(int(distinct.to_physical().max()) + 1, dtype=np.int64)  # type: ignore[arg-type]
    lookup[distinct.to_physical().to_numpy()[order]] = np.arange(1, len(order) + 1)
    ranks = lookup[physical.fill_null(0).to_numpy()]
    if physical.null_count():
        ranks[physical.is_null().to_numpy()] = 0
    return ranks, len(order) + 1


class _Turns:
    """Deals the records of a row out to the classes that share the row, in turn."""

    def __init__(self, recoding: Recoding) -> None:
        rows = recoding.table.rows
        pieces = np.bincount(recoding.row, minlength=rows)
        self.first = np.concatenate(([0], np.cumsum(pieces)))
        self.whole = recoding.label[self.first[:-1]]
        self.is_shared = pieces > 1
        self.recoding = recoding
        self.dealt: NDArray[np.int64] = np.zeros(rows, dtype=np.int64)

    def deal(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a class for each record of shared rows, as if drawn from a pile in order."""
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        lengths = np.diff(np.concatenate((starts, [len(ordered)])))
        turn = np.arange(len(ordered)) - np.repeat(starts, lengths) + self.dealt[ordered]
        self.dealt[ordered[starts]] += lengths
        labels = np.empty(len(rows), dtype=np.int64)
        upto = np.cumsum(self.recoding.count)
        base = upto[self.first[ordered]] - self.recoding.count[self.first[ordered]]
        labels[order] = self.recoding.label[np.searchsorted(upto, base + turn, side="right")]
        return labels
