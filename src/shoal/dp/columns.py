"""Reading the columns of a question: types, missing cells, groups, people, exact totals.

Whatever a question costs is charged before anything in here adds up data.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError, MethodError
from shoal.dp.accounting import refuse
from shoal.dp.question import Question, Statistic
from shoal.dp.records import MOST_ROWS, Recipe, named_cell
from shoal.dp.where import as_number, expression

SAMPLE = 10_000


@dataclass(frozen=True, slots=True)
class Totals:
    """Exact totals: values[group, part] over the records that have a value, missing[group].

    The last group holds the records of no named group, if groups were named.
    """

    values: NDArray[np.int64]
    missing: NDArray[np.int64]


class Columns:
    """The columns that one question looks at.

    Raises:
        MethodError: a column does not exist, or is not of a type that fits.
    """

    def __init__(self, table: pl.LazyFrame, question: Question) -> None:
        self.question = question
        self.table, self.types = _prepared(table, question)
        self.groups = len(question.labels) + 1 if question.by else 1
        faults = _type_faults(question, self.types)
        refuse(faults)
        if self._is_number and self.types[str(question.column)] == pl.String:
            _refuse_text(self.table, str(question.column))

    @property
    def whole(self) -> bool:
        """Whether the column holds whole numbers by its type."""
        column = self.question.column
        return column is not None and (
            self.types[column].is_integer() and self.types[column] not in (pl.UInt64, pl.Int128)
        )

    @property
    def _is_number(self) -> bool:
        return self.question.needs_bounds

    def totals(self, recipe: Recipe) -> Totals:
        """Add up a recipe over every group, exactly."""
        lazy = self._rows()
        parts = recipe.parts(pl.col("value"))
        names = [f"part_{i}" for i in range(len(parts))]
        sums = [part.sum().alias(n) for part, n in zip(parts, names, strict=True)]
        found = _collect(lazy.group_by("group", "missing").agg(pl.len().alias("rows"), *sums))
        values = np.zeros((self.groups, len(parts)), dtype=np.int64)
        missing = np.zeros(self.groups, dtype=np.int64)
        _refuse_too_long(int(found["rows"].sum()))
        for group, is_missing, rows, *totals in found.iter_rows():
            if is_missing:
                missing[group] = rows
            else:
                values[group] = totals
        return Totals(values, missing)

    def counts(self, cell: pl.Expr, cells: int) -> Totals:
        """Count the records of every group in every cell (an index computed from `value`)."""
        keyed = self._rows().with_columns(
            pl.when(pl.col("missing")).then(cells).otherwise(cell).alias("cell")
        )
        found = _collect(keyed.group_by("group", "cell").agg(pl.len().alias("rows")))
        _refuse_too_long(int(found["rows"].sum()))
        values = np.zeros((self.groups, cells + 1), dtype=np.int64)
        values[found["group"].to_numpy(), found["cell"].to_numpy()] = found["rows"].to_numpy()
        return Totals(values[:, :cells], values[:, cells])

    def _rows(self) -> pl.LazyFrame:
        """Return the records that count, as group, missing, value, with people cut to size."""
        question = self.question
        lazy = self.table
        if question.conditions:
            lazy = lazy.filter(expression(question.conditions, self.types))
        columns = [self._group().alias("group"), self._value().alias("value")]
        if question.entity is not None:
            columns.append(pl.col(question.entity).alias("entity"))
        # with_columns first: a selection of constants alone would be a single row
        lazy = lazy.with_columns(columns).select([column.meta.output_name() for column in columns])
        lazy = self._filled(lazy)
        if question.entity is not None:
            lazy = _cut(_collect(lazy), question.rows).lazy()
        return lazy.with_columns(pl.col("value").is_null().alias("missing"))

    def _value(self) -> pl.Expr:
        question = self.question
        if question.column is None:
            return pl.lit(1, dtype=pl.Int64)
        column, kind = pl.col(question.column), self.types[question.column]
        return as_number(column, kind) if self._is_number else column

    def _filled(self, lazy: pl.LazyFrame) -> pl.LazyFrame:
        """Make NaN missing, and put in what the rule for missing cells says.

        A step of its own: an expression that names `value` twice would read
        the texts of a file as numbers twice.
        """
        question = self.question
        value = pl.col("value")
        kind = lazy.collect_schema()["value"]
        if kind.is_float():
            lazy = lazy.with_columns(value.fill_nan(None))
        if question.missing in ("count", "drop"):
            return lazy
        bounds = question.bounds
        named = {
            "lower": bounds.lower,
            "upper": bounds.upper,
            "middle": bounds.lower + bounds.width / 2,
        }
        put = named.get(str(question.missing), question.missing)
        if isinstance(put, float) and not put.is_integer():
            value = value.cast(pl.Float64)
        return lazy.with_columns(value.fill_null(put))

    def _group(self) -> pl.Expr:
        """Return the index of a record's group; a record of no named group gets the last one."""
        index, known = pl.lit(0, dtype=pl.Int64), pl.lit(True)
        for name in self.question.by:
            names = self.question.groups[name]
            cell = named_cell(pl.col(name), names, kind=self.types[name])
            index = index * len(names) + cell
            known = known & (cell < len(names))
        if not self.question.by:
            return index
        return pl.when(known).then(index).otherwise(self.groups - 1)


