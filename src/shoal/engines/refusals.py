"""What every engine refuses of a table, in the same words."""

from __future__ import annotations

from collections.abc import Collection

from shoal.core.errors import InputError
from shoal.core.suggest import no_column


def no_record(where: str) -> InputError:
    """Return the error of a table without a record."""
    return InputError(where=where, problem="the table has a header but no record; bring some")


def nobody(where: str, names: Collection[str]) -> InputError:
    """Return the error of a table in which no record says who it is about."""
    key = ", ".join(repr(name.lstrip("\x00")) for name in names)
    return InputError(where=where, problem=f"no record says who it is about: {key} is always empty")


def check_columns(where: str, columns: Collection[str], wanted: Collection[str]) -> None:
    """Refuse a table that lacks columns.

    Raises:
        InputError: some are not there.
    """
    absent = [name for name in wanted if name not in columns]
    if absent:
        raise InputError(where=where, problem=no_column(absent, columns))
