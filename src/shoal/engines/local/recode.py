"""Applying a recoding: records come out in the order of their released values."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.engines.counts import class_labels
from shoal.engines.local.frequencies import Frequencies
from shoal.engines.local.numbering import numbered
from shoal.engines.local.sorting import sort_records
from shoal.engines.local.source import Source
from shoal.engines.person_key import PERSON
from shoal.schema.schema import Kind, Schema
from shoal.table.recoding import Recoding

BATCH = 100_000  # records; Polars reads several such batches ahead
SAMPLE = 10_000  # records that tell whether most values of a column are different


class Chunk(NamedTuple):
    """Released records: each row of `frame` stands `counts` times (None: once)."""

    frame: pl.DataFrame
    counts: NDArray[np.int64] | None

    def whole(self) -> pl.DataFrame:
        """Return the frame with every record in a row of its own."""
        if self.counts is None:
            return self.frame
        return self.frame[np.repeat(np.arange(self.frame.height), self.counts)]

    @property
    def records(self) -> int:
        """Return how many records it stands for."""
        return self.frame.height if self.counts is None else int(self.counts.sum())

    def slices(self, rows: int) -> Iterator[Chunk]:
        """Yield it in slices of so many rows; one, if it is empty."""
        for start in range(0, max(self.frame.height, 1), rows):
            counts = None if self.counts is None else self.counts[start : start + rows]
            yield Chunk(self.frame.slice(start, rows), counts)


@dataclass(frozen=True)
class Recoder:
    """Turns records into released records.

    Attributes:
        star: release suppressed records with every quasi-identifier as the root
            instead of removing them.
        keep_order: leave the records in the order of the input (a stated choice).
        typed: release centroids of numbers as numbers, where the goal has types.
        near: where the release goes; what does not fit memory is sorted beside it.
    """

    source: Source
    lazy: pl.LazyFrame
    schema: Schema
    counted: Frequencies
    recoding: Recoding
    star: bool = False
    keep_order: bool = False
    typed: bool = False
    near: Path | None = None

    @property
    def released(self) -> int:
        """Return how many records will be released."""
        suppressed = self.recoding.suppressed if self.star else 0
        return int(self.recoding.sizes.sum()) + suppressed

    def chunks(self) -> Generator[Chunk, None, None]:
        """Yield the release in chunks, each fitting memory, sorted within and across them."""
        if self.schema.trajectories:  # persons are compared, so all records come together
            released = pl.concat([chunk.whole() for chunk in self._chunks()])
            person = self.schema.person[0]
            yield Chunk(numbered(released, person, keep_order=self.keep_order), None)
        else:
            yield from self._chunks()

    def _chunks(self) -> Generator[Chunk, None, None]:
        if self.source.fits_memory() or self.keep_order:
            turns = _Turns(self.recoding, self._shared_keys)
            for batch in self._batches():
                yield self._released(batch, self._classes_of(batch, turns))
        else:
            yield from self._sorted()

    def classes(self, column: str) -> Iterator[tuple[NDArray[np.int64], pl.Series]]:
        """Yield, batch by batch, the class of each record and its value of one more column.

        Suppressed records that are released as the root are in a class of their own, the last
        one, or in the class that releases nothing but roots; -1 stands for removed ones.
        """
        turns = _Turns(self.recoding, self._shared_keys)
        root = -1
        if self.star:
            alike = [pl.col(name).eq_missing(pl.col(name).last()) for name in self._labels.columns]
            at_root = self._labels.select(pl.all_horizontal(alike)).to_series()
            root = int(at_root.arg_true()[0])
        for batch in self._batches():
            found = self._classes_of(batch, turns)
            yield np.where(found < 0, root, found), batch[column]

    def released_classes(self) -> Iterator[NDArray[np.int64]]:
        """Yield, batch by batch, the released class of each record; -1: it was removed.

        Classes with the same labels are one class to whoever reads the release.
        """
        alike = self._labels.select(pl.struct(pl.all().cast(pl.String)).rank("dense"))
        number = alike.to_series().to_numpy().astype(np.int64)
        turns = _Turns(self.recoding, self._shared_keys)
        for batch in self._batches():
            found = self._classes_of(batch, turns)
            if self.star:
                yield number[np.where(found < 0, self.recoding.classes, found)]
            else:
                yield np.where(found < 0, -1, number[found])

    def _sorted(self) -> Iterator[Chunk]:
        """Yield the release of a table that does not fit memory, sorted on disk."""
        class_at = np.argsort(self._rank)

        def ranked() -> Iterator[tuple[pl.DataFrame, NDArray[np.int64]]]:
            turns = _Turns(self.recoding, self._shared_keys)
            for batch in self._batches():
                labels = self._classes_of(batch, turns)
                if not self.star and self.recoding.suppressed:
                    kept = labels >= 0
                    batch, labels = batch.filter(pl.Series(kept)), labels[kept]
                yield batch, self._rank[labels]

        for block in sort_records(ranked(), self._ordered, near=self.near):
            counts = None if (block.counts == 1).all() else block.counts
            yield Chunk(self._frame(block.frame, class_at[block.rank]), counts)

    @cached_property
    def _others(self) -> list[str]:
        return [name for name in self.columns if name not in self.schema.quasi]

    @property
    def _ordered(self) -> list[str]:
        """What records of a class are sorted by: equal ones by the person, whom nobody sees."""
        return [*self._others, *([PERSON] if self.schema.hidden_person else [])]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the released columns, in the table's own order."""
        kept = set(self.schema.released)
        return tuple(name for name in self.source.columns if name in kept)

    @cached_property
    def _labels(self) -> pl.DataFrame:
        return class_labels(self.recoding)

    @cached_property
    def _rank(self) -> NDArray[np.int64]:
        """The place of each class in the order of the released values; the last: suppressed."""
        order = _text_order(self._labels)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return rank

    def _classes_of(self, batch: pl.DataFrame, turns: _Turns) -> NDArray[np.int64]:
        """Return the class of each record of a batch (-1: suppressed)."""
        rows = self.counted.rows_of(batch, of=self.lazy)
        labels = turns.whole[rows]
        shared = np.flatnonzero(turns.is_shared[rows])
        if len(shared):
            labels[shared] = turns.deal(rows[shared], self._marks(batch, shared))
        return labels

    def _marks(self, batch: pl.DataFrame, shared: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return a number for each record that only its own other values decide.

        Records that agree in everything the search saw are distinguished by it, so that their
        order in the input decides nothing.
        """
        # A pseudonym of the person is drawn anew for each release: it decides nothing.
        others = [name for name in self._others if name not in self.schema.person]
        if not others:
            return np.zeros(len(shared), dtype=np.uint64)
        texts = batch.select(others)[shared].select(pl.all().cast(pl.String))
        return texts.hash_rows(seed=1).to_numpy()

    @cached_property
    def _shared_keys(self) -> NDArray[np.int64]:
        """All records of shared rows as sorted keys, 8 bytes a record; empty if there are none."""
        turns = _Turns(self.recoding, np.zeros(0, dtype=np.int64))
        if not turns.is_shared.any():
            return turns.sorted_keys
        keys = []
        for batch in self._batches():
            rows = self.counted.rows_of(batch, of=self.lazy)
            shared = np.flatnonzero(turns.is_shared[rows])
            keys.append(turns.keys(rows[shared], self._marks(batch, shared)))
        return np.sort(np.concatenate(keys))

    def _batches(self) -> Iterator[pl.DataFrame]:
        if self.source.fits_memory():
            yield self.source.collect(self.lazy)
        else:
            yield from self.source.batches(self.lazy, BATCH)

    def _released(self, batch: pl.DataFrame, labels: NDArray[np.int64]) -> Chunk:
        if not self.star and self.recoding.suppressed:
            kept = labels >= 0
            batch, labels = batch.filter(pl.Series(kept)), labels[kept]
        counts = None
        if not self.keep_order:
            order, counts = self._order(batch, labels, self._ordered)
            labels = labels[order]
            batch = batch.select(self._ordered)[order] if self._ordered else batch
        return Chunk(self._frame(batch, labels), counts)

    def _frame(self, batch: pl.DataFrame, labels: NDArray[np.int64]) -> pl.DataFrame:
        """Put the labels of the classes beside the other columns of the records."""
        recoded = self._labels[np.where(labels < 0, self.recoding.classes, labels)]
        if self.typed and self.recoding.released is not None and not self.star:
            domains = self.recoding.table.domains
            names = [domain.name for domain in domains if domain.kind is Kind.NUMERIC]
            recoded = recoded.with_columns(pl.col(names).cast(pl.String).cast(pl.Float64))
        quasi = set(self.schema.quasi)
        person = [batch[PERSON]] if self.schema.hidden_person else []  # for the person file alone
        return pl.DataFrame([recoded[n] if n in quasi else batch[n] for n in self.columns] + person)

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
    """Return the rank of the text of each value of a column, the missing one first.

    None where most values are different: sorting them by their texts takes less then.
    """
    if not isinstance(series.dtype, (pl.Categorical, pl.Enum)):
        some = series.gather_every(max(series.len() // SAMPLE, 1))
        if 2 * some.n_unique() > some.len():
            return None, 0
        series = series.cast(pl.String).cast(pl.Categorical)
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
    """Deals the records of a row out to the classes that share the row.

    There is a key for every record of a shared row: the row, then a mark. Sorted,
    the first records of a row go to its first class, and so on; equal keys take turns.
    """

    def __init__(self, recoding: Recoding, sorted_keys: NDArray[np.int64]) -> None:
        rows = recoding.table.rows
        classes = np.bincount(recoding.row, minlength=rows)
        first = np.concatenate(([0], np.cumsum(classes)))
        self.whole = recoding.label[first[:-1]]
        self.is_shared = classes > 1
        self.number = np.cumsum(self.is_shared) - 1  # of each shared row among the shared ones
        if len(self.number) and self.number[-1] >= 2**23:  # the keys would overflow
            raise KernelInputError(problem="more than 8,388,608 distinct tuples are split up")
        self.sorted_keys = sorted_keys
        in_shared = self.is_shared[recoding.row]
        self.label = np.repeat(recoding.label[in_shared], recoding.count[in_shared])
        self.dealt: NDArray[np.int64] = np.zeros(len(sorted_keys), dtype=np.int64)

    def keys(self, rows: NDArray[np.int64], marks: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the keys of records: 23 bits for the row, 40 of the mark."""
        return (self.number[rows] << 40) | (marks >> np.uint64(24)).astype(np.int64)

    def deal(self, rows: NDArray[np.int64], marks: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return a class for each record of shared rows."""
        keys = self.keys(rows, marks)
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        lengths = np.diff(np.concatenate((starts, [len(ordered)])))
        place = np.searchsorted(self.sorted_keys, ordered[starts])
        turn = np.arange(len(ordered)) - np.repeat(starts - self.dealt[place], lengths)
        self.dealt[place] += lengths
        labels = np.empty(len(rows), dtype=np.int64)
        labels[order] = self.label[np.repeat(place, lengths) + turn]
        return labels
