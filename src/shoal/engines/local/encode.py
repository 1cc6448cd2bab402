"""Columnar encoding: look-up tables for texts, one integer key a record, labels by number.

Every distinct text is read by the same rules that devices run, and every distinct
combination of what columns say is decided by it once: so a billion records and one
record are encoded by the same lines. Larger-than-memory files go through in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.watch import tell
from shoal.edge.stream import EncodeReport
from shoal.engines.base import Checks, Compared, Output
from shoal.engines.encoding.batch import Batch, released_columns
from shoal.engines.encoding.columns import ColumnCoder
from shoal.engines.encoding.tuples import Cover, TupleCounts
from shoal.engines.local.kept import check_kept
from shoal.engines.local.links import check_links
from shoal.engines.local.person_file import divided, write_persons
from shoal.engines.local.persons import with_persons_beside
from shoal.engines.local.recode import Chunk
from shoal.engines.local.records import (
    LocalWritten,
    inputs_of,
    person_place,
)
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.write import all_or_nothing, write_chunks
from shoal.engines.person_key import PERSON, WHO, person_key
from shoal.engines.refusals import check_columns
from shoal.formats.endings import separator_for
from shoal.formats.frames import like
from shoal.formats.types import texts_of
from shoal.inference.kept import KeptCheck, beside
from shoal.model.batch import EACH, Judge
from shoal.model.coverage import precompute_coverage
from shoal.model.model import RecodingModel
from shoal.model.sets import SetEncoder
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema
from shoal.schema.sensitive import Scale
from shoal.table.distinct import distinct_rows
from shoal.table.frequency import NOBODY, ONCE

BATCH = 250_000  # records; Polars reads several such batches ahead
_THREADS = 2


@dataclass
class LocalEncoding:
    """One table on its way through a model; `drift` only counts with it.

    Attributes:
        lazy: the scan, in memory where that is possible.
    """

    source: Source
    batch: Batch
    kept: KeptCheck
    lazy: pl.LazyFrame = field(repr=False)
    _held: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None

    @classmethod
    def open(
        cls, source: Source, model: RecodingModel, *, on_unseen: str | None, star: bool
    ) -> LocalEncoding:
        """Check a table against a model; nothing is encoded yet."""
        encoder = SetEncoder(
            model.to_document(), on_unseen, "star" if star else "remove", regions=model.regions
        )
        columns = released_columns(source.where, source.columns, model.schema)
        quasi = encoder.names
        # A CSV file is dictionary-coded while it is read; other columns are when they are used.
        is_csv = source.shape is not None
        coded = [*quasi, *model.schema.sensitive] if is_csv else ()
        person = model.schema.person
        check_columns(source.where, source.columns, person)
        lazy = source.scan([*columns, *person], coded=coded)
        if person:
            lazy = lazy.with_columns(person_key(person, model.schema.missing))
            lazy = with_persons_beside(source, lazy).select([*columns, PERSON, WHO])
        if source.fits_memory():
            lazy = source.collect(lazy).lazy()
        others = beside(model.schema, columns)
        kept = check_kept(source, lazy, others, model.schema.waive)
        kept = kept.with_links(check_links(source, lazy, model.schema, others, ordered=True))
        kept.refuse(source.where)
        precompute_coverage(encoder)
        cover = Cover(encoder, [ColumnCoder(j, encoder) for j in range(len(quasi))])
        return cls(source, Batch(source.where, model, encoder, columns, cover, star), kept, lazy)

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what is to be known of the batch."""
        return self.batch.notices

    @property
    def report(self) -> EncodeReport:
        """Return the counts, complete once the batch is written."""
        return self.batch.report

    def _chunks_read(self) -> Iterator[pl.DataFrame]:
        """Yield the table in chunks that fit memory, in its own order."""
        if self.source.fits_memory():
            yield self.source.collect(self.lazy)
            return
        empty = True
        for chunk in self.source.batches(self.lazy, BATCH):
            empty = False
            yield chunk
        if empty:
            yield self.source.collect(self.lazy.head(0))

    def _tuples(self, chunk: pl.DataFrame) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the chunk's distinct tuples, coded, and which one each record has."""
        names, coded = self.batch.encoder.names, self.batch.cover.coded
        if self._held is not None:
            return self._held
        with ThreadPoolExecutor(_THREADS) as pool:
            work = [pool.submit(c.codes, chunk[n]) for c, n in zip(coded, names, strict=True)]
            codes = [done.result() for done in work]
        found = distinct_rows(codes, [max(len(column.values), 1) for column in coded])
        if self.source.fits_memory():  # one chunk, and encode-safe reads it twice
            self._held = found
        return found

    def count(self, judge: Judge) -> TupleCounts:
        """Count the distinct tuples of the whole table, their sensitive values and persons."""
        tuples = TupleCounts(len(self.batch.encoder.names), len(judge.columns) + judge.persons)
        for chunk in self._chunks_read():
            present, local = self._tuples(chunk)
            sensitive = [
                _numbered(chunk[name], partial(tuples.number, place), judge.scales[place])
                for place, name in enumerate(judge.columns)
            ]
            if judge.persons:
                sensitive.append(_person_numbers(chunk[WHO], partial(tuples.number, -1)))
            tuples.add(present, local, sensitive)
        return tuples

    def suppress_failing(self, judge: Judge) -> None:
        """Count the whole batch first, and close classes until it keeps the promise."""
        self.batch.check_judged(judge)
        self.batch.suppress_failing(self.count(judge), judge)

    def _chunks(self) -> Iterator[Chunk]:
        """Yield the encoded chunks; fills the report."""
        batch, report = self.batch, self.batch.report
        names = batch.encoder.names
        for chunk in self._chunks_read():
            present, local = self._tuples(chunk)
            row, unseen = batch.rows(present)
            sizes = np.bincount(local, minlength=len(row)).astype(np.int64)
            report.records += chunk.height
            report.unseen += int(sizes[unseen].sum())
            report.suppressed += int(sizes[row < 0].sum())
            batch.refuse_unseen(int(sizes[unseen].sum()))
            if not batch.star and (row < 0).any():
                kept = (row >= 0)[local]
                chunk, local = chunk.filter(pl.Series(kept)), local[kept]
            labels = batch.labels()
            row = np.where(row < 0, labels.height - 1, row).astype(np.uint32)
            recoded = labels[row] if len(row) else labels.head(0)
            filled = recoded[pl.Series(local, dtype=pl.UInt32)] if len(local) else labels.head(0)
            columns = [filled[name] if name in names else chunk[name] for name in batch.columns]
            if PERSON in chunk.columns:
                columns.append(chunk[PERSON])
            report.released += len(local)
            yield Chunk(pl.DataFrame(columns), None)

    @contextmanager
    def write(self, output: Output) -> Iterator[LocalWritten | _Encoded]:
        """Encode; what is written is published at the end, if nothing was raised."""
        inputs = (*inputs_of(self.source.given), *output.inputs)
        if output.file is None:
            frames = [chunk.frame for chunk in self._chunks()]
            if len(frames) > 1:  # each has its own dictionary of labels
                frames = [f.with_columns(pl.col(pl.Enum).cast(pl.String)) for f in frames]
            whole = pl.concat(frames)
            person = (PERSON,) if PERSON in whole.columns else ()
            with person_place(output.person_file, inputs, is_needed=False) as people:
                write_persons(whole, people, is_kept=output.person_file is not None)
                table = like(whole.drop(person), self.source.given)
                yield LocalWritten(open_source(whole), table, person)
            return
        by_person = bool(self.batch.model.schema.person)
        with (
            person_place(output.person_file, (*inputs, output.file), is_needed=by_person) as people,
            all_or_nothing(output.file, inputs=inputs) as file,
        ):
            chunks, separator = self._chunks(), separator_for(file, self.source.separator)
            write_chunks(
                divided(chunks, people) if by_person else chunks, file,
                separator=separator, spreadsheet_safe=output.spreadsheet_safe,
                dictionary=self.source.dictionary,
            )  # fmt: skip
            tell("verify")
            if by_person:
                written = open_source(file, separator=separator)
                yield LocalWritten.with_people(written, people)
            else:
                yield _Encoded(file, separator)


