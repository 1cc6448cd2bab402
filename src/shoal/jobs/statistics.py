"""Differentially private statistics as a whole job: open the table, ask, charge, answer."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Unpack

from shoal.core.errors import MethodError
from shoal.dp.accounting import Account, Amounts
from shoal.dp.answer import Answer
from shoal.dp.commands import (
    answer,
    groups_from_text,
    ledger_log,
    ledger_set,
    ledger_show,
)
from shoal.dp.declared import with_declared
from shoal.dp.fingerprint import fingerprint_file, fingerprint_frame
from shoal.dp.ledger import Entry
from shoal.dp.question import QuestionOptions, named_groups
from shoal.engines.local.source import open_source
from shoal.schema.schema import Schema

__all__ = ["budget_log", "budget_set", "budget_show", "stats"]


def stats(
    table: object,
    statistic: str,
    *,
    column: str | None = None,
    schema: Schema | None = None,
    dataset: str | None = None,
    ledger: str | Path | None = None,
    accounting: str | None = None,
    separator: str | None = None,
    **options: Unpack[QuestionOptions],
) -> Answer:
    """Answer one question about a table, charged to its budget before it is computed.

    Args:
        table: a path, a frame or a table in a database.
        statistic: count, sum, mean, min, max, variance, moment, quantile or histogram.
        column: what it is about.
        schema: declares bounds, groups and marks of missing values, where no option does.
        dataset: a name for the data set; its fingerprint if None.
        ledger: a SQLite file or a PostgreSQL address.
        accounting: pure, approximate or zcdp.
        separator: of a CSV file.
        options: what else a question says (`shoal.dp.question.QuestionOptions`); `by` are
            columns whose named `groups`, as `A,B` or `COLUMN=A,B`, are answered apart.

    Raises:
        BudgetError: the budget does not cover it; there is no answer.
    """
    source = open_source(table, separator=separator)
    by, groups = named_groups(options.get("by"), None)[0], options.get("groups")
    named = groups if isinstance(groups, Mapping) else groups_from_text(by, groups or ())
    asked: QuestionOptions = {**options, "by": by or None, "groups": named or None}
    if schema is not None:
        asked = with_declared(asked, schema, column, by=by)
    return answer(
        source.scan(source.columns),
        statistic,
        fingerprint=fingerprint(table, dataset, separator=separator),
        column=column,
        ledger=ledger,
        accounting=accounting,
        **asked,
    )


def fingerprint(table: object, dataset: str | None, *, separator: str | None = None) -> str:
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
    table: object = None,
    *,
    dataset: str | None = None,
    ledger: str | Path | None = None,
    **amounts: Unpack[Amounts],
) -> Account:
    """Open the budget of a data set, or change its limit."""
    return ledger_set(fingerprint(table, dataset), ledger=ledger, **amounts)


def budget_show(
    table: object = None, *, dataset: str | None = None, ledger: str | Path | None = None
) -> list[Account]:
    """Return the account of a data set, or all accounts."""
    known = None if table is None and dataset is None else fingerprint(table, dataset)
    return ledger_show(known, ledger=ledger)


def budget_log(
    table: object = None, *, dataset: str | None = None, ledger: str | Path | None = None
) -> list[Entry]:
    """Return every charge and every limit, oldest first."""
    known = None if table is None and dataset is None else fingerprint(table, dataset)
    return ledger_log(known, ledger=ledger)
