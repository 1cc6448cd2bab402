"""Columnar encoding: look-up tables for texts, one integer key a record, labels by number.

Every distinct text is read by the same `Encoder` that devices run, and every distinct
combination of what columns say is decided by it once: so a billion records and one
record are encoded by the same lines. Larger-than-memory files go through in batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError, NoSolutionError, UnsafeReleaseError
from shoal.core.model import RecodingModel
from shoal.core.model_judge import Home, Judge, settle
from shoal.core.model_runtime import Encoder, Rejected
from shoal.core.report import Verification
from shoal.core.schema import Others, Role, Schema
from shoal.edge.fast import FastEncoder
from shoal.edge.stream import EncodeReport, encode_stream
from shoal.engines.local.recode import Part
from shoal.engines.local.source import Source, format_of, open_source
from shoal.engines.local.verify import verify_source
from shoal.engines.local.write import all_or_nothing, write_parts

BATCH = 1_000_000
_ROOM = 2**22  # keys that are numbered through a table instead of a sort
_THREADS = 2
_NEW = np.int32(-1)


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """What encoding gave: the table (None when it went to a file), counts, verification."""

    table: pl.DataFrame | None
    report: EncodeReport
    verification: Verification | None = None

    def to_document(self) -> dict[str, Any]:
        """Return the report as DESIGN's JSON document of `encode`."""
        document = self.report.to_document()
        if self.verification is not None:
            document["verification"] = self.verification.to_document()
        return document