@dataclass(frozen=True)
class _Encoded:
    """A file of encoded records that is not yet published; it is read only where it is judged."""

    file: Path
    separator: str
    table: object = None

    @property
    def source(self) -> Source:
        """What was written, read again."""
        return open_source(self.file, separator=self.separator)

    def verify(self, schema: Schema, promise: Sequence[Promise]) -> Verification:
        """Read it again and judge it."""
        return self._opened().verify(schema, promise)

    def compare_persons(self, checks: Checks, *, centroids: bool, seed: int) -> Compared:
        """Measure and attack its persons, where they are known."""
        return self._opened().compare_persons(checks, centroids=centroids, seed=seed)

    def class_numbers(self) -> NDArray[np.int64]:
        """Refuse: only releases have classes of their own."""
        return self._opened().class_numbers()

    def _opened(self) -> LocalWritten:
        return LocalWritten(self.source)


def _person_numbers(
    who: pl.Series, number: Callable[[Sequence[str | None]], list[int]]
) -> NDArray[np.int32]:
    """Return the number of each record's person, as the judge reads who it is."""
    distinct = who.unique().sort()
    special: dict[int, str | None] = {int(ONCE): EACH, int(NOBODY): None}
    numbers = number([special.get(code, str(code)) for code in distinct.to_list()])
    places = np.searchsorted(distinct.to_numpy(), who.to_numpy())
    found: NDArray[np.int32] = np.array(numbers, dtype=np.int32)[places]
    return found


def _numbered(
    series: pl.Series, number: Callable[[Sequence[str | None]], list[int]], scale: Scale
) -> NDArray[np.int32]:
    """Return the number of each sensitive value, as the judge reads its text."""
    texts = texts_of(series).cast(pl.Categorical)
    physical = texts.to_physical()
    distinct = texts.unique().drop_nulls()
    places = distinct.to_physical().to_numpy()
    lookup = np.zeros(int(places.max()) + 2 if len(places) else 1, dtype=np.int32)
    lookup[places] = number([scale.text(text) for text in distinct.cast(pl.String)])
    if physical.null_count():
        lookup[-1] = number([None])[0]
        physical = physical.fill_null(len(lookup) - 1)
    found: NDArray[np.int32] = lookup[physical.to_numpy()]
    return found
