"""People behind the records: how many values of an identifying column each class has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.local.recode import Recoder
from shoal.engines.local.replacing import Replacing
from shoal.engines.local.source import Source
from shoal.engines.person_key import PERSON, repeated_persons, with_who
from shoal.engines.person_key import present as present
from shoal.inference.persons import person_column
from shoal.measures.risk.persons import Repeats
from shoal.schema.schema import Role, Schema
from shoal.schema.techniques import Shift

_CLASS, _WHO, _ROWS = "\x00class", "\x00who", "\x00rows"


def repeating(source: Source, schema: Schema) -> tuple[str, tuple[int, int]] | None:
    """Return the identifying column that says whose a record is, where people have several.

    Returns:
        Its name, and its distinct and present values; None where nothing repeats.
    """
    dates = [name for name, each in schema.replaced.items() if isinstance(each, Shift)]
    names = [
        name
        for name in schema.named(Role.IDENTIFYING)
        if name in source.columns and name not in dates
    ]
    if not names:
        return None
    weight = pl.lit(1) if source.weight is None else pl.col(source.weight)
    lazy = source.scan(names)
    asked = []
    for i, name in enumerate(names):
        who = present(pl.col(name), schema.missing)
        asked.append((who.is_not_null() * weight).sum().alias(f"p{i}"))
        asked.append(who.drop_nulls().n_unique().alias(f"d{i}"))
    row = source.collect(lazy.select(asked)).row(0, named=True)
    counted = {name: (int(row[f"d{i}"]), int(row[f"p{i}"])) for i, name in enumerate(names)}
    found = person_column(counted)
    return None if found is None else (found, counted[found])


def repeats_as_it_stands(source: Source, schema: Schema, k: int) -> Repeats | None:
    """Count the people of a table's own classes."""
    found = repeating(source, schema)
    if found is None:
        return None
    column, counted = found
    quasi = list(schema.quasi)
    lazy = source.scan([*quasi, column], coded=quasi)
    who = present(pl.col(column), schema.missing).drop_nulls().n_unique().alias(_WHO)
    grouped = source.collect(lazy.group_by(quasi).agg(who, source.records.alias(_ROWS)))
    sizes, people = (grouped[name].to_numpy().astype(np.int64) for name in (_ROWS, _WHO))
    return Repeats.of(column, counted, k, sizes, people)


def repeats_of_release(
    recoder: Recoder, replacing: Replacing, coded: Sequence[str], k: int
) -> Repeats | None:
    """Count the people of the classes that a recoding releases.

    Args:
        recoder: the recoding and the table it is made from.
        replacing: scans the table as it was recoded.
        coded: columns that the table's scan has dictionary-coded.
        k: people that a class should have.
    """
    source, schema, recoding = recoder.source, recoder.schema, recoder.recoding
    found = repeating(source, schema)
    if found is None:
        return None
    column, counted = found
    # Records of a tuple that several classes share differ in their other columns.
    is_shared = len(recoding.row) > recoding.table.rows
    needed = {*(schema.released if is_shared else recoder.counted.columns)}
    names = [name for name in source.columns if name in needed]
    who = present(pl.col(_WHO), schema.missing).alias(_WHO)
    lazy = replacing.scan(
        names, coded=[name for name in coded if name in needed], beside={_WHO: column}
    ).with_columns(who)
    sizes = np.append(recoding.sizes, recoding.suppressed if recoder.star else 0)
    people = people_of_classes(replace(recoder, lazy=lazy).classes(_WHO), len(sizes), k)
    there = sizes > 0
    return Repeats.of(column, counted, k, sizes[there], people[there])


class Person(NamedTuple):
    """An identifying column that repeats: its distinct and present values, and every record's."""

    column: str
    counted: tuple[int, int]
    who: pl.Series

    def repeats(self, labels: NDArray[np.int64], k: int) -> Repeats:
        """Count the people of classes, given the class of each record (-1: suppressed)."""
        sizes = np.bincount(labels[labels >= 0])
        people = people_of_classes([(labels, self.who)], len(sizes), k)
        there = sizes > 0
        return Repeats.of(self.column, self.counted, k, sizes[there], people[there])


def with_persons_beside(source: Source, lazy: pl.LazyFrame) -> pl.LazyFrame:
    """Return records with who they are about beside them; texts of an in-memory table coded."""
    repeated = source.collect(repeated_persons(lazy.select(PERSON)))
    found = with_who(lazy, repeated)
    if source.fits_memory():
        found = found.with_columns(pl.col(PERSON).cast(pl.Categorical))
    return found


def people_of_classes(
    classed: Iterable[tuple[NDArray[np.int64], pl.Series]], classes: int, k: int
) -> NDArray[np.int64]:
    """Return the number of people of each class, k standing for k or more.

    Args:
        classed: batches of records: the class of each (-1: none) and who it is about.
        classes: how many there are.
        k: people that suffice. Of a class that has them nothing more is kept, so that memory
            follows the classes.
    """
    people = np.zeros(classes, dtype=np.int64)
    pairs = pl.DataFrame(schema={_CLASS: pl.Int64, _WHO: pl.String})
    for labels, who in classed:
        asked = (labels >= 0) & who.is_not_null().to_numpy()
        asked[asked] = people[labels[asked]] < k
        batch = pl.DataFrame(
            {_CLASS: labels[asked], _WHO: who.filter(pl.Series(asked))}, schema=pairs.schema
        )
        pairs = pl.concat([pairs, batch]).unique()
        counted = pairs.group_by(_CLASS).len()
        people[counted[_CLASS].to_numpy()] = np.minimum(counted["len"].to_numpy(), k)
        pairs = pairs.filter(pl.Series(people[pairs[_CLASS].to_numpy()] < k))
    return people
