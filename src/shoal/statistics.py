"""Differentially private statistics as a whole job: open the table, ask, charge, answer."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from shoal.core.errors import MethodError
from shoal.dp.accounting import Account
from shoal.dp.answer import Answer
from shoal.dp.commands import (
    answer,
    groups_from_text,
    ledger_log,
    ledger_set,
    ledger_show,
)
from shoal.dp.declared import declared
from shoal.dp.fingerprint import fingerprint_file, fingerprint_frame
from shoal.dp.ledger import Entry
from shoal.engines.local.source import open_source
from shoal.schema.schema import Schema

__all__ = ["budget_log", "budget_set", "budget_show", "stats"]


def stats(
    table: Any,
    statistic: str,
    *,
    column: str | None = None,
    schema: Schema | None = None,
    by: Sequence[str] = (),
    groups: Sequence[str] = (),
    dataset: str | None = None,
    ledger: str | Path | None = None,
    accounting: str | None = None,
    separator: str | None = None,
    **options: Any,
) -> Answer:
    """Answer one question about a table, charged to its budget before it is computed.

    Args:
        table: a path, a frame or a table in a database.
        statistic: count, sum, mean, min, max, variance, moment, quantile or histogram.
        column: what it is about.
        schema: declares bounds, groups and marks of missing values, where no option does.
        by: columns whose named groups are answered apart.
        groups: the groups, as `A,B` or `COLUMN=A,B`.
        dataset: a name for the data set; its fingerprint if None.
        ledger: a SQLite file or a PostgreSQL address.
        accounting: pure, approximate or zcdp.
        separator: of a CSV file.
        options: the other fields of `shoal.dp.question.Question`.

    Raises:
        BudgetError: the budget does not cover it; there is no answer.
    """
    source = open_source(table, separator=separator)
    named = groups_from_text(by, groups) if groups else None
    given = {name: value for name, value in options.items() if value is not None}
    if schema is not None:
        given = {**declared(schema, column, by=by), **given}
    if named is not None:
        given["groups"] = named
    return answer(
        source.scan(source.columns),
        statistic,
        fingerprint=fingerprint(table, dataset, separator=separator),
        column=column,
        ledger=ledger,
        accounting=accounting,
        by=tuple(by) or None,
        **given,
    )


def fingerprint(table: Any, dataset: str | None, *, separator: str | None = None) -> str:
    """Return what a data set is called in the ledger."""
    if dataset:
        return dataset
    if table is None:
        raise MethodError(problem="name the data set: a table, or --dataset NAME")
    if isinstance(table, (str, PathLike)):
        return fingerprint_file(Path(table))
    source = open_source(table, separator=separator)
    return fingerprint_frame(source.scan(source.columns))


def budget_set(
    table: Any = None, *, dataset: str | None = None, ledger: Any = None, **amounts: Any
) -> Account:
    """Open the budget of a data set, or change its limit."""
    return ledger_set(fingerprint(table, dataset), ledger=ledger, **amounts)


def budget_show(
    table: Any = None, *, dataset: str | None = None, ledger: Any = None
) -> list[Account]:
    """Return the account of a data set, or all accounts."""
    known = None if table is None and dataset is None else fingerprint(table, dataset)
    return ledger_show(known, ledger=ledger)


def budget_log(table: Any = None, *, dataset: str | None = None, ledger: Any = None) -> list[Entry]:
    """Return every charge and every limit, oldest first."""
    known = None if table is None and dataset is None else fingerprint(table, dataset)
    return ledger_log(known, ledger=ledger)