def _prepared(
    table: pl.LazyFrame, question: Question
) -> tuple[pl.LazyFrame, dict[str, pl.DataType]]:
    """Select the columns that are needed; texts that mean "missing" become missing."""
    compared = (condition.column for condition in question.conditions)
    asked = (question.column, *question.by, question.entity, *compared)
    needed = list(dict.fromkeys(name for name in asked if name is not None))
    try:
        present = table.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(error) from None
    refuse([f"column {name!r}: no such column" for name in needed if name not in present])
    # A count of rows needs no column by name, but a scan of none has no rows.
    lazy = table.select(needed or [present.names()[0]]) if len(present) else table
    coded = [n for n in needed if isinstance(present[n], (pl.Categorical, pl.Enum))]
    lazy = lazy.with_columns(pl.col(coded).cast(pl.String)) if coded else lazy
    types = {n: pl.String() if n in coded else present[n] for n in needed}
    texts = [n for n in needed if types[n] == pl.String]
    if question.markers and texts:
        marked = pl.col(texts).str.strip_chars().is_in(list(question.markers))
        lazy = lazy.with_columns(pl.when(~marked).then(pl.col(texts)))
    return lazy, types


def _type_faults(question: Question, types: dict[str, pl.DataType]) -> list[str]:
    faults = []
    if question.needs_bounds:
        kind = types[str(question.column)]
        if not (kind.is_numeric() or kind in (pl.String, pl.Boolean)):
            faults.append(f"column {question.column!r} holds no numbers; {question.statistic} "
                          "needs some")  # fmt: skip
    named = [(name, question.groups[name]) for name in question.by]
    if question.categories:
        named.append((str(question.column), question.categories))
    for name, values in named:
        if types[name].is_nested():
            faults.append(f"column {name!r} holds lists or records; it cannot name groups")
        if types[name].is_numeric() and not all(_is_number_text(value) for value in values):
            faults.append(f"column {name!r} holds numbers; name its groups by numbers")
    if question.statistic is Statistic.COUNT and question.missing not in ("count", "drop"):
        faults.append("count takes missing: count or drop")
    return faults


def _is_number_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_text(table: pl.LazyFrame, column: str) -> None:
    """Refuse a column of texts that are not numbers.

    The type of a column counts as public. Text files have no types, so the
    first rows decide; single cells that are no numbers are missing values.
    """
    head = _collect(table.select(column).head(SAMPLE)).drop_nulls()
    numbers = head.select(as_number(pl.col(column), pl.String()).is_not_null().sum()).item()
    if head.height and 2 * numbers < head.height:
        raise MethodError(
            problem=f"column {column!r} is text; this statistic needs numbers "
            "(count and histogram with named categories take text)"
        )


def _refuse_too_long(rows: int) -> None:
    if rows > MOST_ROWS:
        raise MethodError(problem=f"tables of more than {MOST_ROWS:,} rows are not supported")


def fresh_keys(count: int) -> NDArray[np.uint64]:
    """Return random 64-bit keys from the operating system; there is no seed to set."""
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def _cut(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    """Keep at most `most` rows of each entity, chosen at random.

    Rows without an entity are together one entity: nobody knows whose they are.
    A row's key is its entity's code above 32 random bits, so that one sort of
    integers both gathers the entities and shuffles each (a window over a
    shuffled frame took twice as long on ten million rows).
    """
    entity = rows["entity"]
    if entity.dtype == pl.String:
        entity = entity.cast(pl.Categorical).to_physical()
    codes = entity.rank("dense").fill_null(0).cast(pl.UInt64).to_numpy()
    keys = (codes << np.uint64(32)) | (fresh_keys(rows.height) >> np.uint64(32))
    order = np.argsort(keys)
    sorted_codes = codes[order]
    starts = np.flatnonzero(np.diff(sorted_codes, prepend=np.uint64(2**63)))
    sizes = np.diff(starts, append=rows.height)
    places = np.arange(rows.height) - np.repeat(starts, sizes)
    kept = np.zeros(rows.height, dtype=np.bool_)
    kept[order[places < most]] = True
    return rows.drop("entity").filter(pl.Series(kept))


def _collect(lazy: pl.LazyFrame) -> pl.DataFrame:
    try:
        return lazy.collect(engine="streaming")
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(error) from None


def _unreadable(error: Exception) -> InputError:
    # Polars quotes cells in its messages; only the kind of error is stated.
    return InputError(
        where="table", problem=f"cannot be read ({type(error).__name__}); is it damaged?"
    )
