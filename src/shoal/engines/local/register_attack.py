"""Attacks that read labels closely, and one that holds a register, carried out on two tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError, MethodError
from shoal.engines.local.attack_tables import KEY, ROWS, ReleasedClasses, coded_texts
from shoal.engines.local.source import Source
from shoal.engines.person_key import PERSON, person_key
from shoal.engines.refusals import check_columns
from shoal.measures.attacks import closely
from shoal.measures.attacks.closely import Cells
from shoal.measures.attacks.narrow import Meaning, Reader, reader_of
from shoal.measures.attacks.register import (
    MOST_PEOPLE_IN_CLASSES,
    Boxes,
    Crowd,
    claims,
    membership,
)
from shoal.measures.attacks.result import AttackResult
from shoal.schema.schema import Schema
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable
from shoal.table.rounding import grid_of, read_span


@dataclass(frozen=True)
class CloseReader:
    """Somebody who reads the labels of a release closely, and what scores them.

    Attributes:
        original, release: the table, and the release as labels.
        schema: quasi-identifiers, sensitive and person columns.
        table: the distinct tuples of the original, for its domains.
        classes: what is attacked: the classes of the release, or of the table as it was.

    Guarantee:
        Results hold shares and counts; no value of any table leaves.
    """

    original: Source
    release: Source
    schema: Schema
    table: FrequencyTable
    classes: ReleasedClasses

    @cached_property
    def _meanings(self) -> list[list[Meaning]]:
        """Return what the labels of each column mean."""
        return [
            reader.meanings(labels)
            for reader, labels in zip(self._readers, self.classes.labels, strict=True)
        ]

    @cached_property
    def _readers(self) -> list[Reader]:
        """Return who reads each column; labels are round where one column shows it."""
        found = zip(self.table.domains, self.classes.labels, strict=True)
        is_round = any(
            domain.tree is None and domain.ladder is None and _is_span(domain, labels)
            for domain, labels in found
        )
        grids = [
            None if d.tree is not None else grid_of(d, self.schema.attribute(d.name))
            for d in self.table.domains
        ]
        return [
            reader_of(domain, grid, is_round=is_round)
            for domain, grid in zip(self.table.domains, grids, strict=True)
        ]

    @cached_property
    def boxes(self) -> Boxes:
        """Return the released classes; what is suppressed to the root says nothing."""
        codes = self.classes.codes
        low, high = np.empty(codes.shape), np.empty(codes.shape)
        for j, meanings in enumerate(self._meanings):
            low[:, j] = np.array([each.low for each in meanings])[codes[:, j]]
            high[:, j] = np.array([each.high for each in meanings])[codes[:, j]]
        boxes = Boxes(low, high, self.classes.sizes, [])
        is_root = boxes.is_root
        zones: list[list[tuple[int, float, float]]] = []
        for c, row in enumerate(codes.tolist()):
            found = [] if is_root[c] else [
                (j, *zone) for j, at in enumerate(row) for zone in self._meanings[j][at].zones
            ]  # fmt: skip
            zones.append(found)
        return replace(boxes, zones=zones)

    @property
    def is_affordable(self) -> bool:
        """Say whether everybody of the table can be looked for in every class."""
        return self.table.records * len(self.classes.sizes) <= MOST_PEOPLE_IN_CLASSES

    @cached_property
    def everybody(self) -> Crowd:
        """Return the records of the table, with who stands behind them."""
        names = self.schema.person
        frame = self._read(self.original, names)
        if not names:
            return Crowd(self._places(frame), np.arange(frame.height))
        return Crowd(self._places(frame), _numbered(frame[PERSON]))

    def _boxes_of(self, known: Sequence[str]) -> Boxes:
        """Return the released classes as far as somebody knows who has only some of the columns."""
        at = [j for j, domain in enumerate(self.table.domains) if domain.name in known]
        place = {j: i for i, j in enumerate(at)}
        zones = [
            [(place[j], low, high) for j, low, high in zone if j in place]
            for zone in self.boxes.zones
        ]
        return Boxes(self.boxes.low[:, at], self.boxes.high[:, at], self.boxes.sizes, zones)

    def _read(
        self,
        source: Source,
        names: Sequence[str],
        *extra: str,
        quasi: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        quasi = list(self.schema.quasi if quasi is None else quasi)
        check_columns(source.where, source.columns, [*quasi, *names, *extra])
        lazy = source.scan(list(dict.fromkeys([*quasi, *names, *extra])))
        columns = [pl.col(name).cast(pl.String).str.strip_chars() for name in quasi]
        if names:
            columns.append(person_key(tuple(names), self.schema.missing).cast(pl.String))
        columns += [pl.col(name).cast(pl.String).alias(KEY) for name in extra]
        return source.collect(lazy.select(columns))

    def _places(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        """Return where each value of the columns that are there stands."""
        marks = set(self.schema.missing)
        readers = [each for each in self._readers if each.domain.name in frame.columns]
        found = np.empty((frame.height, len(readers)))
        for j, reader in enumerate(readers):
            texts, codes = coded_texts(frame[reader.domain.name])
            places = [reader.place(None if text in marks else text) for text in texts]
            found[:, j] = np.array(places)[codes]
        return found

    def printed(self) -> AttackResult:
        """Find who alone in the table has a value that a label prints."""
        return closely.printed(
            self.boxes, self.everybody, *self._counts, one_record=not self.schema.person
        )

    @cached_property
    def _counts(self) -> tuple[int, int]:
        """Return the ends of intervals that are values of people, and tuples that must exist."""
        return closely.ends_and_tuples(self.classes.codes, self._meanings)

    def downcoding(self) -> AttackResult:
        """Name the children of a node that must both be there."""
        is_tree = [domain.tree is not None for domain in self.table.domains]
        return closely.downcoding(
            self.classes.codes, self._meanings, is_tree, self.boxes, self.everybody
        )

    def inference(self, column: str) -> AttackResult:
        """Name the commonest sensitive value among all records that a person may have."""
        own = self._read(self.original, self.schema.person, column)
        there = self.release.collect(
            self.release.scan(list(dict.fromkeys([*self.schema.quasi, column])))
            .select(
                *(pl.col(name).cast(pl.String).alias(name) for name in self.schema.quasi),
                pl.col(column).cast(pl.String).alias(KEY),
            )
            .group_by([*self.schema.quasi, KEY])
            .agg(pl.len().alias(ROWS))
        )
        texts = pl.concat([own[KEY], there[KEY]]).unique().sort().to_list()
        number = {text: i for i, text in enumerate(texts)}
        classes = {
            tuple(self.classes.labels[j][at] for j, at in enumerate(row)): c
            for c, row in enumerate(self.classes.codes.tolist())
        }
        label, value, count = [], [], []
        for *labels, text, records in there.iter_rows():
            label.append(classes[tuple(labels)])
            value.append(number[text])
            count.append(records)
        cells = Cells(np.array(label), np.array(value), np.array(count), len(texts))
        true = np.array([number[text] for text in own[KEY].to_list()])
        return closely.inference(self.boxes, self.everybody, true, cells)

    def membership(self, register: Source, key: str | None = None) -> AttackResult:
        """Find people of a register who must be in the table, by the columns that it has.

        key: the column that says who is who; the person columns, where there are any.
        """
        names = self.schema.person or (str(key),)
        check_columns(self.original.where, self.original.columns, names)
        check_columns(register.where, register.columns, names)
        known = [name for name in self.schema.quasi if name in register.columns]
        if not known:  # names the columns that it lacks
            check_columns(register.where, register.columns, self.schema.quasi)
        boxes = self._boxes_of(known)
        outside = self._read(register, names, quasi=known).filter(pl.col(PERSON).is_not_null())
        inside = self._read(self.original, names)[PERSON].drop_nulls().unique()
        if not outside.height:
            raise InputError(where=register.where, problem="the register has nobody with a key")
        if outside.height * len(boxes.sizes) > MOST_PEOPLE_IN_CLASSES:
            raise MethodError(problem="the register and the release are too large to be compared")
        who = _numbered(outside[PERSON])
        crowd = Crowd(self._places(outside), who)
        first = np.unique(who, return_index=True)[1]
        is_member = outside[PERSON].is_in(inside.implode()).to_numpy()[first]
        found = claims(boxes, crowd, one_record=not self.schema.person)
        return membership(found, is_member)

    def all(self) -> list[AttackResult]:
        """Carry out what needs no register."""
        found = [self.printed(), self.downcoding()]
        return [*found, *(self.inference(column) for column in self.schema.sensitive)]


def _is_span(domain: Domain, labels: Sequence[str | None]) -> bool:
    return any(label is not None and read_span(domain, label) is not None for label in labels)


def _numbered(keys: pl.Series) -> NDArray[np.int64]:
    """Number persons; who has no key is somebody else each."""
    known = keys.is_not_null().to_numpy()
    found = np.empty(len(keys), dtype=np.int64)
    number = np.unique(keys.drop_nulls().to_numpy(), return_inverse=True)[1]
    found[known] = number
    least = int(number.max(initial=-1)) + 1
    found[~known] = least + np.arange(int((~known).sum()))
    return found
