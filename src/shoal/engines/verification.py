"""Judging the counted cells of a table, as they are written.

Nothing here knows how a release came about. Classes are the distinct texts of
the quasi-identifier columns as they stand in the file; what a sensitive value is, and how
its column is ordered, says `schema.sensitive`; models are judged by `privacy` in exact
arithmetic; no kernel, domain or frequency table is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import polars as pl

from shoal.engines.person_key import PERSON
from shoal.engines.refusals import no_record, nobody
from shoal.formats.types import holds_dates, texts_of
from shoal.model.batch import People, judge_column
from shoal.privacy import Needs, Promise, Reference, Verdict, expand, judge_sizes
from shoal.reports.release import Verification
from shoal.schema.schema import Kind, Schema
from shoal.schema.sensitive import Scale, Values, notices

ROWS = "\x00rows"  # how many records a cell stands for
SIZE = "\x00size"  # how many records, or persons, a class has
CLASS, PLACE = "\x00class", "\x00place"


def judged_columns(schema: Schema, promise: Sequence[Promise]) -> list[str]:
    """Return the columns that a verdict depends on: quasi-identifiers, then sensitive ones."""
    named = (model.column for model in expand(promise, schema.sensitive))
    return [*schema.quasi, *dict.fromkeys(name for name in named if name is not None)]


def judge_cells(
    cells: pl.DataFrame, schema: Schema, promise: Sequence[Promise], *, where: str
) -> Verification:
    """Judge a table by its cells: a class is the records with the same quasi-identifiers.

    Args:
        cells: the distinct rows of `judged_columns`, and ROWS. With a column PERSON they are
            those of the persons, too, and persons are counted instead of records.
        schema: names quasi-identifiers and sensitive columns.
        promise: what every class must keep.
        where: the table, for messages.

    Raises:
        InputError: there is no record, or sensitive values do not fit their column's scale.
    """
    return judge_by(cells, schema.quasi, schema, promise, where=where).verified


class JudgedBy(NamedTuple):
    """How the classes that some columns make stand, and the values of these where they fail."""

    verified: Verification
    failing: pl.DataFrame


def judge_by(
    cells: pl.DataFrame,
    by: Sequence[str],
    schema: Schema,
    promise: Sequence[Promise],
    *,
    where: str,
) -> JudgedBy:
    """Judge the classes that columns make; see `judge_cells`."""
    models = expand(promise, schema.sensitive)
    quasi = list(by)
    by_person = PERSON in cells.columns
    classes = _classes(cells, quasi)
    if not classes.height:
        raise no_record(where)
    if by_person and not classes[SIZE].sum():
        raise nobody(where, schema.person)
    counted, values = {}, {}
    for name in judged_columns(schema, promise)[len(schema.quasi) :]:
        scale = Scale.of(schema, name, models)
        counted[name], values[name] = _SensitiveCounts.read(cells, classes, scale)
    verified, failed = _judged(cells, classes, quasi, counted, models)
    verified = replace(
        verified,
        persons=cells[PERSON].drop_nulls().n_unique() if by_person else None,
        warnings=notices(values),
    )
    return JudgedBy(verified, classes.select(quasi)[sorted(failed)])


class PlacedColumn(NamedTuple):
    """A sensitive column whose values have their places already.

    Attributes:
        places: the column of cells that has them.
        reference: the column in the whole table.
    """

    places: str
    scale: Scale
    reference: Reference


def judge_some_classes(
    cells: pl.DataFrame,
    by: Sequence[str],
    columns: Mapping[str, PlacedColumn],
    models: Sequence[Promise],
) -> Verification:
    """Judge some classes of a table by their persons, where all cells of each of them are here.

    Args:
        cells: as for `judge_cells`, with PERSON; of sensitive columns, the places of values.
        by: the columns that make classes.
        columns: of each sensitive column.
        models: the promise, a model for each column that it speaks of.

    Returns:
        What can be merged with that of other classes: the number of persons is left out.
    """
    quasi = list(by)
    classes = _classes(cells, quasi)
    counted = {
        name: _SensitiveCounts.placed(cells, classes, cells[column.places], column)
        for name, column in columns.items()
    }
    return _judged(cells, classes, quasi, counted, models)[0]


def _classes(cells: pl.DataFrame, quasi: list[str]) -> pl.DataFrame:
    """Return the classes that cells make, with their records (ROWS) and size (SIZE)."""
    by_person = PERSON in cells.columns
    people = pl.col(PERSON).drop_nulls().n_unique() if by_person else pl.col(ROWS).sum()
    return cells.group_by(quasi).agg(pl.col(ROWS).sum(), people.alias(SIZE))


def _judged(
    cells: pl.DataFrame,
    classes: pl.DataFrame,
    quasi: list[str],
    counted: Mapping[str, _SensitiveCounts],
    models: Sequence[Promise],
) -> tuple[Verification, set[int]]:
    """Return how classes stand, and the positions of those that break a model."""
    records, sizes = classes[ROWS], classes[SIZE]
    by_person = PERSON in cells.columns
    held = records.to_list() if by_person else None
    failed: set[int] = set()
    results = []
    for model in models:
        if model.column is None:
            verdict = judge_sizes(model, sizes.to_list(), held=held)
        else:
            verdict = counted[model.column].judge(model)
        failed.update(verdict.failing)
        results.append(verdict)
    verified = Verification(
        records=int(records.sum()),
        largest_share=_largest_share(cells, quasi) if by_person else None,
        classes=classes.height,
        smallest_class=int(sizes.min()),  # type: ignore[arg-type]
        violating_records=int(records.gather(sorted(failed)).sum()) if failed else 0,
        privacy=tuple(results),
    )
    return verified, failed


@dataclass(frozen=True)
class _SensitiveCounts:
    """One sensitive column: its values per class, and in the whole table."""

    scale: Scale
    released: pl.DataFrame  # the classes, as their released tuples
    counts: list[dict[int, int]]  # for each class: records, or persons, per place of a value
    reference: Reference
    people: list[People] | None = None  # of each class, where persons are counted

    @classmethod
    def read(
        cls, cells: pl.DataFrame, classes: pl.DataFrame, scale: Scale
    ) -> tuple[_SensitiveCounts, Values]:
        """Count a column of cells, and return what its values are."""
        raw = cells[scale.attribute.name]
        scale = scale.declared(Kind.DATE) if holds_dates(raw.dtype) else scale
        texts = texts_of(raw)
        text_of = {text: scale.text(text) for text in texts.unique().to_list()}
        values = scale.read(text_of.values())
        places = [values.place[text_of[text]] for text in texts.to_list()]
        joined, released = _numbered(cells, classes, pl.Series(PLACE, places, dtype=pl.Int64))
        if PERSON in cells.columns:
            found = PersonCounts.of(joined, classes, len(values.labels))
            reference = values.reference(found.totals, persons=found.persons)
            return cls(scale, released, found.counts, reference, found.people), values
        summed = joined.group_by([CLASS, PLACE]).agg(pl.col(ROWS).sum())
        counts: list[dict[int, int]] = [{} for _ in range(classes.height)]
        totals = [0] * len(values.labels)
        for which, position, rows in summed.select(CLASS, PLACE, ROWS).iter_rows():
            counts[which][position] = rows
            totals[position] += rows
        return cls(scale, released, counts, values.reference(totals)), values

    @classmethod
    def placed(
        cls, cells: pl.DataFrame, classes: pl.DataFrame, places: pl.Series, column: PlacedColumn
    ) -> _SensitiveCounts:
        """Count persons at places that are known."""
        joined, released = _numbered(cells, classes, places.cast(pl.Int64).alias(PLACE))
        found = PersonCounts.of(joined, classes, len(column.reference.counts))
        return cls(column.scale, released, found.counts, column.reference, found.people)

    def judge(self, model: Promise) -> Verdict:
        """Judge every class; its supersets are judged where one fails."""
        keys = self.released.rows() if Needs.SUPERSETS in model.needs else None
        return judge_column(
            model, self.scale, self.reference, self.counts, released=keys, people=self.people
        )


def _numbered(
    cells: pl.DataFrame, classes: pl.DataFrame, places: pl.Series
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return cells with their class and place, and what each class releases."""
    quasi = [name for name in classes.columns if name not in (ROWS, SIZE)]
    number = classes.select(quasi).with_row_index(CLASS)
    by_person = [PERSON] if PERSON in cells.columns else []
    joined = cells.select([*quasi, ROWS, *by_person]).with_columns(places)
    joined = joined.join(number, on=quasi, how="left", nulls_equal=True)
    return joined, classes.select(quasi)


