"""Columnar encoding: look-up tables for texts, one integer key a record, labels by number.

Every distinct text is read by the same `Encoder` that devices run, and every distinct
combination of what columns say is decided by it once: so a billion records and one
record are encoded by the same lines. Larger-than-memory files go through in batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError, NoSolutionError, UnsafeReleaseError
from shoal.core.temporary import open_private
from shoal.edge.fast import FastEncoder
from shoal.edge.stream import EncodeReport, encode_stream
from shoal.engines.local.encode_keys import Column, distinct_rows
from shoal.engines.local.encode_settle import Cover, Tuples, near_homes, settle_tuples
from shoal.engines.local.kept import check_kept
from shoal.engines.local.recode import Part
from shoal.engines.local.source import Source, format_of, format_to_write, open_source
from shoal.engines.local.types import texts_of
from shoal.engines.local.verify import verify_source
from shoal.engines.local.write import all_or_nothing, write_parts
from shoal.methods.infer.kept import KeptCheck, beside
from shoal.model.batch import Home, Judge, Spread
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder, Rejected
from shoal.model.safe import for_safe
from shoal.model.sweep import sweep
from shoal.privacy.emptiness import little_left, void_promise
from shoal.reports.release import Verification, stars_removed
from shoal.schema.schema import Others, Role, Schema
from shoal.schema.sensitive import Scale

BATCH = 250_000  # records; Polars reads several such batches ahead
_THREADS = 2


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """What encoding gave: the table (None when it went to a file), counts, verification."""

    table: pl.DataFrame | None
    report: EncodeReport
    verification: Verification | None = None
    notices: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """Return the report as the JSON document of `encode`."""
        document = {**self.report.to_document(), "warnings": list(self.warnings)}
        if self.verification is not None:
            document["verification"] = self.verification.to_document()
        if self.notices:
            document["notices"] = list(self.notices)
        return document


def encode_table(
    table: Any,
    model: RecodingModel,
    *,
    out: str | Path | None = None,
    on_unseen: str | None = None,
    suppressed: str = "star",
    separator: str | None = None,
    spreadsheet_safe: bool | None = None,
) -> Encoded:
    """Encode every record on its own; nothing is promised about the batch.

    Args:
        table: a path, or a Polars, pandas or Arrow table.
        model: the learned recoding.
        out: where to write, all or nothing; None returns a table.
        on_unseen: suppress, nearest or error; None: what the model declares.
        suppressed: "star" releases a suppressed record with every quasi-identifier as the
            root, "remove" leaves it out.
        separator: of a CSV file; found out if None.
        spreadsheet_safe: of CSV output: an apostrophe before texts that begin like a formula.

    Guarantee:
        The order of the records is kept, and each released cell covers its value.

    Raises:
        InputError: a column is missing or has no role, or, with `on_unseen="error"`,
            records that no class covers.
        SchemaError: a kept column is an identifier, and the model does not waive it.
    """
    job = EncodeJob.open(table, model, on_unseen, suppressed, separator)
    job.spreadsheet_safe = spreadsheet_safe
    return job.finish(job.parts(), out, table)


def encode_safe(
    table: Any,
    model: RecodingModel,
    *,
    out: str | Path | None = None,
    on_unseen: str | None = None,
    suppressed: str = "remove",
    separator: str | None = None,
    spreadsheet_safe: bool | None = None,
) -> Encoded:
    """Encode a batch and suppress what would break the promise within it; then verify.

    Guarantee:
        What is returned or written keeps the model's promise, judged by `verify` on the
        released table itself. The order of the records is kept.

    Raises:
        ModelFormatError, PrivacyError: the model has no fingerprint, or no promise.
        NoSolutionError: every record would have to be suppressed.
        UnsafeReleaseError: verification failed; nothing was written.
    """
    model = for_safe(model)
    job = EncodeJob.open(table, model, on_unseen, suppressed, separator)
    job.settle(Judge.of(model.schema, model.privacy))
    job.spreadsheet_safe = spreadsheet_safe
    return job.finish(job.parts(), out, table, promise=True)


def encode_lines(
    source: str | Path,
    model: RecodingModel,
    *,
    out: str | Path,
    rejects: str | Path | None = None,
    on_unseen: str | None = None,
    suppressed: str = "star",
    separator: str | None = None,
) -> EncodeReport:
    """Encode a CSV or JSON-lines file line by line, bad lines aside; all or nothing on disk."""
    encoder = FastEncoder(model.to_document(), on_unseen, suppressed)
    form = format_of(Path(source))
    if form not in ("csv", "jsonl"):
        raise InputError(where=str(source), problem="only .csv and .jsonl can be read by lines")
    with all_or_nothing(out, inputs=(source,)) as temporary:
        # Lines as they came in: for this user alone.
        aside = None if rejects is None else open(rejects, "wb", opener=open_private)  # noqa: SIM115
        try:
            with Path(source).open("rb") as file, temporary.open("wb") as goal:
                return encode_stream(
                    encoder, file, goal, form=form, separator=separator, rejects=aside
                )
        finally:
            if aside is not None:
                aside.close()


@dataclass
class EncodeJob:
    """One table on its way through a model; `drift` only counts with it."""

    source: Source
    lazy: pl.LazyFrame
    model: RecodingModel
    encoder: Encoder
    columns: tuple[str, ...]  # released, in the table's own order
    cover: Cover
    report: EncodeReport = field(default_factory=EncodeReport)
    extra: dict[Home, int] = field(default_factory=dict)  # labels that no class has: widened ones
    closed: set[Home] = field(default_factory=set)  # what a safe batch does not release
    starred: bool = True
    held: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None
    kept: KeptCheck = field(default_factory=KeptCheck)
    texts: pl.DataFrame | None = None
    notices: tuple[str, ...] = ()
    spreadsheet_safe: bool | None = None

    @classmethod
    def open(
        cls,
        table: Any,
        model: RecodingModel,
        on_unseen: str | None,
        suppressed: str,
        separator: str | None,
    ) -> EncodeJob:
        """Check a table against a model; nothing is encoded yet."""
        source = open_source(table, separator=separator)
        encoder = FastEncoder(model.to_document(), on_unseen, suppressed)
        columns = _released(source, model.schema)
        quasi = encoder.names
        # A CSV file is dictionary-coded while it is read; other columns are when they are used.
        is_csv = source.shape is not None
        lazy = source.scan(columns, coded=[*quasi, *model.schema.sensitive] if is_csv else ())
        if source.fits_memory():
            lazy = source.collect(lazy).lazy()
        kept = check_kept(source, lazy, beside(model.schema, columns), model.schema.waive)
        kept.refuse(source.where)
        sweep(encoder)
        coded = [Column(j, encoder) for j in range(len(quasi))]
        starred = suppressed == "star"
        return cls(
            source, lazy, model, encoder, columns, Cover(encoder, coded), starred=starred, kept=kept
        )

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield the table in pieces that fit memory, in its own order."""
        if self.source.fits_memory():
            yield self.source.collect(self.lazy)
            return
        empty = True
        for batch in self.source.batches(self.lazy, BATCH):
            empty = False
            yield batch
        if empty:
            yield self.source.collect(self.lazy.head(0))

    def _tuples(self, batch: pl.DataFrame) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the batch's distinct tuples, coded, and which one each record has."""
        names, coded = self.encoder.names, self.cover.coded
        if self.held is not None:
            return self.held
        with ThreadPoolExecutor(_THREADS) as pool:
            work = [pool.submit(c.codes, batch[n]) for c, n in zip(coded, names, strict=True)]
            codes = [done.result() for done in work]
        found = distinct_rows(codes, [max(len(column.values), 1) for column in coded])
        if self.source.fits_memory():  # one batch, and encode-safe looks at it twice
            self.held = found
        return found

    def count(self, judge: Judge) -> Tuples:
        """Count the distinct tuples of the whole table and their sensitive values."""
        tuples = Tuples(len(self.encoder.names), len(judge.columns))
        for batch in self.batches():
            present, local = self._tuples(batch)
            secrets = [
                _numbered(batch[name], partial(tuples.number, place), judge.scales[place])
                for place, name in enumerate(judge.columns)
            ]
            tuples.add(present, local, secrets)
        return tuples

    def settle(self, judge: Judge) -> None:
        """Look at the whole batch first, and close classes until it keeps the promise."""
        absent = [name for name in judge.columns if name not in self.columns]
        if absent:
            named = ", ".join(map(repr, absent))
            raise InputError(where=self.source.where, problem=f"has no column {named}")
        tuples = self.count(judge)
        self.notices = judge.check(tuples.texts)
        try:
            settled = settle_tuples(tuples, self.cover, judge)
        except Rejected:
            codes, _, records = tuples.arrays()
            strange = self.cover.regions(codes, closed=False) < 0
            raise _unseen_error(self.source.where, int(records[strange].sum())) from None
        if not settled.released:
            raise NoSolutionError(problem="every record would have to be suppressed")
        self.closed = settled.closed_homes
        self.settle_stars(judge, settled.classes, settled.stars)

    def settle_stars(
        self, judge: Judge, classes: Mapping[Home, Spread], stars: Counter[tuple[Any, ...]]
    ) -> None:
        """Release suppressed records as the root only where the promise holds with them."""
        if not self.starred or not stars:
            return
        root: Home = tuple(self.encoder.roots)
        together = Counter(classes.get(root, {})) + stars
        if judge.failing({**classes, root: together}):
            self.starred = False
            self.notices += (stars_removed(sum(stars.values())),)

    def _rows(self, present: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the row of labels of each distinct tuple, -1 if suppressed, and who is unseen."""
        row = self.cover.regions(present)
        lost = np.flatnonzero(row < 0)
        strange = np.zeros(len(row), dtype=np.bool_)
        strange[lost] = self.cover.regions(present[lost], closed=False) < 0
        if self.encoder.on_unseen == "nearest" and strange.any():
            base = len(self.encoder.regions)
            unseen = np.flatnonzero(strange)
            for at, home in zip(unseen, near_homes(self.cover, present[unseen]), strict=True):
                if home is not None and home not in self.closed:
                    row[at] = base + self.extra.setdefault(home, len(self.extra))
        return row, strange

    def parts(self) -> Iterator[Part]:
        """Yield the encoded batches."""
        names = self.encoder.names
        for batch in self.batches():
            present, local = self._tuples(batch)
            row, strange = self._rows(present)
            sizes = np.bincount(local, minlength=len(row)).astype(np.int64)
            self.report.records += batch.height
            self.report.unseen += int(sizes[strange].sum())
            self.report.suppressed += int(sizes[row < 0].sum())
            if self.encoder.on_unseen == "error" and strange.any():
                raise _unseen_error(self.source.where, int(sizes[strange].sum()))
            if not self.starred and (row < 0).any():
                kept = (row >= 0)[local]
                batch, local = batch.filter(pl.Series(kept)), local[kept]
            texts = self._texts()
            row = np.where(row < 0, texts.height - 1, row).astype(np.uint32)
            recoded = texts[row] if len(row) else texts.head(0)
            filled = recoded[pl.Series(local, dtype=pl.UInt32)] if len(local) else texts.head(0)
            columns = [filled[name] if name in names else batch[name] for name in self.columns]
            self.report.released += len(local)
            yield Part(pl.DataFrame(columns), None)

    def _texts(self) -> pl.DataFrame:
        """One row of labels for each way to be released, and the roots in a last one."""
        encoder = self.encoder
        height = len(encoder.regions) + len(self.extra) + 1
        if self.texts is not None and self.texts.height == height:
            return self.texts
        columns = []
        for j, name in enumerate(encoder.names):
            labels = encoder.labels[j]
            texts = [labels[region[j]] for region in encoder.regions]
            texts += [home[j] for home in self.extra]
            texts.append(encoder.roots[j])
            known = pl.Enum(sorted({text for text in texts if text is not None}))
            columns.append(pl.Series(name, texts, dtype=known))
        self.texts = pl.DataFrame(columns)
        return self.texts

    def finish(
        self, parts: Iterator[Part], out: str | Path | None, table: Any, *, promise: bool = False
    ) -> Encoded:
        """Collect or write the parts; verify them where something was promised."""
        if out is None:
            frames = [part.frame for part in parts]
            if len(frames) > 1:  # each has its own dictionary of labels
                frames = [f.with_columns(pl.col(pl.Enum).cast(pl.String)) for f in frames]
            whole = pl.concat(frames)
            verified = self._verify(open_source(whole)) if promise else None
            return self.encoded(whole, verified)
        format_to_write(Path(out))
        inputs = (Path(table),) if isinstance(table, (str, PathLike)) else ()
        verified = None
        with all_or_nothing(out, inputs=inputs) as temporary:
            write_parts(
                parts,
                temporary,
                separator=self.source.separator,
                spreadsheet_safe=self.spreadsheet_safe,
            )
            if promise:
                verified = self._verify(open_source(temporary, separator=self.source.separator))
        return self.encoded(None, verified)

    def encoded(self, table: Any, verified: Verification | None) -> Encoded:
        """Return what was made of the table, with its account."""
        return Encoded(
            table=table,
            report=self.report,
            verification=verified,
            warnings=(*self._emptiness(verified), *self.kept.warnings),
            notices=self.notices,
        )

    def _emptiness(self, verified: Verification | None) -> tuple[str, ...]:
        """Say that nothing was promised, or that hardly anything is left."""
        void = () if verified is None else void_promise(self.model.privacy)
        counts = self.report
        return (*void, *little_left(records=counts.records, suppressed=counts.suppressed))

    def _verify(self, source: Source) -> Verification:
        verified = verify_source(source, self.model.schema.judged(), self.model.privacy)
        if not verified.holds:
            raise UnsafeReleaseError(
                problem=(
                    f"{verified.violating_records} of {verified.records} released records break "
                    "the promise; nothing was written"
                )
            )
        return verified


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


def _unseen_error(where: str, records: int) -> InputError:
    return InputError(
        where=where,
        problem=(
            f"{records} records are covered by no class of the model; learn again, or allow "
            "--on-unseen suppress or nearest"
        ),
    )


def _released(source: Source, schema: Schema) -> tuple[str, ...]:
    """Return the columns that go out, in the table's own order."""
    known = {a.name: a.role for a in schema.attributes}
    problems = []
    twice = len(source.columns) - len(set(source.columns))
    if twice:
        problems.append("a column name stands twice in the header; rename one of them")
    absent = [name for name in schema.quasi if name not in source.columns]
    if absent:
        problems.append("has no column " + ", ".join(map(repr, absent)))
    strange = [name for name in source.columns if name not in known]
    if strange and schema.others is Others.FAULT:
        named = ", ".join(map(repr, strange))
        problems.append(
            f"{len(strange)} columns have no role in the model: {named}; leave them out"
        )
    if problems:
        raise InputError(where=source.where, problem="; ".join(problems))
    keep = schema.others is Others.KEEP
    return tuple(
        name
        for name in source.columns
        if (known[name] is not Role.IDENTIFYING if name in known else keep)
    )
