"""Judging linked tables by what their persons have in common, all their rows taken together.

As in `verification`, nothing here knows how a release came about. Tables are joined again by their
keys; the tree of a person is what stands in the quasi-identifier columns of all rows that hang on
theirs. Two trees are equal if they are as texts, in whatever order rows stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.engines.person_key import PERSON, present
from shoal.engines.refusals import no_record
from shoal.engines.verification import ROWS, SIZE, judge_by
from shoal.measures.risk.linked import LinkedRisk, RowRisk
from shoal.measures.risk.trajectories import TrajectoryRisk
from shoal.privacy import Promise, Verdict, judge_sizes
from shoal.reports.release import Verification
from shoal.schema.linked import LinkedSchema, LinkedTable

KEY, UP = "\x00key", "\x00up"
"""The key of a row, and that of the row it hangs on, as texts; see `with_keys`."""

_ROW, _TUPLE = "\x00row", "\x00tuple"
_BELOW, _TREE, _PLACE, _WAY = "\x00below", "\x00tree", "\x00tree place", "\x00way"
_PLACE_UP, _WAY_UP = "\x00place up", "\x00way up"


def with_keys(frame: pl.DataFrame, table: LinkedTable) -> pl.DataFrame:
    """Return rows with their keys beside them, as texts; null where a key is missing.

    Marks of missing values are for other columns: a release numbers its rows, and 99 is one.
    """
    keys = {KEY: table.key, UP: table.foreign_key}
    return frame.with_columns(
        present(pl.col(name), ()).alias(alias) for alias, name in keys.items() if name
    )


def key_faults(frames: Mapping[str, pl.DataFrame], schema: LinkedSchema) -> list[str]:
    """Return what is wrong with the keys of tables, with counts and without a value."""
    found = []
    for table in schema.downwards:
        frame, said = frames[table.name], f"table {table.name!r}: "
        if table.key is not None:
            keys = frame[KEY]
            known = keys.drop_nulls()
            if keys.null_count():
                found.append(f"{said}{keys.null_count():,} rows have no {table.key!r}")
            twice = known.len() - known.n_unique()
            if twice:
                found.append(f"{said}{twice:,} rows repeat a {table.key!r} of another row")
        if table.parent is not None:
            up = frame[UP]
            if up.null_count():
                found.append(f"{said}{up.null_count():,} rows have no {table.foreign_key!r}")
            above = frames[table.parent].select(pl.col(KEY).alias(UP))
            lost = frame.filter(pl.col(UP).is_not_null()).join(above, on=UP, how="anti").height
            if lost:
                found.append(
                    f"{said}{lost:,} rows have a {table.foreign_key!r} that is not in "
                    f"{table.parent!r}"
                )
    return found


def refuse_keys(frames: Mapping[str, pl.DataFrame], schema: LinkedSchema, *, where: str) -> None:
    """Refuse tables whose rows do not all lead to one person each.

    Raises:
        InputError: names everything that is wrong with the keys.
    """
    faults = key_faults(frames, schema)
    if faults:
        raise InputError(
            where=where, problem="; ".join(faults) + ". Mend the keys, or remove these rows"
        )


@dataclass(frozen=True)
class _Joined:
    """Linked tables, joined: every row with its person and what it can be told apart by.

    Attributes:
        frames: with PERSON; the tree of the person; the place of the row in that tree; the way of
            tuples from the person down to the row; the row's own tuple.
        sizes: how many persons have each different tree.
    """

    frames: Mapping[str, pl.DataFrame]
    sizes: NDArray[np.int64]

    @classmethod
    def of(
        cls, frames: Mapping[str, pl.DataFrame], schema: LinkedSchema, *, without: str = ""
    ) -> _Joined:
        """Join tables whose keys are in order.

        without: a quasi-identifier, as table.column, that is taken for unknown.
        """
        known = {
            table.name: [q for q in table.schema.quasi if table.qualified(q) != without]
            for table in schema.tables
        }
        found = {name: _with_tuples(frames[name], quasi) for name, quasi in known.items()}
        for table in reversed(schema.downwards):
            found[table.name] = _with_trees(found, table, schema)
        root = schema.persons.name
        found[root] = found[root].with_columns(
            pl.col(_ROW).alias(PERSON), pl.col(_BELOW).alias(_PLACE), pl.col(_TUPLE).alias(_WAY)
        )
        for table in schema.downwards[1:]:
            above = found[table.parent or ""].select(
                pl.col(KEY).alias(UP),
                PERSON,
                pl.col(_PLACE).alias(_PLACE_UP),
                pl.col(_WAY).alias(_WAY_UP),
            )
            frame = found[table.name].join(above, on=UP, how="left", maintain_order="left")
            place, way = _number(frame, [_PLACE_UP, _BELOW]), _number(frame, [_WAY_UP, _TUPLE])
            found[table.name] = frame.with_columns(place.alias(_PLACE), way.alias(_WAY)).drop(
                _PLACE_UP, _WAY_UP
            )
        trees = found[root].select(PERSON, pl.col(_BELOW).alias(_TREE))
        joined = {n: f.join(trees, on=PERSON, maintain_order="left") for n, f in found.items()}
        sizes = trees.group_by(_TREE).len()["len"].to_numpy().astype(np.int64)
        return cls(joined, sizes)


def _number(frame: pl.DataFrame, columns: list[str]) -> pl.Series:
    """Number rows, those alike that are equal in some columns."""
    if not columns:
        return pl.Series([0] * frame.height, dtype=pl.UInt32)
    known = frame.select(columns).unique(maintain_order=True).with_row_index(_ROW + "n")
    both = frame.select(columns).join(
        known, on=columns, how="left", nulls_equal=True, maintain_order="left"
    )
    return both[_ROW + "n"]


def _with_tuples(frame: pl.DataFrame, quasi: list[str]) -> pl.DataFrame:
    return frame.with_columns(_number(frame, quasi).alias(_TUPLE)).with_row_index(_ROW)


def _with_trees(
    frames: Mapping[str, pl.DataFrame], table: LinkedTable, schema: LinkedSchema
) -> pl.DataFrame:
    """Number what hangs on each row, itself included: a tuple, and what is below it, sorted."""
    frame = frames[table.name]
    parts = [_TUPLE]
    for below in schema.children(table.name):
        part = f"{_BELOW} {below.name}"
        listed = frames[below.name].group_by(UP).agg(pl.col(_BELOW).sort().cast(pl.String))
        text = listed.select(pl.col(UP).alias(KEY), pl.col(_BELOW).list.join("+").alias(part))
        frame = frame.join(text, on=KEY, how="left", maintain_order="left")
        parts.append(part)
    return frame.with_columns(_number(frame, parts).alias(_BELOW)).drop(parts[1:])


def persons_alike(frames: Mapping[str, pl.DataFrame], schema: LinkedSchema) -> NDArray[np.int64]:
    """Return how many persons share each different tree."""
    return _Joined.of(frames, schema).sizes


def risk_of_linked(
    frames: Mapping[str, pl.DataFrame], schema: LinkedSchema, *, where: str
) -> LinkedRisk:
    """Measure how easily persons are found in linked tables; frames as in `judge_linked`.

    Raises:
        InputError: the keys are not in order, or there is no person.
    """
    refuse_keys(frames, schema, where=where)
    if not frames[schema.persons.name].height:
        raise no_record(where)
    joined = _Joined.of(frames, schema)
    whole = TrajectoryRisk.of(joined.sizes)
    names = [table.qualified(name) for table in schema.tables for name in table.schema.quasi]
    without = {n: TrajectoryRisk.of(_Joined.of(frames, schema, without=n).sizes) for n in names}
    return LinkedRisk(
        records=sum(frame.height for frame in frames.values()),
        whole=whole,
        tables={
            table.name: RowRisk.of(frames[table.name].height, _rarest(joined.frames[table.name]))
            for table in schema.tables
            if table.schema.quasi
        },
        columns={name: whole.average - each.average for name, each in without.items()},
    )


def _rarest(frame: pl.DataFrame) -> NDArray[np.int64]:
    """Return, for each person with a row, how many persons share the rarest tuple of theirs."""
    pairs = frame.select(PERSON, _TUPLE).unique()
    shared = pairs.select(PERSON, pl.len().over(_TUPLE).alias(SIZE))
    rarest = shared.group_by(PERSON).agg(pl.col(SIZE).min())[SIZE]
    return rarest.sort().to_numpy().astype(np.int64)


def judge_linked(
    frames: Mapping[str, pl.DataFrame], schema: LinkedSchema, *, where: str
) -> Verification:
    """Judge linked tables by the schema's promise.

    A promise must hold for the persons of every tree. One about sensitive values must hold for
    each place of a tree, because somebody may know which row is meant; for each way of tuples from
    the person down to a row, because somebody may know that much; and for each tuple alone.

    frames: the quasi-identifiers and sensitive columns of each table, and its keys (`with_keys`).

    Raises:
        InputError: the keys are not in order, or there is no person.
    """
    refuse_keys(frames, schema, where=where)
    if not frames[schema.persons.name].height:
        raise no_record(where)
    joined = _Joined.of(frames, schema)
    judge = _Judge(joined, schema, where)
    verdicts = tuple(judge.verdict(model) for model in schema.promise)
    return Verification(
        records=sum(frame.height for frame in frames.values()),
        persons=int(joined.sizes.sum()),
        classes=len(joined.sizes),
        smallest_class=int(joined.sizes.min()),
        violating_records=judge.violating(),
        privacy=verdicts,
        warnings=tuple(dict.fromkeys(judge.warnings)),
        trajectories=TrajectoryRisk.of(joined.sizes).to_document(),
    )


class _Judge:
    """Judges joined tables, promise by promise, and notes the rows that break one."""

    def __init__(self, joined: _Joined, schema: LinkedSchema, where: str) -> None:
        self.joined, self.schema, self.where = joined, schema, where
        self.wrong = {name: pl.DataFrame() for name in joined.frames}
        self.warnings: list[str] = []

    def verdict(self, model: Promise) -> Verdict:
        """Judge one promise."""
        return self._of_persons(model) if model.column is None else self._of_values(model)

    def _of_persons(self, model: Promise) -> Verdict:
        """Judge the persons of every tree; all rows of theirs are behind them."""
        root = self.joined.frames[self.schema.persons.name]
        classes = root.group_by(_TREE).len(SIZE).sort(_TREE)
        rows = pl.concat([frame.select(_TREE) for frame in self.joined.frames.values()])
        held = classes.join(rows.group_by(_TREE).len(ROWS), on=_TREE).sort(_TREE)
        verdict = judge_sizes(model, classes[SIZE].to_list(), held=held[ROWS].to_list())
        failing = classes.select(_TREE)[list(verdict.failing)]
        for name, frame in self.joined.frames.items():
            self._note(name, frame.join(failing, on=_TREE, how="semi"))
        return verdict

    def _of_values(self, model: Promise) -> Verdict:
        """Judge a sensitive column in every view of its table."""
        name, _, column = (model.column or "").partition(".")
        table = next(table for table in self.schema.tables if table.name == name)
        frame, own = self.joined.frames[name], replace(model, column=column)
        if not frame.height:  # nothing is released that could say anything
            return Verdict(model=model, holds=True, value=None)
        found: Verdict | None = None
        most = 0
        for view in ([_TREE], [_TREE, _PLACE], [_WAY], [_TUPLE]):
            cells = frame.group_by([*view, column, PERSON]).agg(pl.len().alias(ROWS))
            judged = judge_by(cells, view, table.schema, [own], where=self.where)
            (verdict,) = judged.verified.privacy
            self._note(name, frame.join(judged.failing, on=view, how="semi"))
            self.warnings += judged.verified.warnings
            most = max(most, verdict.violating_records)
            found = verdict if found is None else found.merge(verdict)
        assert found is not None
        return replace(found, model=model, violating_records=most)

    def _note(self, name: str, rows: pl.DataFrame) -> None:
        if rows.height:
            self.wrong[name] = pl.concat([self.wrong[name], rows.select(_ROW)]).unique()

    def violating(self) -> int:
        """Return the rows that break a promise in at least one view."""
        return sum(rows.height for rows in self.wrong.values())
