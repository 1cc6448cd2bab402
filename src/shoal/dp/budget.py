"""The Python face of the room: a data set, its budget, and the questions one may ask."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

import polars as pl

from shoal.core.errors import InputError, MethodError
from shoal.dp.accounting import Account, Amounts, Limit, Loss
from shoal.dp.answer import Answer
from shoal.dp.errors import BudgetError
from shoal.dp.fingerprint import fingerprint_frame
from shoal.dp.ledger import Entry, Ledger
from shoal.dp.ledgers import open_ledger
from shoal.dp.question import Question, QuestionOptions, Statistic, question_from
from shoal.dp.statistics import answer_question


class Budget:
    """Ask a table questions until its budget is spent.

    Without a `ledger` (and without $SHOAL_LEDGER) the budget lives as long as
    the `with` block: a second block starts afresh, and keeping count across
    them is up to you. With a ledger, the data set is known by its content (or
    by the name given as `dataset`) and what was ever spent on it counts.

    Args:
        table: a Polars frame (lazy or not), or a pandas or Arrow table.
        ledger: a SQLite file or a PostgreSQL address.
        dataset: a name for the data set.
        entity, max_rows: whose rows belong together, for every question.
        markers: texts that mean "missing", for every question.
        limit: epsilon, delta, rho and accounting; see `Limit`.

    Guarantee:
        Every question is charged before its answer is computed, and is refused
        with a `BudgetError`, without an answer, if the budget does not cover it.

    Example:
        >>> people = pl.DataFrame({"age": [34, 51, 29, 60] * 500})
        >>> with Budget(people, epsilon=1.0) as budget:
        ...     answer = budget.mean("age", bounds=(0, 120), epsilon=0.25)
        >>> 40 < answer.value < 47, answer.remaining
        (True, 0.75)
    """

    def __init__(
        self,
        table: object,
        *,
        ledger: str | Path | None = None,
        dataset: str | None = None,
        entity: str | None = None,
        max_rows: int | None = None,
        markers: Sequence[str] = (),
        **limit: Unpack[Amounts],
    ) -> None:
        self._table = to_lazy(table)
        place = ledger if ledger is not None else os.environ.get("SHOAL_LEDGER")
        self._place = place if place is not None else ":memory:"
        if dataset is None:
            dataset = "table" if self._place == ":memory:" else fingerprint_frame(self._table)
        wanted = Limit(**limit)
        self._wanted: Account | None = None
        if wanted.epsilon is not None or wanted.rho is not None:
            self._wanted = wanted.account(dataset)
        elif self._place == ":memory:":
            raise MethodError(problem="a budget needs an epsilon, or a ledger that knows one")
        self._dataset = dataset
        self._shared: QuestionOptions = {
            "entity": entity, "max_rows": max_rows, "markers": tuple(markers),
        }  # fmt: skip
        self._stack: ExitStack | None = None
        self._ledger: Ledger | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            ledger = stack.enter_context(open_ledger(self._place))
            if self._wanted is not None:
                found = ledger.open(self._wanted)
                _refuse_other(found, self._wanted)
            elif ledger.account(self._dataset) is None:
                raise BudgetError(
                    problem="no budget was set for this data set; give an epsilon", remaining={}
                )
            self._ledger, self._stack = ledger, stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        stack, self._stack, self._ledger = self._stack, None, None
        if stack is not None:
            stack.close()

    @property
    def account(self) -> Account:
        """The account as the ledger has it now."""
        found = self._open().account(self._dataset)
        if found is None:
            raise BudgetError(problem="the account has disappeared from the ledger", remaining={})
        return found

    @property
    def remaining(self) -> float:
        """The epsilon that is left."""
        return self.account.remaining

    @property
    def spent(self) -> dict[str, float]:
        """What was spent so far: epsilon, delta and rho."""
        return self.account.spent.to_document()

    @property
    def log(self) -> list[Entry]:
        """Every charge and every limit, oldest first."""
        return self._open().entries(self._dataset)

    def _open(self) -> Ledger:
        if self._ledger is None:
            raise MethodError(problem="this budget is closed; use it inside its with block")
        return self._ledger

    def ask(self, question: Question) -> Answer:
        """Answer any question; the methods below are shorter ways to write one."""
        ledger = self._open()

        def charge(cost: Loss, description: dict[str, object]) -> Account:
            return ledger.charge(self._dataset, cost, description)

        return answer_question(self._table, question, account=self.account, charge=charge)

    def count(self, column: str | None = None, **options: Unpack[QuestionOptions]) -> Answer:
        """Count the records; with a column, those that have a value in it."""
        return self._ask(Statistic.COUNT, column, options)

    def sum(self, column: str, **options: Unpack[QuestionOptions]) -> Answer:
        """Add up a column within `bounds`."""
        return self._ask(Statistic.SUM, column, options)

    def mean(self, column: str, **options: Unpack[QuestionOptions]) -> Answer:
        """Average a column within `bounds`."""
        return self._ask(Statistic.MEAN, column, options)

    def variance(self, column: str, **options: Unpack[QuestionOptions]) -> Answer:
        """Return the population variance of a column within `bounds`."""
        return self._ask(Statistic.VARIANCE, column, options)

    def moment(self, column: str, **options: Unpack[QuestionOptions]) -> Answer:
        """Return the moment of an `order`, raw or `central`, within `bounds`."""
        return self._ask(Statistic.MOMENT, column, options)

    def quantile(self, column: str, **options: Unpack[QuestionOptions]) -> Answer:
        """Return the `alpha`-quantile of a column within `bounds`."""
        return self._ask(Statistic.QUANTILE, column, options)

    def min(self, column: str, **options: Unpack[QuestionOptions]) -> Answer:
        """Return a near-minimum of a column within `bounds`."""
        return self._ask(Statistic.MIN, column, options)

    def max(self, column: str, **options: Unpack[QuestionOptions]) -> Answer:
        """Return a near-maximum of a column within `bounds`."""
        return self._ask(Statistic.MAX, column, options)

    def histogram(self, column: str, **options: Unpack[QuestionOptions]) -> Answer:
        """Count the cells of a column: named `categories`, or `bins` over `bounds`."""
        return self._ask(Statistic.HISTOGRAM, column, options)

    def _ask(self, statistic: Statistic, column: str | None, options: QuestionOptions) -> Answer:
        return self.ask(question_from(statistic, column, {**self._shared, **options}))


def _refuse_other(found: Account, wanted: Account) -> None:
    """Refuse a limit that differs from the ledger's: it would not mean what was written."""
    if (found.accounting, found.limit) != (wanted.accounting, wanted.limit):
        raise BudgetError(
            problem="the ledger has another limit for this data set "
            f"(epsilon {found.remaining:.12g} is left); leave epsilon out to use it, "
            "or let the steward change it (shoal budget set)",
            remaining=found.left.to_document(),
        )


def to_lazy(table: object) -> pl.LazyFrame:
    """Return a frame as a lazy one; the caller's own is left untouched.

    Raises:
        InputError: this is no table.
    """
    if isinstance(table, pl.LazyFrame):
        return table
    if isinstance(table, pl.DataFrame):
        return table.lazy()
    module = type(table).__module__.partition(".")[0]
    if module == "pandas":
        return pl.from_pandas(table, include_index=False).lazy()
    if module == "pyarrow":
        frame = pl.from_arrow(table)
        if isinstance(frame, pl.DataFrame):
            return frame.lazy()
    raise InputError(where="table", problem="not a table; give a Polars, pandas or Arrow table")
