"""Linked tables on this machine: opened, joined by their keys, counted, and written with new ones.

The keys of a release are the numbers of its rows in the order of what they release, each row with
all that hangs on it. So they say nothing that the release does not say without them, they are
fresh in every release, and the same request gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.core.errors import InputError, SchemaError
from shoal.core.secret_keys import Keys
from shoal.engines.coding import Coder, coder_of, with_codes, with_findings
from shoal.engines.counts import class_labels
from shoal.engines.linked import (
    KEY,
    UP,
    judge_linked,
    persons_alike,
    refuse_keys,
    risk_of_linked,
    with_keys,
)
from shoal.engines.local.kept import check_beside, check_kept
from shoal.engines.local.replacing import Replacing
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.write import write_frame
from shoal.engines.person_key import present
from shoal.engines.refusals import check_columns, no_record
from shoal.formats.database import Database
from shoal.formats.endings import ENDINGS
from shoal.inference.kept import KeptCheck, beside, left_in
from shoal.measures.risk.linked import LinkedRisk
from shoal.methods.linked.search import TableRecoding
from shoal.methods.linked.shapes import LinkedCounts
from shoal.reports.release import Verification
from shoal.schema.attribute import USUAL_LABELS, Kind, Proposals
from shoal.schema.linked import LinkedSchema, LinkedTable
from shoal.schema.schema import Schema
from shoal.table.domain import Domain, line_domain
from shoal.table.frequency import FrequencyTable, join_rows
from shoal.table.rounding import round_table

_ROW, _RANK, _ABOVE = "\x00row", "\x00rank", "\x00above"


def contains(above: object, key: str, below: object, column: str, *, separator: str | None) -> bool:
    """Say whether every value of a column is a key of another table; an empty one is none."""
    whole, part = (open_source(table, separator=separator) for table in (above, below))
    keys = whole.scan([key]).select(present(pl.col(key), ()).alias(KEY))
    asked = part.scan([column]).select(present(pl.col(column), ()).alias(KEY)).unique()
    lost = asked.join(keys, on=KEY, how="anti", nulls_equal=True).select(pl.len())
    return int(part.collect(lost).item()) == 0


def places_of(tables: object, schema: LinkedSchema) -> dict[str, object]:
    """Return what holds each table: of a folder, its file; of a database, its table.

    Raises:
        InputError: names every table that is not there, or there twice.
    """
    if isinstance(tables, Mapping):
        faults = [f"no table {t.name!r}" for t in schema.tables if t.name not in tables]
        if faults:
            raise InputError(where="tables", problem="; ".join(faults))
        return {table.name: tables[table.name] for table in schema.tables}
    if isinstance(tables, Database):
        return {table.name: replace(tables, table=table.name) for table in schema.tables}
    if not isinstance(tables, (str, Path)):
        problem = "must be a folder, a database, or tables by their names"
        raise InputError(where="tables", problem=problem)
    folder = Path(tables)
    if not folder.is_dir():
        raise InputError(where=str(folder), problem="no such folder; the tables are files in one")
    found: dict[str, object] = {}
    faults = []
    for name in (table.name for table in schema.tables):
        files = [file for ending in ENDINGS if (file := folder / f"{name}{ending}").is_file()]
        if len(files) == 1:
            found[name] = files[0]
        elif files:
            faults.append(f"{' and '.join(f.name for f in files)}: keep one file of a table")
        else:
            faults.append(f"no file of the table {name!r}, such as {name}.csv")
    if faults:
        raise InputError(where=str(folder), problem="; ".join(faults))
    return found


@dataclass(frozen=True)
class OpenTables:
    """Linked tables that can be scanned again and again; parents before their children."""

    schema: LinkedSchema
    sources: Mapping[str, Source]
    where: str

    @classmethod
    def of(cls, tables: object, schema: LinkedSchema, *, separator: str | None) -> OpenTables:
        """Open tables.

        Raises:
            InputError: one is not there or cannot be read.
            SchemaError: a column is missing, stands twice, or nobody named it; all together.
        """
        places = places_of(tables, schema)
        sources = {name: open_source(place, separator=separator) for name, place in places.items()}
        where = str(tables) if isinstance(tables, (str, Path)) else "tables"
        where = tables.where if isinstance(tables, Database) else where
        return cls(schema, sources, where)

    def fitted(self, proposals: Proposals) -> dict[str, Schema]:
        """Return the schemas of the tables, every column but the keys named."""
        found, faults = {}, []
        for table in self.schema.downwards:
            columns = self.sources[table.name].columns
            others = [name for name in columns if name not in table.keys]
            lost = [name for name in table.keys if columns.count(name) != 1]
            faults += [f"table {table.name!r}: no column {name!r}, a key of it" for name in lost]
            try:
                labels = table.schema.labels or USUAL_LABELS
                known = replace(table.schema, proposals=proposals, labels=labels)
                found[table.name] = known.fit(others, where=table.name)
            except SchemaError as error:
                faults += [f"table {table.name!r}: {fault}" for fault in error.faults]
        if faults:
            raise SchemaError(where=self.where, faults=faults)
        return found

    def warnings(self) -> tuple[str, ...]:
        """Return what columns that are not judged say of people, table by table."""
        found = []
        for table in self.schema.downwards:
            source = self.sources[table.name]
            columns = [name for name in source.columns if name not in table.keys]
            others = beside(table.schema, columns)
            check = check_beside(source, others, table.schema.waive)
            texts = (*left_in(table.schema, columns), *check.warnings)
            found += [f"table {table.name!r}: {text}" for text in texts]
        return tuple(found)

    def verify(self) -> Verification:
        """Join the tables again, as they stand, and judge them."""
        return judge_linked(self._as_they_stand(), self.schema, where=self.where)

    def risk(self) -> LinkedRisk:
        """Join the tables, as they stand, and measure how easily persons are found."""
        return risk_of_linked(self._as_they_stand(), self.schema, where=self.where)

    def _as_they_stand(self) -> dict[str, pl.DataFrame]:
        """Return what a verdict depends on: keys, quasi-identifiers, judged columns."""
        frames = {}
        for table in self.schema.downwards:
            source = self.sources[table.name]
            judged = [model.column for model in table.schema.privacy if model.column is not None]
            needed = [*dict.fromkeys((*table.schema.quasi, *judged))]
            check_columns(source.where, source.columns, [*needed, *table.keys])
            frame = source.collect(source.scan([*dict.fromkeys((*table.keys, *needed))]))
            frames[table.name] = with_keys(frame, table)
        return frames


@dataclass(frozen=True)
class TableRecords:
    """The records of one of several tables, as far as a schema releases or counts them.

    Attributes:
        frame: its released columns, and its keys as they are and as texts.
        schema: with what counting found out.
        counts: for the search.
    """

    about: LinkedTable
    source: Source
    frame: pl.DataFrame = field(repr=False)
    schema: Schema
    counts: LinkedCounts
    kept: KeptCheck

    @property
    def columns(self) -> list[str]:
        """Return the columns of a release, in the table's own order."""
        kept = {*self.schema.released, *self.about.keys}
        return [name for name in self.source.columns if name in kept]

    def roles(self) -> dict[str, Document]:
        """Return what is done with every column, by its qualified name."""
        found = self.kept.roles(self.schema, self.source.columns)
        for name in self.about.keys:
            words = "new numbers, in the order of the release"
            found[name].update(role="identifying", released=True, replaced=words)
        return {self.about.qualified(name): role for name, role in found.items()}


