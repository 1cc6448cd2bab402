"""A release into a table of a database: all of it in one transaction, or nothing.

The release is written to a private file first, where it is verified as every release is. Then it
is put into the database, read back within the same transaction, and compared cell by cell with
what was verified; only then is it committed, so that nobody ever sees a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from shoal.core.errors import OutputError, ShoalError
from shoal.formats.database import Database
from shoal.formats.database_tables import connected
from shoal.formats.endings import require
from shoal.formats.types import plain_types

BATCH = 20_000  # records that are put into a database at a time
WRITTEN = ("postgresql", "mysql", "sqlite", "duckdb")
_DRIVERS = {"postgresql": "adbc_driver_postgresql", "mysql": "pymysql", "duckdb": "duckdb"}
_FEATURE = "writing to a database"


@contextmanager
def released_to(goal: Database, *, replace: bool = False) -> Iterator[Path]:
    """Give a private file to write a release to; what is in it goes to the table.

    replace: a table of that name gives way, in the same transaction.

    Guarantee:
        Whatever is raised, the database is what it was before.

    Raises:
        OutputError: the database refused, or gave back something else than it was given.
    """
    with TemporaryDirectory(prefix="shoal-") as folder:  # mode 0700
        place = Path(folder) / "release.parquet"
        yield place
        _carry_out(goal, lambda: _load(goal, place, replace=replace))


def check_goal(goal: Database, *, replace: bool = False) -> None:
    """Refuse a table that cannot be written, before any work is done.

    Raises:
        MissingExtraError: the driver is not installed.
        OutputError: no such database, or the table is there already.
    """
    if goal.kind not in WRITTEN:
        named = ", ".join(f"{kind}://" for kind in WRITTEN)
        problem = f"is no database that a release can be written to; there are {named}"
        raise OutputError(where=goal.where, problem=problem)
    if goal.table is None:
        raise OutputError(where=goal.where, problem="name the table for the release: --table NAME")
    if goal.kind in _DRIVERS:
        require(_DRIVERS[goal.kind], "shoal[db]", feature=_FEATURE)
    if goal.kind in ("sqlite", "duckdb") and not Path(goal.file).absolute().parent.is_dir():
        raise OutputError(where=goal.where, problem="lies in a folder that is not there; make it")
    _carry_out(goal, lambda: _check_free(goal, replace=replace))


def _check_free(goal: Database, *, replace: bool) -> None:
    if goal.kind in ("sqlite", "duckdb") and not Path(goal.file).exists():
        return
    with connected(goal) as table:
        if table.exists() and not replace:
            raise _taken(goal)


def _taken(goal: Database) -> OutputError:
    problem = (
        f"table {goal.table!r} is there already; name another one, or say --replace-table where "
        "it is to give way"
    )
    return OutputError(where=goal.where, problem=problem)


def _carry_out(goal: Database, work: Callable[[], None]) -> None:
    """Do it; what a driver says stays inside, it may quote values."""
    try:
        work()
    except ShoalError:
        raise
    except Exception as error:
        problem = (
            f"the database refused ({type(error).__name__}); check address, rights and the name "
            "of the table. Nothing was changed"
        )
        raise OutputError(where=goal.where, problem=problem) from None


def _load(goal: Database, place: Path, *, replace: bool) -> None:
    frame = plain_types(pl.scan_parquet(place, glob=False))
    with connected(goal) as table:
        if table.exists() and not replace:
            raise _taken(goal)
        table.create(frame.head(0).collect())
        for batch in frame.collect_batches(chunk_size=BATCH, maintain_order=True):
            for part in batch.iter_slices(BATCH):
                table.add(part)
        written = plain_types(table.read().lazy()).collect()
        if not _same(frame.collect(), written):
            problem = "gave back other values than the release has; nothing was changed"
            raise OutputError(where=goal.where, problem=problem)
        table.commit()


def _same(release: pl.DataFrame, written: pl.DataFrame) -> bool:
    """Say whether two tables hold the same records, however they are typed and ordered."""
    decimals = {name for name, dtype in release.schema.items() if dtype.is_decimal()}
    one, two = (_texts(frame, decimals) for frame in (release, written))
    return one.columns == two.columns and one.sort(one.columns).equals(two.sort(two.columns))


def _texts(frame: pl.DataFrame, decimals: Collection[str]) -> pl.DataFrame:
    """Return each value as a text that does not depend on how a database keeps it."""
    texts = frame.select(_text(name, dtype) for name, dtype in frame.schema.items())
    digits = pl.col(list(decimals)).str.replace(r"(\.\d*?)0+$", "$1").str.strip_suffix(".")
    return texts.with_columns(digits) if decimals else texts


def _text(name: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if dtype == pl.Boolean:
        return column.cast(pl.Int64).cast(pl.String)
    if dtype.is_float():
        return column.cast(pl.Float64).fill_nan(None).cast(pl.String)
    if isinstance(dtype, pl.Datetime):
        zoned = column.dt.convert_time_zone("UTC") if dtype.time_zone else column
        return zoned.dt.replace_time_zone(None).dt.to_string("%Y-%m-%d %H:%M:%S%.6f")
    if dtype == pl.Time:
        return column.dt.to_string("%H:%M:%S%.6f")
    return column.cast(pl.String)
