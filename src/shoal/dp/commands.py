"""What the commands `stats` and `budget` do, without a word about terminals."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import polars as pl

from shoal.core.errors import MethodError
from shoal.dp.accounting import Account, Amounts, Limit, Loss
from shoal.dp.answer import Answer
from shoal.dp.errors import BudgetError
from shoal.dp.ledger import Entry
from shoal.dp.ledgers import open_ledger
from shoal.dp.question import QuestionOptions, Statistic, question_from
from shoal.dp.statistics import answer_question

# A data set that nobody set a limit for gets this one with its first question,
# and the answer says so: a question must never run against no limit at all.
FIRST_EPSILON = 1.0
FIRST_DELTA = 1e-6


def answer(
    table: pl.LazyFrame,
    statistic: str,
    *,
    fingerprint: str,
    column: str | None = None,
    ledger: str | Path | None = None,
    accounting: str | None = None,
    **options: Unpack[QuestionOptions],
) -> Answer:
    """Answer one question of the command line, charged to the ledger first.

    `options` are those of `QuestionOptions`.

    Raises:
        BudgetError: the budget does not cover it.
        MethodError: the question cannot be asked.

    Example:
        >>> table = pl.LazyFrame({"age": [30, 40]})
        >>> found = answer(table, "count", fingerprint="two people", epsilon=0.5,
        ...                ledger=":memory:")
        >>> found.remaining
        0.5
    """
    groups = options.get("groups")
    is_histogram = statistic == str(Statistic.HISTOGRAM)
    if is_histogram and groups is not None and options.get("by") is None:
        options = {**options, "categories": tuple(groups), "groups": None}
    question = question_from(statistic, column, options)
    wanted = _first(fingerprint, accounting, delta=question.delta, rho=question.rho)
    with open_ledger(ledger) as book:
        known = book.account(fingerprint)
        if known is not None and accounting is not None and known.accounting != accounting:
            raise MethodError(problem=f"this data set is counted as {known.accounting}")

        def charge(cost: Loss, description: dict[str, object]) -> Account:
            if known is None:
                book.open(wanted)
            return book.charge(fingerprint, cost, description)

        found = answer_question(table, question, account=known or wanted, charge=charge)
    if known is None:
        note = (
            f"no limit was set for this data set: it was opened with epsilon {FIRST_EPSILON:g}; "
            "change it with shoal budget set"
        )
        return _with_note(found, note)
    return found


def groups_from_text(by: Sequence[str], texts: Sequence[str]) -> dict[str, list[str]]:
    """Read `--groups`: `F,M` for one column, `sex=F,M` (once a column) for several.

    A name with a comma in it is put in double quotes.

    Example:
        >>> groups_from_text(["sex", "ward"], ["sex=F,M", 'ward=A,"B, left"'])
        {'sex': ['F', 'M'], 'ward': ['A', 'B, left']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        column, equals, listed = text.partition("=")
        if not equals or column.strip() not in by:
            if len(by) != 1:
                raise MethodError(problem="groups of several columns are written COLUMN=A,B")
            column, listed = by[0], text
        if column.strip() in found:
            raise MethodError(problem=f"column {column.strip()!r}: its groups are named twice")
        found[column.strip()] = next(csv.reader([listed], skipinitialspace=True), [])
    return found


def _with_note(found: Answer, note: str) -> Answer:
    return replace(found, notes=(*found.notes, note))


def _first(
    fingerprint: str, accounting: str | None, *, delta: float | None, rho: float | None
) -> Account:
    kind = Limit(accounting=accounting, delta=delta, rho=rho).kind
    at = None if kind == "pure" else max(delta or 0.0, FIRST_DELTA)
    return Limit(accounting=kind, epsilon=FIRST_EPSILON, delta=at).account(fingerprint)


def ledger_set(
    fingerprint: str, *, ledger: str | Path | None = None, **amounts: Unpack[Amounts]
) -> Account:
    """Open the budget of a data set, or change its limit; both stand in the log.

    Raises:
        BudgetError: more than the new limit has been spent, or the accounting differs.
    """
    with open_ledger(ledger) as book:
        known = book.account(fingerprint)
        wanted = Limit(**amounts)
        if wanted.accounting is None and known is not None:
            wanted = replace(wanted, accounting=known.accounting)
            if wanted.delta is None:  # what is not repeated does not change
                delta = known.delta or known.limit.to_document()["delta"]
                wanted = replace(wanted, delta=delta or None)
        return book.set_limit(wanted.account(fingerprint))


def ledger_show(
    fingerprint: str | None = None, *, ledger: str | Path | None = None
) -> list[Account]:
    """Return the account of a data set, or all accounts.

    Raises:
        BudgetError: nobody set a budget for this data set.
    """
    with open_ledger(ledger, create=False) as book:
        if fingerprint is None:
            return book.accounts()
        found = book.account(fingerprint)
    if found is None:
        raise BudgetError(
            problem="no budget was set for this data set (shoal budget set)", remaining={}
        )
    return [found]


def ledger_log(fingerprint: str | None = None, *, ledger: str | Path | None = None) -> list[Entry]:
    """Return every charge and every limit of a data set, or of all, oldest first."""
    with open_ledger(ledger, create=False) as book:
        return book.entries(fingerprint)