@dataclass(frozen=True)
class LinkedRecords:
    """The records of linked tables; parents before their children."""

    schema: LinkedSchema
    tables: tuple[TableRecords, ...]
    where: str

    @classmethod
    def read(cls, opened: OpenTables, proposals: Proposals, keys: Keys) -> LinkedRecords:
        """Read tables and code their columns.

        Raises:
            InputError: a key is missing, repeated or dangling, or there is no person.
            SchemaError: a kept column is an identifier, and nobody waived it.
        """
        schema, fitted = opened.schema, opened.fitted(proposals)
        frames, replacing = {}, {}
        for table in schema.downwards:
            source, own = opened.sources[table.name], fitted[table.name]
            replacing[table.name] = Replacing.of(source, own, keys)
            columns = [n for n in source.columns if n in {*own.released, *table.keys}]
            frame = source.collect(replacing[table.name].scan(columns))
            if source.shape is not None and frame.height != source.shape.records:
                raise InputError(where=source.where, problem="changed while it was read")
            frames[table.name] = with_keys(frame, table)
        if not frames[schema.persons.name].height:
            raise no_record(opened.sources[schema.persons.name].where)
        refuse_keys(frames, schema, where=opened.where)
        kept = {
            name: check_kept(
                opened.sources[name], frame.lazy(), fitted[name].kept, fitted[name].waive
            ).with_replaced(fitted[name].replaced, replacing[name].found)
            for name, frame in frames.items()
        }
        _refuse_kept(kept, opened.where)
        frames = _sorted(frames, schema)
        return cls(schema, _joined(opened, fitted, frames, kept), opened.where)

    def persons_alike(self) -> NDArray[np.int64]:
        """Return how many persons share each different tree, as the tables are."""
        return persons_alike({t.about.name: t.frame for t in self.tables}, self.schema)

    def released(self, found: Sequence[TableRecoding]) -> dict[str, pl.DataFrame]:
        """Return the tables as they are released, with new keys, sorted by these."""
        frames = {
            each.about.name: _recoded(each, recoding)
            for each, recoding in zip(self.tables, found, strict=True)
        }
        ranked = _ranked(frames, self.schema)
        numbers: dict[str, NDArray[np.int64]] = {}
        made = {}
        for each in self.tables:
            table, frame = each.about, frames[each.about.name]
            up: NDArray[np.int64] = np.zeros(frame.height, dtype=np.int64)
            if table.parent is not None:
                up = numbers[table.parent][frame[_ABOVE].to_numpy()]
            order = np.lexsort((ranked[table.name], up))
            own = np.empty(frame.height, dtype=np.int64)
            own[order] = np.arange(1, frame.height + 1)
            # A record that is not released has no number; nothing released hangs on it.
            number = np.zeros(each.frame.height, dtype=np.int64)
            number[frame[_ROW].to_numpy()] = own
            numbers[table.name] = number
            keys = {table.key: own, table.foreign_key: up}
            new = [pl.Series(name, values) for name, values in keys.items() if name is not None]
            made[table.name] = frame.with_columns(new).select(each.columns)[order]
        return made

    def endings(self) -> dict[str, str]:
        """Return the endings of the files that the tables came from; of others, .csv."""
        found = {}
        for each in self.tables:
            name = Path(each.source.where).name
            given = isinstance(each.source.given, (str, Path))
            fit = [e for e in ENDINGS if name.endswith(e)] if given else []
            found[each.about.name] = max(fit, key=len, default=".csv")
        return found

    def separators(self) -> dict[str, str]:
        """Return the separators of the tables that are written as CSV."""
        return {each.about.name: each.source.separator for each in self.tables}


