"""Marginals with noise: what a drawn release is drawn from, where a budget pays for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shoal.core.errors import MethodError
from shoal.dp.accounting import Account, Accounting, Limit, Loss, from_units
from shoal.dp.commands import FIRST_EPSILON
from shoal.dp.ledgers import open_ledger
from shoal.dp.mechanisms import Kind, Noise, additive, opendp


def charge_marginals(
    fingerprint: str, columns: Sequence[str], *, epsilon: float, ledger: str | Path | None = None
) -> Account:
    """Charge the marginals of some columns to the budget of a data set, before any is counted.

    Return the account after it.

    Raises:
        BudgetError: the budget does not cover it.
        MethodError: no such amount can be spent.
        MissingExtraError: OpenDP is not installed.
    """
    if not 0 < epsilon < float("inf"):
        raise MethodError(problem="--epsilon must be a number above 0")
    opendp()  # nothing is charged that cannot be answered
    question: dict[str, object] = {"statistic": "marginals", "columns": list(columns)}
    with open_ledger(ledger) as book:
        known = book.account(fingerprint)
        if known is None:
            known = book.open(Limit(epsilon=FIRST_EPSILON).account(fingerprint))
        cost = Loss.of(epsilon=epsilon)
        if known.accounting is Accounting.ZCDP:  # epsilon-privacy is zCDP of its half square
            cost = Loss.of(rho=epsilon**2 / 2)
        return book.charge(fingerprint, cost, question)


class NoisyCounts:
    """Laplace noise for the counts of each column; the columns share epsilon evenly.

    Guarantee:
        All counts together are epsilon-differentially private, if each column is asked for once:
        a record that comes or goes changes one count of each by one.
    """

    def __init__(self, epsilon: float, columns: int) -> None:
        share = from_units("epsilon", int(Loss.of(epsilon=epsilon).epsilon // max(columns, 1)))
        if not share > 0:
            raise MethodError(problem="--epsilon is too small for so many columns")
        self._noise = additive(Noise(Kind.LAPLACE, share), 1)

    def __call__(self, counts: Sequence[int]) -> list[int]:
        """Return the counts with noise of the operating system; never below 0."""
        return [max(count, 0) for count in self._noise.release(counts)]
