"""The class of every record of a table in releases that were made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError, KernelInputError
from shoal.engines.local.frequencies import Frequencies, frequencies
from shoal.engines.local.source import Source, open_source
from shoal.engines.person_key import PERSON, person_hash
from shoal.engines.refusals import check_columns
from shoal.engines.verification import ROWS, judge_cells, judged_columns
from shoal.kernels.encoding.box_tree import box_tree, covering_boxes
from shoal.measures.attacks.match import covered_codes
from shoal.measures.composition import ABSENT, UNKNOWN, Candidates, Meet, certain_values
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.attribute import Attribute, Kind, Role
from shoal.schema.schema import Schema
from shoal.table.frequency import number_rows

CLASS = "class"
"""The column of a class file: one line a record of the table, in its order."""
MOST = 64  # classes that a record may fit; more, and its class cannot be told
_CELL, _NUMBER = "\x00cell", "\x00number"


@dataclass(frozen=True)
class Original:
    """A table that releases were made of.

    Attributes:
        schema: its quasi-identifiers, with their kinds and hierarchies, and sensitive columns.
    """

    source: Source
    schema: Schema

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Return what a release may show of the records, in the table's order."""
        names = [name for name in self.source.columns if name in self.schema.released]
        scan = self.source.scan([*names, *self.schema.person], coded=self.schema.quasi)
        if self.schema.person:
            who = person_hash(self.schema.person, self.schema.missing)
            scan = scan.with_columns(who).drop(self.schema.person)
        return self.source.collect(scan)

    @cached_property
    def persons(self) -> NDArray[np.int64] | None:
        """Return who each record is about, -1 for nobody; None: each about somebody else."""
        if not self.schema.person:
            return None
        ranks = self.frame[PERSON].rank("dense").cast(pl.Int64).fill_null(-1)
        return ranks.to_numpy().astype(np.int64)

    @property
    def records(self) -> int:
        """Return how many records there are."""
        return self.frame.height

    @cached_property
    def _counted(self) -> Frequencies:
        plain = self.schema.without_person()  # labels are those of records, whoever they are of
        return frequencies(self.source, self.frame.lazy(), plain, sensitive=())

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        return self._counted.rows_of(self.frame)

    def classes_by_release(self, encoded: object) -> NDArray[np.int64]:
        """Return the classes of a release that has every record, in the table's own order."""
        labels = open_source(encoded)
        quasi = list(self.schema.quasi)
        found = labels.collect(labels.scan(quasi)).select(pl.col(quasi).cast(pl.String))
        return found.select(pl.struct(quasi).rank("dense")).to_series().to_numpy().astype(np.int64)

    def values(self, column: str) -> pl.Series:
        """Return the texts of a column."""
        return self.frame[column].cast(pl.String)

    def classes_by_file(self, path: str | Path) -> NDArray[np.int64]:
        """Return the classes that a class file has.

        Raises:
            InputError: it is not a class file, or not one of this table.
        """
        found = open_source(path)
        check_columns(found.where, found.columns, [CLASS])
        texts = found.collect(found.scan([CLASS]))[CLASS].cast(pl.String)
        numbers = texts.cast(pl.Int64, strict=False)
        if numbers.null_count() or (numbers < ABSENT).any():
            raise InputError(where=found.where, problem="holds something else than class numbers")
        if numbers.len() != self.records:
            problem = (
                f"has {numbers.len()} lines for {self.records} records; is it of another table?"
            )
            raise InputError(where=found.where, problem=problem)
        return numbers.to_numpy().astype(np.int64)

    def classes_by_labels(self, release: Source) -> NDArray[np.int64]:
        """Return the class of each record, as far as labels and kept columns tell it.

        Raises:
            InputError: it is not a release of this table.
        """
        quasi = list(self.schema.quasi)
        check_columns(release.where, release.columns, quasi)
        kept = [c for c in release.columns if c in self.frame.columns and c not in quasi]
        cells = release.collect(
            release.scan([*quasi, *kept]).group_by([*quasi, *kept]).agg(pl.len().alias(ROWS))
        ).with_columns(pl.col([*quasi, *kept]).cast(pl.String))
        own, theirs = self._kept_numbers(cells, kept, release.where)
        number, order, starts = number_rows(
            np.stack((self._rows, own), axis=1).astype(np.int32),
            [self._counted.table.rows, int(own.max(initial=0)) + 1],
        )
        some = order[starts]
        points = np.concatenate(
            (self._counted.table.codes[self._rows[some]], own[some, None].astype(np.int32)), axis=1
        )
        candidates = self._candidates(cells, theirs, points, np.bincount(number))
        try:
            told = candidates.told()
        except KernelInputError:
            problem = "cannot be a release of this table: its classes do not hold these records"
            raise InputError(where=release.where, problem=problem) from None
        class_of = cells.select(pl.struct(quasi).rank("dense").cast(pl.Int64)).to_series()
        found = np.where(told >= 0, class_of.to_numpy()[told.clip(0)], told)
        return found[number]

    def _kept_numbers(
        self, cells: pl.DataFrame, kept: list[str], where: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number the combinations of kept values, of the table's records and of the cells."""
        if not kept:
            return np.zeros(self.records, np.int64), np.zeros(cells.height, np.int64)
        own = self.frame.select(pl.col(kept).cast(pl.String))
        known = own.unique().sort(kept).with_row_index(_NUMBER)
        mine, theirs = (
            frame.join(known, on=kept, how="left", nulls_equal=True, maintain_order="left")[_NUMBER]
            for frame in (own, cells.select(kept))
        )
        if theirs.null_count():
            problem = "has kept values that the table does not have; is it of another table?"
            raise InputError(where=where, problem=problem)
        return mine.to_numpy().astype(np.int64), theirs.to_numpy().astype(np.int64)

    def _candidates(
        self,
        cells: pl.DataFrame,
        kept: NDArray[np.int64],
        points: NDArray[np.int32],
        records: NDArray[np.int64],
    ) -> Candidates:
        """Find the cells that each group of equal records fits.

        Args:
            cells: labels, kept values and records of each cell.
            kept: the number of its combination of kept values.
            points: for each group its codes and the number of its kept values.
            records: of each group.
        """
        domains = self._counted.table.domains
        low = np.empty((cells.height, len(domains) + 1), dtype=np.int32)
        high = np.empty_like(low)
        for j, domain in enumerate(domains):
            texts = cells[domain.name]
            known = texts.unique(maintain_order=True)
            place = pl.DataFrame({domain.name: known}).with_row_index(_NUMBER)
            which = cells.select(domain.name).join(
                place, on=domain.name, how="left", nulls_equal=True, maintain_order="left"
            )[_NUMBER]
            ends = np.array(covered_codes(domain, known.to_list()), dtype=np.int32).reshape(-1, 2)
            low[:, j], high[:, j] = ends[which.to_numpy()].T
        low[:, -1] = high[:, -1] = kept
        none = np.zeros(0, dtype=np.int32)
        tree = box_tree(low, high, np.full(low.shape, -1, dtype=np.int64), (none, none))
        starts, found = covering_boxes(points, tree, MOST)
        sizes = cells[ROWS].to_numpy().astype(np.int64)
        return Candidates(
            records=records.astype(np.int64),
            starts=starts,
            cells=found,
            sizes=sizes,
            may_be_absent=int(sizes.sum()) < int(records.sum()),
            is_cut=np.diff(starts) > MOST,
        )


@dataclass(frozen=True)
class Overlay:
    """Releases of one table, laid over each other.

    Attributes:
        classes: int64[records, releases], the class of each record in each of them.
    """

    original: Original
    classes: NDArray[np.int64]

    @classmethod
    def of(cls, original: Original, found: Sequence[NDArray[np.int64]]) -> Overlay:
        """Lay classes over each other: for each release, that of every record."""
        return cls(original, np.stack(found, axis=1))

    @cached_property
    def meet(self) -> Meet:
        """Return the people who share a class in every release."""
        return Meet.of(self.classes, self.original.persons)

    @property
    def unknown(self) -> tuple[int, ...]:
        """Return, for each release, the records whose class in it cannot be told."""
        return tuple(int(n) for n in (self.classes == UNKNOWN).sum(axis=0))

    def judge(self, promise: Sequence[Promise]) -> Verification | None:
        """Judge the meet as if its cells were released classes; None where nothing is known."""
        if not len(self.meet.sizes):
            return None
        schema = self.original.schema
        sensitive = judged_columns(schema, promise)[len(schema.quasi) :]
        if schema.person:
            sensitive = [*sensitive, PERSON]
        laid_out = self.original.frame.select(
            pl.Series(_CELL, self.meet.cell, dtype=pl.Int64), *sensitive
        )
        cells = laid_out.filter(pl.col(_CELL) >= 0)
        counted = cells.group_by([_CELL, *sensitive]).agg(pl.len().alias(ROWS))
        cell = Attribute(name=_CELL, role=Role.QUASI, kind=Kind.CATEGORICAL)
        others = tuple(a for a in schema.attributes if a.role is Role.SENSITIVE)
        laid = replace(schema, attributes=(cell, *others), target=None, waive=())
        return judge_cells(counted, laid, promise, where=self.original.source.where)

    def certain(self, column: str) -> tuple[float, float]:
        """Return the share of records whose sensitive value is certain: by one release, by all.

        By one: by the release that gives most of them away.
        """
        known = self.original.values(column)
        values = known.rank("dense").fill_null(0).to_numpy().astype(np.int64)
        published = max(int((self.meet.cell != ABSENT).sum()), 1)
        alone = [
            float(certain_values(self.classes[:, [j]], values).sum()) / published
            for j in range(self.classes.shape[1])
        ]
        return max(alone), float(certain_values(self.classes, values).sum()) / published


def linked_rows(releases: Sequence[Source], columns: Sequence[str]) -> float | None:
    """Return the share of rows that kept columns alone link between releases, one to one.

    None where the releases have no kept column in common.
    """
    shared = [c for c in columns if all(c in release.columns for release in releases)]
    if not shared or len(releases) < 2:
        return None
    single = []
    for release in releases:
        texts = release.scan(shared).select(pl.col(shared).cast(pl.String))
        counted = release.collect(texts.group_by(shared).agg(pl.len().alias(ROWS)))
        single.append(counted)
    joined = single[0].filter(pl.col(ROWS) == 1)
    for other in single[1:]:
        alone = other.filter(pl.col(ROWS) == 1)
        joined = joined.join(alone.select(shared), on=shared, how="semi", nulls_equal=True)
    smallest = min(int(counted[ROWS].sum()) for counted in single)
    return joined.height / smallest if smallest else None


__all__ = ["CLASS", "Original", "Overlay", "linked_rows"]