def write_tables(
    frames: Mapping[str, pl.DataFrame],
    endings: Mapping[str, str],
    folder: Path,
    *,
    separators: Mapping[str, str],
    spreadsheet_safe: bool | None,
) -> None:
    """Write tables as files of a folder.

    Raises:
        OutputError: the disk is full or the folder cannot be written to.
    """
    for name, frame in frames.items():
        path = folder / f"{name}{endings[name]}"
        write_frame(frame, path, separator=separators[name], spreadsheet_safe=spreadsheet_safe)


def _sorted(frames: Mapping[str, pl.DataFrame], schema: LinkedSchema) -> dict[str, pl.DataFrame]:
    """Return tables in the order of what they hold, so that no other order decides anything."""
    plain = {}
    for table in schema.downwards:
        frame = frames[table.name]
        above = np.full(frame.height, -1)
        if table.parent is not None:
            above = _places(frame, frames[table.parent])
        own = frame.with_row_index(_ROW).with_columns(pl.Series(_ABOVE, above))
        plain[table.name] = own.drop([*table.keys, KEY, UP], strict=False)
    ranked = _ranked(plain, schema)
    return {name: frame[np.argsort(ranked[name], kind="stable")] for name, frame in frames.items()}


def _joined(
    opened: OpenTables,
    fitted: Mapping[str, Schema],
    frames: Mapping[str, pl.DataFrame],
    kept: Mapping[str, KeptCheck],
) -> tuple[TableRecords, ...]:
    """Find the parent and the person of every record, and code the columns."""
    whose: list[NDArray[np.int64]] = []
    found: list[TableRecords] = []
    order = [table.name for table in opened.schema.downwards]
    for table in opened.schema.downwards:
        frame, own = frames[table.name], fitted[table.name]
        above = -1 if table.parent is None else order.index(table.parent)
        parent = np.full(frame.height, -1) if above < 0 else _places(frame, found[above].frame)
        whose.append(np.arange(frame.height) if above < 0 else whose[above][parent])
        counted, row, coders = _counted(frame, own, None if above < 0 else whose[-1])
        counts = LinkedCounts(counted, row, above, parent, own.privacy)
        source, known = opened.sources[table.name], with_findings(own, coders)
        found.append(TableRecords(table, source, frame, known, counts, kept[table.name]))
    return tuple(found)


