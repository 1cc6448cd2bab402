"""Judging the counted cells of a table, as they are written.

Nothing here knows how a release came about. Classes are the distinct texts of
the quasi-identifier columns as they stand in the file; what a sensitive value is, and how
its column is ordered, says `schema.sensitive`; models are judged by `privacy` in exact
arithmetic; no kernel, domain or frequency table is used.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from shoal.engines.person_key import PERSON
from shoal.engines.refusals import no_record, nobody
from shoal.formats.types import holds_dates, texts_of
from shoal.model.batch import People, judge_column
from shoal.privacy import Promise, Reference, Verdict, expand, judge_sizes
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
    people = pl.col(PERSON).drop_nulls().n_unique() if by_person else pl.col(ROWS).sum()
    classes = cells.group_by(quasi).agg(pl.col(ROWS).sum(), people.alias(SIZE))
    if not classes.height:
        raise no_record(where)
    if by_person and not classes[SIZE].sum():
        raise nobody(where, schema.person)
    records, sizes = classes[ROWS], classes[SIZE]
    held = records.to_list() if by_person else None
    failed: set[int] = set()
    results = []
    judged = {
        name: _SensitiveCounts.read(cells, classes, Scale.of(schema, name, models))
        for name in judged_columns(schema, promise)[len(schema.quasi) :]
    }
    for model in models:
        if model.column is None:
            verdict = judge_sizes(model, sizes.to_list(), held=held)
        else:
            verdict = judged[model.column].judge(model)
        failed.update(verdict.failing)
        results.append(verdict)
    verified = Verification(
        records=int(records.sum()),
        persons=cells[PERSON].drop_nulls().n_unique() if by_person else None,
        largest_share=_largest_share(cells, quasi) if by_person else None,
        classes=classes.height,
        smallest_class=int(sizes.min()),  # type: ignore[arg-type]
        violating_records=int(records.gather(sorted(failed)).sum()) if failed else 0,
        privacy=tuple(results),
        warnings=notices({name: found.values for name, found in judged.items()}),
    )
    return JudgedBy(verified, classes.select(quasi)[sorted(failed)])


@dataclass(frozen=True)
class _SensitiveCounts:
    """One sensitive column: its values per class, and in the whole table."""

    scale: Scale
    values: Values
    keys: list[tuple[Hashable, ...]]  # the classes, as their released tuples
    counts: list[dict[int, int]]  # for each class: records, or persons, per place of a value
    reference: Reference
    people: list[People] | None = None  # of each class, where persons are counted

    @classmethod
    def read(cls, cells: pl.DataFrame, classes: pl.DataFrame, scale: Scale) -> _SensitiveCounts:
        quasi = [name for name in classes.columns if name not in (ROWS, SIZE)]
        raw = cells[scale.attribute.name]
        scale = scale.declared(Kind.DATE) if holds_dates(raw.dtype) else scale
        texts = texts_of(raw)
        text_of = {text: scale.text(text) for text in texts.unique().to_list()}
        values = scale.read(text_of.values())
        places = [values.place[text_of[text]] for text in texts.to_list()]
        where = pl.Series(PLACE, places, dtype=pl.Int64)
        number = classes.select(quasi).with_row_index(CLASS)
        by_person = [PERSON] if PERSON in cells.columns else []
        joined = cells.select([*quasi, ROWS, *by_person]).with_columns(where)
        joined = joined.join(number, on=quasi, how="left", nulls_equal=True)
        keys = classes.select(quasi).rows()
        if by_person:
            found = PersonCounts.of(joined, classes, len(values.labels))
            reference = values.reference(found.totals, persons=found.persons)
            return cls(scale, values, keys, found.counts, reference, found.people)
        summed = joined.group_by([CLASS, PLACE]).agg(pl.col(ROWS).sum())
        counts: list[dict[int, int]] = [{} for _ in range(classes.height)]
        totals = [0] * len(values.labels)
        for which, position, rows in summed.select(CLASS, PLACE, ROWS).iter_rows():
            counts[which][position] = rows
            totals[position] += rows
        return cls(scale, values, keys, counts, values.reference(totals))

    def judge(self, model: Promise) -> Verdict:
        """Judge every class; its supersets are judged where one fails."""
        return judge_column(
            model, self.scale, self.reference, self.counts, released=self.keys, people=self.people
        )


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
    return float((both[SIZE] / both[ROWS]).max())  # type: ignore[arg-type]
