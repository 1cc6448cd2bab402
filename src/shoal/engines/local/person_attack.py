"""Attacks on persons with several records, carried out on a table and its release.

The release does not say whose a record is; whoever scores the attack knows it (a person file).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.engines.local.attack import TARGETS, Attacker
from shoal.engines.local.attack_tables import KEY, ROWS, ReleasedClasses, coded_texts, key_of
from shoal.engines.local.register_attack import CloseReader
from shoal.engines.local.source import Source
from shoal.engines.person_key import PERSON, person_key
from shoal.engines.refusals import nobody
from shoal.measures.attacks import by_person
from shoal.measures.attacks.by_person import Holdings
from shoal.measures.attacks.linkage import affordable
from shoal.measures.attacks.result import AttackResult, Comparison
from shoal.schema.schema import Schema
from shoal.table.frequency import number_rows


@dataclass(frozen=True)
class Persons:
    """A table, and its columns that say who a record is about."""

    source: Source
    columns: tuple[str, ...]


@dataclass(frozen=True)
class PersonAttacker:
    """Somebody who holds a release and knows one record of each target.

    Attributes:
        original, release: with who stands behind each record; the release as labels.
        schema: quasi-identifiers, sensitive columns and their hierarchies.
        seed: chooses the targets, and the record that is known of each.
        targets: how many persons are attacked; all are when there are fewer.
        centroids: the release holds centroids, which cover nothing: look for the nearest.

    Guarantee:
        Results hold shares and counts; no value of either table leaves.
    """

    original: Persons
    release: Persons
    schema: Schema
    seed: int = 0
    targets: int = TARGETS
    centroids: bool = False

    @cached_property
    def _by_records(self) -> Attacker:
        """What knows the columns of the table and compares values with labels."""
        return Attacker(
            self.original.source, self.release.source, self.schema.without_person(),
            seed=self.seed, targets=self.targets, centroids=self.centroids,
        )  # fmt: skip

    @cached_property
    def _cells(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return table and release as cells, with their persons numbered alike; -1: nobody."""
        found = [self._counted(self.original), self._counted(self.release)]
        keys = pl.concat([cells[PERSON] for cells in found]).drop_nulls().unique().sort()
        number = pl.DataFrame({PERSON: keys}).with_row_index("\x00number")
        before, after = (
            cells.join(number, on=PERSON, how="left", maintain_order="left")
            .drop(PERSON)
            .with_columns(pl.col("\x00number").cast(pl.Int64).fill_null(-1).alias(PERSON))
            for cells in found
        )
        return before, after

    def _counted(self, table: Persons) -> pl.DataFrame:
        """Count the records of each tuple, person and sensitive value."""
        quasi, source = list(self.schema.quasi), table.source
        secret = next(iter(self.schema.sensitive), None)
        value = pl.lit(None, dtype=pl.String).alias(KEY) if secret is None else key_of(secret)
        names = dict.fromkeys([*quasi, *table.columns, *([] if secret is None else [secret])])
        lazy = source.scan(list(names)).select(
            *(pl.col(name).cast(pl.String) for name in quasi),
            person_key(table.columns, self.schema.missing).cast(pl.String),
            value,
        )
        found = source.collect(lazy.group_by([*quasi, PERSON, KEY]).agg(pl.len().alias(ROWS)))
        if not found.height:
            raise InputError(where=source.where, problem="the table has a header but no record")
        if found[PERSON].null_count() == found.height:
            raise nobody(source.where, table.columns)
        return found.sort([*quasi, PERSON, KEY])

    @cached_property
    def _values(self) -> dict[str | None, int]:
        seen = pl.concat([cells[KEY] for cells in self._cells]).unique().sort()
        return {text: i for i, text in enumerate(seen.to_list())}

    def _held(self, cells: pl.DataFrame, *, clean: bool) -> tuple[ReleasedClasses, Holdings]:
        """Return the classes of cells, and who stands in them."""
        labels, codes = [], np.empty((cells.height, len(self.schema.quasi)), dtype=np.int32)
        for j, name in enumerate(self.schema.quasi):
            column = self._by_records.clean(cells[name]) if clean else cells[name]
            texts, codes[:, j] = coded_texts(column)
            labels.append(texts)
        number, order, starts = number_rows(codes, [len(texts) for texts in labels])
        value = np.array([self._values[text] for text in cells[KEY].to_list()], dtype=np.int64)
        joined, place = np.unique(
            np.stack((number, cells[PERSON].to_numpy(), value), axis=1), axis=0, return_inverse=True
        )
        count = np.bincount(place.ravel(), weights=cells[ROWS].to_numpy()).astype(np.int64)
        held = Holdings(joined[:, 0], joined[:, 1], joined[:, 2], count, len(starts))
        return ReleasedClasses(labels, codes[order[starts]].astype(np.int64), held.records), held

    @cached_property
    def _before(self) -> tuple[ReleasedClasses, Holdings]:
        return self._held(self._cells[0], clean=True)

    @cached_property
    def _after(self) -> tuple[ReleasedClasses, Holdings]:
        return self._held(self._cells[1], clean=False)

    def singling_out(self) -> Comparison:
        """Count the persons who are alone in the class of one of their records."""
        return self._compared(by_person.singling_out)

    def homogeneity(self) -> Comparison:
        """Name the commonest sensitive value of the class of a known record."""
        return self._compared(by_person.homogeneity)

    def _compared(self, attack: Callable[[Holdings], AttackResult]) -> Comparison:
        return Comparison(before=attack(self._before[1]), after=attack(self._after[1]))

    def linkage(self) -> Comparison:
        """Look for persons of whom one record is known."""
        who, known = self._targets()
        before = self._link(*self._before, who, known, errors=False)
        after = self._link(*self._after, who, known, errors=self.centroids)
        return Comparison(before=before, after=replace(after, attack=before.attack))

    def _targets(self) -> tuple[NDArray[np.int64], pl.DataFrame]:
        """Draw persons, and one record of each; every record of theirs is as likely."""
        chance = np.random.default_rng(self.seed)
        cells = self._cells[0].filter(pl.col(PERSON) >= 0).sort(PERSON, maintain_order=True)
        person = cells[PERSON].to_numpy()
        ends = np.cumsum(cells[ROWS].to_numpy().astype(np.int64))
        people, first = np.unique(person, return_index=True)
        number = min(self.targets, len(people))
        chosen = np.sort(chance.choice(len(people), size=number, replace=False))
        begin = np.concatenate(([0], ends))[first]
        until = np.append(begin[1:], ends[-1])
        record = chance.integers(begin[chosen], until[chosen])
        return people[chosen], cells[np.searchsorted(ends, record, side="right")]

    def _link(
        self,
        classes: ReleasedClasses,
        held: Holdings,
        who: NDArray[np.int64],
        known: pl.DataFrame,
        *,
        errors: bool,
    ) -> AttackResult:
        most = affordable(len(who), held.classes, len(self.schema.quasi))
        every = list(range(len(self.schema.quasi)))
        facts = self._by_records.knowledge(classes, known.head(most), every)
        return by_person.linkage(facts, who[:most], classes.codes, held=held, errors=errors)

    def closely(self, register: Source | None = None) -> list[Comparison]:
        """Read labels closely, and look for the persons of a register; see `CloseReader`."""
        table = self._by_records.table
        classes, _ = self._after
        close = CloseReader(self.original.source, self.release.source, self.schema, table, classes)
        if not close.is_affordable:
            return []
        alone = by_person.singling_out(self._before[1])
        found = close.all()
        if register is not None:
            found.append(close.membership(register))
        return [Comparison(before=replace(alone, attack=each.attack), after=each) for each in found]

    def three_questions(self) -> tuple[Comparison, ...]:
        """Answer the three questions: singling out, linkability and inference, in this order.

        Inference is left out where the schema names no sensitive column.
        """
        answers = [self.singling_out(), self.linkage()]
        if self.schema.sensitive:
            answers.append(self.homogeneity())
        return tuple(answers)