def _refuse_kept(kept: Mapping[str, KeptCheck], where: str) -> None:
    faults = []
    for name, check in kept.items():
        try:
            check.refuse(where)
        except SchemaError as error:
            faults += [f"table {name!r}: {fault}" for fault in error.faults]
    if faults:
        raise SchemaError(where=where, faults=faults)


def _places(frame: pl.DataFrame, above: pl.DataFrame) -> NDArray[np.int64]:
    """Return the row of the parent that each row hangs on."""
    known = above.select(pl.col(KEY).alias(UP)).with_row_index(_ROW)
    joined = frame.select(UP).join(known, on=UP, how="left", maintain_order="left")
    return joined[_ROW].to_numpy().astype(np.int64)


def _counted(
    frame: pl.DataFrame, schema: Schema, whose: NDArray[np.int64] | None
) -> tuple[FrequencyTable, NDArray[np.int64], list[Coder]]:
    """Return the frequency table of a table, the row of each record in it, and the coders."""
    named = [model.column for model in schema.privacy if model.column is not None]
    columns = [*schema.quasi, *dict.fromkeys(named)]
    codes = np.zeros((frame.height, len(columns)), dtype=np.int32)
    coders: list[Coder] = []
    domains: list[Domain] = []
    if frame.height:
        coded = with_codes(frame.lazy().select(columns), columns).collect()
        for i, name in enumerate(columns):
            coders.append(coder_of(coded[name].unique(), schema, name))
            codes[:, i] = coders[-1].codes(coded[name])
        domains = [coder.domain for coder in coders]
    else:
        domains = [line_domain(n, Kind.CATEGORICAL, [None], [np.nan]) for n in columns]
    width = len(schema.quasi)
    table, row = join_rows(
        tuple(domains[:width]), codes[:, :width], np.ones(frame.height, dtype=np.int64),
        sensitive_domains=tuple(domains[width:]), sensitive=codes[:, width:],
        persons=None if whose is None else whose.astype(np.int32),
    )  # fmt: skip
    if schema.has_round_labels:  # persons are alike by their labels: known from the start
        table = round_table(table, schema)
    return table, row, coders


def _recoded(each: TableRecords, found: TableRecoding) -> pl.DataFrame:
    """Return the released records of a table without its keys, and where they and theirs stood."""
    kept = np.flatnonzero(found.label >= 0)
    labels = class_labels(found.cells)[found.label[kept]] if each.schema.quasi else None
    names = [name for name in each.columns if name not in each.about.keys]
    frame = each.frame.with_row_index(_ROW).select(_ROW, *names)[kept]
    if labels is not None:
        frame = frame.with_columns(labels.with_columns(pl.all().cast(pl.String)))
    return frame.with_columns(pl.Series(_ABOVE, each.counts.parent[kept], dtype=pl.Int64))


def _ranked(
    frames: Mapping[str, pl.DataFrame], schema: LinkedSchema
) -> dict[str, NDArray[np.int64]]:
    """Return the place of each row in the order of what it releases, with all that hangs on it.

    Rows of one place are equal in everything that is released.
    """
    found: dict[str, NDArray[np.int64]] = {}
    for table in reversed(schema.downwards):
        frame = frames[table.name]
        own = frame.drop(_ABOVE).with_columns(pl.all().exclude(_ROW).cast(pl.String))
        for i, below in enumerate(schema.children(table.name)):
            rows = frames[below.name].select(pl.col(_ABOVE).alias(_ROW))
            ranks = rows.with_columns(pl.Series(_RANK, found[below.name]))
            listed = ranks.group_by(_ROW).agg(pl.col(_RANK).sort().cast(pl.String))
            text = listed.select(_ROW, pl.col(_RANK).list.join(" ").alias(f"{_RANK} {i}"))
            own = own.join(text, on=_ROW, how="left", maintain_order="left")
        found[table.name] = _dense(own, [name for name in own.columns if name != _ROW])
    return found


def _dense(frame: pl.DataFrame, columns: list[str]) -> NDArray[np.int64]:
    """Number rows by the sorted order of some columns, equal ones alike."""
    if not columns or not frame.height:
        return np.zeros(frame.height, dtype=np.int64)
    order = frame.select(pl.arg_sort_by(columns, nulls_last=False)).to_series().to_numpy()
    ordered = frame[order]
    differs = [pl.col(name).ne_missing(pl.col(name).shift(1)) for name in columns]
    number = np.empty(frame.height, dtype=np.int64)
    number[order] = np.cumsum(ordered.select(pl.any_horizontal(differs)).to_series().to_numpy())
    return number
