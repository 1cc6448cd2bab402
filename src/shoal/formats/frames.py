"""Frames of other libraries: in as lazy Polars frames, out as the kind that came in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar, runtime_checkable

import polars as pl

from shoal.core.errors import InputError, ShoalError

_DUCKDB = ("duckdb", "_duckdb")


class AnyFrame(Protocol):
    """A table in memory, of whatever library: it has columns, and a path has none."""

    @property
    def columns(self) -> object:
        """Return the columns, or their names."""


Frame = TypeVar("Frame", bound=AnyFrame)
"""The kind of table that comes in and goes out."""


@runtime_checkable
class _Relation(Protocol):
    """A DuckDB relation: a query that runs when it is read."""

    columns: list[str]

    def to_arrow_table(self) -> object:
        """Run it."""


@runtime_checkable
class _PandasFrame(Protocol):
    """A pandas table; one of its columns alone has no columns."""

    columns: Iterable[object]


@runtime_checkable
class _ArrowTable(Protocol):
    """An Arrow table, or a batch of one."""

    column_names: list[str]


def to_lazy(table: object) -> pl.LazyFrame:
    """Return any supported frame as a lazy Polars frame, the caller's own left untouched."""
    if isinstance(table, pl.LazyFrame):
        return table
    if isinstance(table, pl.DataFrame):
        return table.lazy()
    module = type(table).__module__.partition(".")[0]
    if module == "pandas" and isinstance(table, _PandasFrame):
        _refuse_twice(list(table.columns))
        try:
            return pl.from_pandas(table, include_index=False).lazy()
        except Exception as error:  # its text quotes the value that did not fit
            raise InputError(
                where="table",
                problem=f"a column mixes kinds of values ({type(error).__name__}); use one",
            ) from None
    if module == "pyarrow" and isinstance(table, _ArrowTable):
        _refuse_twice(list(table.column_names))
        frame = pl.from_arrow(table)
        if isinstance(frame, pl.DataFrame):
            return frame.lazy()
    if module in _DUCKDB and isinstance(table, _Relation):
        _refuse_twice(list(table.columns))
        try:
            return to_lazy(table.to_arrow_table())
        except ShoalError:
            raise
        except Exception as error:  # its text may quote values
            problem = f"the DuckDB relation cannot be read ({type(error).__name__})"
            raise InputError(where="table", problem=problem) from None
    raise InputError(
        where="table",
        problem="not a table; give a path, or a Polars, pandas, Arrow or DuckDB table",
    )


def _refuse_twice(names: list[object]) -> None:
    if len(set(names)) != len(names):
        raise InputError(where="table", problem="a column name stands twice; rename one of them")


def like(frame: pl.DataFrame, model: object) -> object:
    """Return the frame as the kind of table that the caller gave."""
    plain = frame.with_columns(pl.col(pl.Enum).cast(pl.String))
    module = type(model).__module__.partition(".")[0]
    if module == "pandas":
        return plain.to_pandas()
    if module == "pyarrow":
        return plain.to_arrow()
    if module in _DUCKDB:
        from duckdb import from_arrow

        return from_arrow(plain.to_arrow())
    return plain.lazy() if isinstance(model, pl.LazyFrame) else plain