def encode_table(
    table: Any,
    model: RecodingModel,
    *,
    out: str | Path | None = None,
    on_unseen: str | None = None,
    suppressed: str = "star",
    separator: str | None = None,
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

    Guarantee:
        The order of the records is kept, and each released cell covers its value.

    Raises:
        InputError: a column is missing or has no role, or, with `on_unseen="error"`,
            records that no class covers.
    """
    job = EncodeJob.open(table, model, on_unseen, suppressed, separator)
    return job.finish(job.parts(), out, table)


def encode_safe(
    table: Any,
    model: RecodingModel,
    *,
    out: str | Path | None = None,
    on_unseen: str | None = None,
    suppressed: str = "remove",
    separator: str | None = None,
) -> Encoded:
    """Encode a batch and suppress what would break the promise within it; then verify.

    Guarantee:
        What is returned or written keeps the model's promise, judged by `verify` on the
        released table itself. The order of the records is kept.

    Raises:
        NoSolutionError: every record would have to be suppressed.
        UnsafeReleaseError: verification failed; nothing was written.
    """
    job = EncodeJob.open(table, model, on_unseen, suppressed, separator)
    job.settle(Judge.of(model.schema, model.privacy))
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
        aside = None if rejects is None else Path(rejects).open("wb")  # noqa: SIM115
        try:
            with Path(source).open("rb") as file, temporary.open("wb") as goal:
                return encode_stream(
                    encoder, file, goal, form=form, separator=separator, rejects=aside
                )
        finally:
            if aside is not None:
                aside.close()


@dataclass
class _Column:
    """One quasi-identifier: from physical indices of texts to numbers of what covers them."""

    place: int
    encoder: Encoder
    is_float: bool = False
    table: NDArray[np.int32] = field(default_factory=lambda: np.full(1, _NEW, dtype=np.int32))
    numbers: dict[Any, int] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)  # a text that stands for each number
    # Polars forgets which text an index stands for once no column uses it.
    keepers: list[pl.Series] = field(default_factory=list)

    def codes(self, series: pl.Series) -> NDArray[np.int32]:
        """Return, for each record, the number of the set of classes that cover its value."""
        physical = series.to_physical()
        nulls = physical.is_null().to_numpy() if physical.null_count() else None
        plain = physical if nulls is None else physical.fill_null(0)
        raw = plain.to_numpy().astype(np.intp)  # once: each look-up by uint32 would convert it
        most = int(raw.max()) + 1 if len(raw) else 1
        if most > len(self.table):
            grown = np.full(most, _NEW, dtype=np.int32)
            grown[: len(self.table)] = self.table
            self.table = grown
        used = np.zeros(most, dtype=np.bool_)
        used[raw if nulls is None else raw[~nulls]] = True
        fresh = np.flatnonzero(used & (self.table[:most] < 0))
        if len(fresh):
            self._learn(series.drop_nulls(), fresh)
        codes = np.take(self.table, raw, mode="clip")  # in range, and not checked again
        if nulls is not None:
            codes[nulls] = self._number(None)
        return codes

    def _learn(self, present: pl.Series, fresh: NDArray[np.int64]) -> None:
        """Number the texts that are new."""
        raw = present.to_physical().to_numpy()
        somewhere = np.full(len(self.table), -1, dtype=np.int64)
        for end in (2**16, len(raw)):  # nearly all values stand among the first records
            somewhere[raw[:end]] = np.arange(min(end, len(raw)))
            if (somewhere[fresh] >= 0).all():
                break
        distinct = present.gather(somewhere[fresh])
        self.keepers.append(distinct)
        texts = distinct.cast(pl.String).to_list()
        for index, text in zip(fresh.tolist(), texts, strict=True):
            self.table[index] = self._number(float(text) if self.is_float else text)

    def _number(self, value: Any) -> int:
        covers: tuple[Any, ...] = tuple(
            block[self.place].cover(value) for block in self.encoder.blocks
        )
        if self.encoder.on_unseen == "nearest" and isinstance(value, str):
            # How far a cell is widened depends on where the value stands in its tree.
            covers = (*covers, self.encoder.first[self.place].node(value))
        number = self.numbers.setdefault(covers, len(self.numbers))
        if number == len(self.values):
            self.values.append(value)
        return number


@dataclass
class EncodeJob:
    """One table on its way through a model; `drift` only counts with it."""

    source: Source
    lazy: pl.LazyFrame
    model: RecodingModel
    encoder: Encoder
    columns: tuple[str, ...]  # released, in the table's own order
    coded: list[_Column]
    report: EncodeReport = field(default_factory=EncodeReport)
    numbers: dict[tuple[int, ...], int] = field(default_factory=dict)  # of distinct tuples
    rows: list[int] = field(default_factory=list)  # of each tuple: its row of labels, or -1
    unseen: list[bool] = field(default_factory=list)
    labels: dict[Home, int] = field(default_factory=dict)
    settled: dict[tuple[int, ...], Home | None] | None = None
    starred: bool = True

    @classmethod
    def open(
        cls,
        table: Any,
        model: RecodingModel,
        on_unseen: str | None,
        suppressed: str,
        separator: str | None,
    ) -> EncodeJob:
        source = open_source(table, separator=separator)
        encoder = FastEncoder(model.to_document(), on_unseen, suppressed)
        columns = _released(source, model.schema)
        quasi = encoder.names
        lazy = source.scan(columns, coded=[*quasi, *model.schema.sensitive])
        types = lazy.collect_schema()
        for name in quasi:
            if types[name].is_nested() or types[name] in (pl.Object, pl.Binary):
                kind = types[name].base_type()
                where = f"column {name!r}"
                raise InputError(where=where, problem=f"holds {kind} values, not plain ones")
        texts = [n for n in quasi if not isinstance(types[n], (pl.Categorical, pl.Enum))]
        lazy = lazy.with_columns(
            pl.col(name).cast(pl.String).cast(pl.Categorical) for name in texts
        )
        if source.fits_memory():
            lazy = source.collect(lazy).lazy()
        coded = [
            _Column(j, encoder, is_float=types[name].is_float()) for j, name in enumerate(quasi)
        ]
        return cls(source, lazy, model, encoder, columns, coded, starred=suppressed == "star")

    def batches(self) -> Iterator[pl.DataFrame]:
        if self.source.fits_memory():
            yield self.source.collect(self.lazy)
            return
        empty = True
        for batch in self.lazy.collect_batches(chunk_size=BATCH, maintain_order=True):
            empty = False
            yield batch
        if empty:
            yield self.source.collect(self.lazy.head(0))

    def _tuples(self, batch: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the numbers of the batch's distinct tuples, and which one each record has."""
        names = self.encoder.names
        with ThreadPoolExecutor(_THREADS) as pool:
            work = [pool.submit(c.codes, batch[n]) for c, n in zip(self.coded, names, strict=True)]
            codes = [done.result() for done in work]
        sizes = [max(len(column.values), 1) for column in self.coded]
        present, local = _distinct(codes, sizes)
        found = np.empty(len(present), dtype=np.int64)
        for at, key in enumerate(map(tuple, present.tolist())):
            found[at] = self.numbers.setdefault(key, len(self.numbers))
        return found, local

    def _decide(self) -> None:
        """Find out, for tuples not met before, what they are released as."""
        for key in list(self.numbers)[len(self.rows) :]:
            values = [column.values[code] for column, code in zip(self.coded, key, strict=True)]
            try:
                labels, region = self.encoder.tuple_of(values)
            except Rejected:  # counted first, and refused all together
                labels, region = None, -1
            is_unseen = region < 0
            home: Home | None = None if labels is None else tuple(labels)
            if self.settled is not None:
                home = self.settled[key]
            row = -1 if home is None else self.labels.setdefault(home, len(self.labels))
            self.rows.append(row)
            self.unseen.append(is_unseen)

    def count(
        self, columns: Sequence[str], judge: Judge
    ) -> tuple[list[list[Any]], list[Counter[tuple[str | None, ...]]]]:
        """Return the distinct tuples of the whole table, and the sensitive values of each."""
        spreads: list[Counter[tuple[str | None, ...]]] = []
        for batch in self.batches():
            found, local = self._tuples(batch)
            spreads += [Counter() for _ in range(len(self.numbers) - len(spreads))]
            keys = [pl.Series("\x00tuple", local)]
            keys += [batch[name].cast(pl.String) for name in columns]
            counted = pl.DataFrame(keys).group_by(pl.all()).agg(pl.len().alias("\x00rows"))
            for at, *texts, records in counted.iter_rows():
                spreads[found[at]][judge.texts(texts)] += records
        tuples = [
            [column.values[code] for column, code in zip(self.coded, key, strict=True)]
            for key in self.numbers
        ]
        return tuples, spreads

    def settle(self, judge: Judge) -> None:
        """Look at the whole batch first, and close classes until it keeps the promise."""
        absent = [name for name in judge.columns if name not in self.columns]
        if absent:
            named = ", ".join(map(repr, absent))
            raise InputError(where=self.source.where, problem=f"has no column {named}")
        tuples, spreads = self.count(judge.columns, judge)
        try:
            homes = settle(self.encoder, tuples, spreads, judge=judge)
        except Rejected:
            raise self._refuse_unseen(tuples, spreads) from None
        if all(home is None for home in homes):
            raise NoSolutionError(problem="every record would have to be suppressed")
        self.settled = dict(zip(self.numbers, homes, strict=True))
        if self.starred and not _stars_hold(self.encoder, homes, spreads, judge=judge):
            self.starred = False

    def _refuse_unseen(
        self, tuples: Sequence[Sequence[Any]], spreads: Sequence[Counter[Any]]
    ) -> InputError:
        pairs = zip(tuples, spreads, strict=True)
        strange = sum(sum(s.values()) for values, s in pairs if self.encoder.find(values) < 0)
        return _unseen_error(self.source.where, strange)

    def parts(self) -> Iterator[Part]:
        """Yield the encoded batches."""
        names = self.encoder.names
        for batch in self.batches():
            found, local = self._tuples(batch)
            self._decide()
            row = np.array([self.rows[i] for i in found], dtype=np.int32)
            strange = np.array([self.unseen[i] for i in found], dtype=np.bool_)
            sizes = np.bincount(local, minlength=len(found)).astype(np.int64)
            self.report.records += batch.height
            self.report.unseen += int(sizes[strange].sum())
            self.report.suppressed += int(sizes[row < 0].sum())
            if self.encoder.on_unseen == "error" and strange.any():
                raise _unseen_error(self.source.where, int(sizes[strange].sum()))
            if not self.starred and (row < 0).any():
                kept = (row >= 0)[local]
                batch, local = batch.filter(pl.Series(kept)), local[kept]
            texts = self._texts()
            row = np.where(row < 0, len(self.labels), row).astype(np.uint32)
            recoded = texts[row] if len(row) else texts.head(0)
            filled = recoded[pl.Series(local, dtype=pl.UInt32)] if len(local) else texts.head(0)
            columns = [filled[name] if name in names else batch[name] for name in self.columns]
            self.report.released += len(local)
            yield Part(pl.DataFrame(columns), None)

    def _texts(self) -> pl.DataFrame:
        """One row of labels for each way to be released, and the roots in a last one."""
        homes = [*self.labels, tuple(self.encoder.roots)]
        columns = []
        for j, name in enumerate(self.encoder.names):
            texts = [home[j] for home in homes]
            known = pl.Enum(sorted({text for text in texts if text is not None}))
            columns.append(pl.Series(name, texts, dtype=known))
        return pl.DataFrame(columns)

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
            return Encoded(table=whole, report=self.report, verification=verified)
        format_of(Path(out))
        inputs = (table,) if isinstance(table, (str, Path)) else ()
        verified = None
        with all_or_nothing(out, inputs=inputs) as temporary:
            write_parts(parts, temporary, separator=self.source.separator)
            if promise:
                verified = self._verify(open_source(temporary, separator=self.source.separator))
        return Encoded(table=None, report=self.report, verification=verified)

    def _verify(self, source: Source) -> Verification:
        schema = self.model.schema
        needed = tuple(a for a in schema.attributes if a.role in (Role.QUASI, Role.SENSITIVE))
        plain = replace(schema, attributes=needed, others=Others.DROP, target=None, privacy=())
        verified = verify_source(source, plain, self.model.privacy)
        if not verified.holds:
            raise UnsafeReleaseError(
                problem=(
                    f"{verified.violating_records} of {verified.records} released records break "
                    "the promise; nothing was written"
                )
            )
        return verified


def _unseen_error(where: str, records: int) -> InputError:
    return InputError(
        where=where,
        problem=(
            f"{records} records are covered by no class of the model; learn again, or allow "
            "--on-unseen suppress or nearest"
        ),
    )


def _stars_hold(
    encoder: Encoder,
    homes: Sequence[Home | None],
    spreads: Sequence[Counter[tuple[str | None, ...]]],
    *,
    judge: Judge,
) -> bool:
    classes: dict[Home, Counter[tuple[str | None, ...]]] = {}
    for home, spread in zip(homes, spreads, strict=True):
        key: Home = tuple(encoder.roots) if home is None else home
        classes.setdefault(key, Counter()).update(spread)
    return not judge.failing(classes)


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


def _distinct(
    codes: Sequence[NDArray[np.int32]], sizes: Sequence[int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the distinct rows of coded columns, and the number of each record's row.

    Codes are packed into one key; whenever the keys would leave a small table, those in
    use are numbered anew. No sort as long as the distinct rows fit the table.
    """
    records = len(codes[0])
    present = np.zeros((1, 0), dtype=np.int32)
    key: NDArray[Any] = np.zeros(records, dtype=np.int32)
    held: list[tuple[int, int]] = []  # columns packed since the last numbering
    room = 1
    for j, size in enumerate(sizes):
        if held and room * size > _ROOM:
            present, key = _renumber(present, key, held, room)
            held, room = [], len(present)
        if room * size >= 2**31:
            key = key.astype(np.int64)
        held.append((j, size))
        if size > 1:
            key = codes[j].astype(key.dtype, copy=False) if room == 1 else key * size + codes[j]
        room *= size
    present, key = _renumber(present, key, held, room)
    return present, key.astype(np.int32, copy=False)


def _renumber(
    present: NDArray[np.int32], key: NDArray[Any], held: list[tuple[int, int]], room: int
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    if room <= 4 * _ROOM:
        used = np.zeros(room, dtype=np.bool_)
        used[key] = True
        found = np.flatnonzero(used)
        place = np.zeros(room, dtype=np.int32)
        place[found] = np.arange(len(found), dtype=np.int32)
        local: NDArray[Any] = place[key]
    else:
        found, inverse = np.unique(key, return_inverse=True)
        local = inverse.astype(np.int32)
    columns = []
    rest = found
    for _, size in reversed(held):
        rest, code = np.divmod(rest, size)
        columns.append(code.astype(np.int32))
    new = np.stack(columns[::-1], axis=1) if columns else np.zeros((len(found), 0), np.int32)
    return np.concatenate((present[rest], new), axis=1), local