class PersonCounts(NamedTuple):
    """The different (person, value) pairs of one sensitive column.

    Attributes:
        counts: persons of each class at each place of a value.
        people: of each class.
        totals, persons: persons at each place, and all of them, in the whole table.
    """

    counts: list[dict[int, int]]
    people: list[People]
    totals: list[int]
    persons: int

    @classmethod
    def of(cls, cells: pl.DataFrame, classes: pl.DataFrame, places: int) -> PersonCounts:
        """Count from cells with their class, place and person."""
        pairs = cells.select(CLASS, PLACE, PERSON).filter(pl.col(PERSON).is_not_null()).unique()
        counts: list[dict[int, int]] = [{} for _ in range(classes.height)]
        for which, place, persons in pairs.group_by(CLASS, PLACE).len().iter_rows():
            counts[which][place] = persons
        several: list[list[list[int]]] = [[] for _ in range(classes.height)]
        many = pairs.group_by(CLASS, PERSON).agg(PLACE).filter(pl.col(PLACE).list.len() > 1)
        for which, values in many.select(CLASS, PLACE).iter_rows():
            several[which].append(values)
        totals = [0] * places
        whole = pairs.select(PLACE, PERSON).unique().group_by(PLACE).len()
        for place, persons in whole.iter_rows():
            totals[place] = persons
        sizes = zip(classes[SIZE].to_list(), classes[ROWS].to_list(), several, strict=True)
        people = [People(persons, records, values) for persons, records, values in sizes]
        return cls(counts, people, totals, pairs[PERSON].n_unique())


def _largest_share(cells: pl.DataFrame, quasi: list[str]) -> float:
    """Return the largest share of a class's records that are of one person."""
    own = cells.group_by([*quasi, PERSON]).agg(pl.col(ROWS).sum())
    named = own.filter(pl.col(PERSON).is_not_null())
    most = named.group_by(quasi).agg(pl.col(ROWS).max().alias(SIZE))
    all_of = own.group_by(quasi).agg(pl.col(ROWS).sum())
    both = most.join(all_of, on=quasi, nulls_equal=True)
    return float((both[SIZE] / both[ROWS]).max() or 0)  # type: ignore[arg-type]
