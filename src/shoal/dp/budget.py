"""The Python face of the room: a data set, its budget, and the questions one may ask."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl

from shoal.core.errors import InputError, MethodError
from shoal.dp.accounting import Account, Accounting, Loss, open_account
from shoal.dp.answer import Answer
from shoal.dp.errors import BudgetError
from shoal.dp.fingerprint import fingerprint_frame
from shoal.dp.ledger import Entry
from shoal.dp.ledgers import open_ledger
from shoal.dp.question import Question, Statistic, named_groups
from shoal.dp.statistics import answer_question

Table = Any  # a Polars frame (lazy or not), or a pandas or Arrow table


class Budget:
    """Ask a table questions until its budget is spent.

    Without a `ledger` (and without $SHOAL_LEDGER) the budget lives as long as
    the `with` block: a second block starts afresh, and keeping count across
    them is up to you. With a ledger, the data set is known by its content (or
    by the name given as `dataset`) and what was ever spent on it counts.

    `entity` and `max_rows` say whose rows belong together, for every question.

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
        table: Table,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        accounting: str | None = None,
        ledger: str | Path | None = None,
        dataset: str | None = None,
        entity: str | None = None,
        max_rows: int | None = None,
        markers: Sequence[str] = (),
    ) -> None:
        self._table = to_lazy(table)
        place = ledger if ledger is not None else os.environ.get("SHOAL_LEDGER")
        self._place = place if place is not None else ":memory:"
        if dataset is None:
            dataset = "table" if self._place == ":memory:" else fingerprint_frame(self._table)
        kind = accounting_of(accounting, delta=delta, rho=rho)
        self._wanted = None
        if epsilon is not None or rho is not None:
            self._wanted = open_account(dataset, kind, epsilon=epsilon, delta=delta, rho=rho)
        elif self._place == ":memory:":
            raise MethodError(problem="a budget needs an epsilon, or a ledger that knows one")
        self._dataset = dataset
        self._shared = {"entity": entity, "max_rows": max_rows, "markers": tuple(markers)}
        self._stack: ExitStack | None = None
        self._ledger: Any = None

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
        found: Account | None = self._open().account(self._dataset)
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
        return list(self._open().entries(self._dataset))

    def _open(self) -> Any:
        if self._ledger is None:
            raise MethodError(problem="this budget is closed; use it inside its with block")
        return self._ledger

    def ask(self, question: Question) -> Answer:
        """Answer any question; the methods below are shorter ways to write one."""
        ledger = self._open()

        def charge(cost: Loss, told: dict[str, Any]) -> Account:
            after: Account = ledger.charge(self._dataset, cost, told)
            return after

        return answer_question(self._table, question, account=self.account, charge=charge)

    def count(self, column: str | None = None, **options: Any) -> Answer:
        """Count the records; with a column, those that have a value in it."""
        return self._ask(Statistic.COUNT, column, options)

    def sum(self, column: str, **options: Any) -> Answer:
        """Add up a column within `bounds`."""
        return self._ask(Statistic.SUM, column, options)

    def mean(self, column: str, **options: Any) -> Answer:
        """Average a column within `bounds`."""
        return self._ask(Statistic.MEAN, column, options)

    def variance(self, column: str, **options: Any) -> Answer:
        """Return the population variance of a column within `bounds`."""
        return self._ask(Statistic.VARIANCE, column, options)

    def moment(self, column: str, **options: Any) -> Answer:
        """Return the moment of an `order`, raw or `central`, within `bounds`."""
        return self._ask(Statistic.MOMENT, column, options)

    def quantile(self, column: str, **options: Any) -> Answer:
        """Return the `alpha`-quantile of a column within `bounds`."""
        return self._ask(Statistic.QUANTILE, column, options)

    def min(self, column: str, **options: Any) -> Answer:
        """Return a near-minimum of a column within `bounds`."""
        return self._ask(Statistic.MIN, column, options)

    def max(self, column: str, **options: Any) -> Answer:
        """Return a near-maximum of a column within `bounds`."""
        return self._ask(Statistic.MAX, column, options)

    def histogram(self, column: str, **options: Any) -> Answer:
        """Count the cells of a column: named `categories`, or `bins` over `bounds`."""
        return self._ask(Statistic.HISTOGRAM, column, options)

    def _ask(self, statistic: Statistic, column: str | None, options: dict[str, Any]) -> Answer:
        return self.ask(question_from(statistic, column, {**self._shared, **options}))


def question_from(
    statistic: Statistic | str, column: str | None, options: Mapping[str, Any]
) -> Question:
    """Build a question from the options that people write (`bounds`, `by`, `groups` …).

    Raises:
        MethodError: an option does not exist or does not fit.
    """
    given = {k: v for k, v in options.items() if v is not None}
    if "bounds" in given:
        bounds = tuple(given.pop("bounds"))
        if len(bounds) != 2:
            raise MethodError(problem="bounds are a pair: (lower, upper)")
        given["lower"], given["upper"] = bounds
    given["missing"] = _rule(given.get("missing", "count"))
    by, groups = named_groups(given.pop("by", None), given.pop("groups", None))
    given["categories"] = tuple(str(c) for c in given.get("categories", ()))
    known = set(Question.__dataclass_fields__)
    unknown = sorted(set(given) - known)
    if unknown:
        raise MethodError(problem=f"no such option: {', '.join(unknown)}")
    kinds = {str(s) for s in Statistic}
    if str(statistic) not in kinds:
        raise MethodError(problem=f"no such statistic; choose one of {', '.join(sorted(kinds))}")
    return Question(
        statistic=Statistic(str(statistic)), column=column, by=by, groups=groups, **given
    )


def _rule(missing: object) -> object:
    """Return a rule for missing cells; a number may be written as text."""
    if isinstance(missing, str):
        try:
            return float(missing)
        except ValueError:
            return missing
    return missing


def accounting_of(
    name: str | None, *, delta: float | None = None, rho: float | None = None
) -> Accounting:
    """Return the named accounting, or the plainest one that fits the amounts."""
    if name is None:
        if rho is not None:
            return Accounting.ZCDP
        return Accounting.APPROXIMATE if delta else Accounting.PURE
    try:
        return Accounting(name)
    except ValueError:
        known = ", ".join(Accounting)
        raise MethodError(problem=f"no such accounting; choose one of {known}") from None


def _refuse_other(found: Account, wanted: Account) -> None:
    """Refuse a limit that differs from the ledger's: it would not mean what was written."""
    if (found.accounting, found.limit) != (wanted.accounting, wanted.limit):
        raise BudgetError(
            problem="the ledger has another limit for this data set "
            f"(epsilon {found.remaining:.12g} is left); leave epsilon out to use it, "
            "or let the steward change it (shoal budget set)",
            remaining=found.left.to_document(),
        )


def to_lazy(table: Table) -> pl.LazyFrame:
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
