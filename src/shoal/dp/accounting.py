"""How privacy loss is counted: exact amounts, limits, and the account of one data set.

Amounts are integers of a fixed small unit, so that ten charges of 0.1 are
exactly 1 and no rounding can ever let a charge slip over a limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import StrEnum
from functools import lru_cache
from math import isfinite, log, sqrt
from typing import TypedDict

from shoal.core.errors import MethodError
from shoal.dp.errors import BudgetError

EPSILON_UNIT = Decimal("1e-12")
DELTA_UNIT = Decimal("1e-18")
RHO_UNIT = Decimal("1e-15")
UNITS = {"epsilon": EPSILON_UNIT, "delta": DELTA_UNIT, "rho": RHO_UNIT}

# A single answer with a larger epsilon hides nothing; the cap keeps sums in 64 bits.
MOST = {"epsilon": 1e6, "delta": 1.0, "rho": 9e3}


class Accounting(StrEnum):
    """The rule by which the losses of several answers add up."""

    PURE = "pure"  # epsilons add
    APPROXIMATE = "approximate"  # epsilons add, deltas add
    ZCDP = "zcdp"  # rhos of zero-concentrated privacy add


def to_units(name: str, amount: float, *, up: bool = True) -> int:
    """Return an amount in whole units; a cost is rounded up, a limit down.

    Example:
        >>> 10 * to_units("epsilon", 0.1) == to_units("epsilon", 1.0)
        True
    """
    exact = Decimal(repr(float(amount))) / UNITS[name]  # repr: the number that a person typed
    return int(exact.to_integral_value(ROUND_CEILING if up else ROUND_FLOOR))


def from_units(name: str, units: int) -> float:
    """Return whole units as the number that people read."""
    return float(units * UNITS[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """An amount of privacy loss: a cost, a limit, or what was spent, in whole units.

    Example:
        >>> cost = Loss.of(epsilon=0.1)
        >>> (cost + cost).to_document()
        {'epsilon': 0.2, 'delta': 0.0, 'rho': 0.0}
    """

    epsilon: int = 0
    delta: int = 0
    rho: int = 0

    @classmethod
    def of(
        cls, *, epsilon: float = 0.0, delta: float = 0.0, rho: float = 0.0, up: bool = True
    ) -> Loss:
        """Build a loss from the numbers that people write."""
        return cls(
            epsilon=to_units("epsilon", epsilon, up=up),
            delta=to_units("delta", delta, up=up),
            rho=to_units("rho", rho, up=up),
        )

    def __add__(self, other: Loss) -> Loss:
        return Loss(
            epsilon=self.epsilon + other.epsilon,
            delta=self.delta + other.delta,
            rho=self.rho + other.rho,
        )

    def to_document(self) -> dict[str, float]:
        """Return the amounts as plain numbers."""
        return {name: from_units(name, getattr(self, name)) for name in UNITS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What one data set may lose in all, and what it has lost so far.

    `delta` is the failure probability at which a zero-concentrated account is
    translated into an epsilon for people; it is not spent.

    Guarantee:
        `charged` returns an account within its limit, or raises and changes nothing.
    """

    dataset: str
    accounting: Accounting
    limit: Loss
    spent: Loss = Loss()
    delta: float = 0.0

    @property
    def left(self) -> Loss:
        """What may still be spent."""
        return Loss(
            epsilon=self.limit.epsilon - self.spent.epsilon,
            delta=self.limit.delta - self.spent.delta,
            rho=self.limit.rho - self.spent.rho,
        )

    @property
    def remaining(self) -> float:
        """The epsilon that is left; for a zero-concentrated account, that of one last answer."""
        if self.accounting is Accounting.ZCDP:
            return epsilon_of(from_units("rho", self.left.rho), self.delta)
        return from_units("epsilon", self.left.epsilon)

    def charged(self, cost: Loss) -> Account:
        """Return the account after one more answer.

        Raises:
            BudgetError: the limit does not cover it.
        """
        spent = self.spent + cost
        names = _counted(self.accounting)
        over = [n for n in names if getattr(spent, n) > getattr(self.limit, n)]
        if over:
            parts = " and ".join(
                f"{n} {from_units(n, getattr(cost, n)):.12g} was asked for, "
                f"{from_units(n, getattr(self.left, n)):.12g} is left of "
                f"{from_units(n, getattr(self.limit, n)):.12g}"
                for n in over
            )
            raise BudgetError(
                problem=f"{parts}. No answer was computed and nothing was charged; "
                "ask with a smaller amount, or let the steward raise the limit (shoal budget set)",
                remaining=self.left.to_document(),
            )
        return replace(self, spent=spent)

    def limited(self, limit: Loss, *, delta: float) -> Account:
        """Return the account with another limit.

        Raises:
            BudgetError: more than that has been spent already.
        """
        for name in _counted(self.accounting):
            if getattr(limit, name) < getattr(self.spent, name):
                gone = from_units(name, getattr(self.spent, name))
                raise BudgetError(
                    problem=f"{name} {gone:.12g} has been spent already; "
                    "the limit cannot go below that",
                    remaining=self.left.to_document(),
                )
        return replace(self, limit=limit, delta=delta)

    def to_document(self) -> dict[str, object]:
        """Return the account as `shoal budget show --json` prints it."""
        return {
            "dataset": self.dataset,
            "accounting": str(self.accounting),
            "limit": self.limit.to_document(),
            "spent": self.spent.to_document(),
            "left": self.left.to_document(),
            "remaining": self.remaining,
            "at_delta": self.delta if self.accounting is Accounting.ZCDP else None,
        }


class Amounts(TypedDict, total=False):
    """What people write of a limit."""

    epsilon: float | None
    delta: float | None
    rho: float | None
    accounting: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How much a data set may lose in all, as people write it.

    accounting: None for the plainest one that fits the amounts.

    Raises:
        MethodError: there is no such accounting.
    """

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None
    accounting: str | None = None

    def __post_init__(self) -> None:
        if self.accounting is not None and self.accounting not in list(Accounting):
            known = ", ".join(Accounting)
            raise MethodError(problem=f"no such accounting; choose one of {known}")

    @property
    def kind(self) -> Accounting:
        """The accounting that is meant."""
        if self.accounting is not None:
            return Accounting(self.accounting)
        if self.rho is not None:
            return Accounting.ZCDP
        return Accounting.APPROXIMATE if self.delta else Accounting.PURE

    def account(self, dataset: str) -> Account:
        """Return a fresh account with this limit."""
        return open_account(
            dataset, self.kind, epsilon=self.epsilon, delta=self.delta, rho=self.rho
        )


def _counted(accounting: Accounting) -> tuple[str, ...]:
    return {
        Accounting.PURE: ("epsilon", "delta"),  # a pure account has a delta limit of 0
        Accounting.APPROXIMATE: ("epsilon", "delta"),
        Accounting.ZCDP: ("rho",),
    }[accounting]


def open_account(
    dataset: str,
    accounting: Accounting,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
) -> Account:
    """Return a fresh account with a limit, every fault of which is named.

    Example:
        >>> open_account("register", Accounting.PURE, epsilon=1.0).remaining
        1.0
    """
    faults = amount_faults(epsilon=epsilon, delta=delta, rho=rho)
    if not dataset:
        faults.append("a data set needs a name or a fingerprint")
    if accounting is Accounting.ZCDP:
        if not delta:
            faults.append("zcdp accounting needs a delta above 0 to speak of an epsilon")
        if (epsilon is None) == (rho is None):
            faults.append("a zcdp limit is an epsilon or a rho, one of the two")
    else:
        if epsilon is None:
            faults.append("a limit needs an epsilon")
        if rho is not None:
            faults.append("a rho belongs to zcdp accounting")
        if accounting is Accounting.PURE and delta:
            faults.append("pure accounting takes no delta; choose approximate or zcdp")
        if accounting is Accounting.APPROXIMATE and not delta:
            faults.append("approximate accounting needs a delta above 0")
    refuse(faults)
    if accounting is Accounting.ZCDP:
        at = float(delta or 0.0)
        total = rho if rho is not None else rho_of(float(epsilon or 0.0), at)
        limit = Loss.of(rho=total, up=False)
        return Account(dataset=dataset, accounting=accounting, limit=limit, delta=at)
    limit = Loss.of(epsilon=float(epsilon or 0.0), delta=float(delta or 0.0), up=False)
    return Account(dataset=dataset, accounting=accounting, limit=limit)


def amount_faults(
    *, epsilon: float | None = None, delta: float | None = None, rho: float | None = None
) -> list[str]:
    """Return what is wrong with the amounts that were given; None is not a fault."""
    faults = []
    for name, amount in (("epsilon", epsilon), ("rho", rho)):
        if amount is not None and not (isfinite(amount) and 0 < amount <= MOST[name]):
            faults.append(f"{name} must be a number above 0 and at most {MOST[name]:g}")
    if delta is not None and not (isfinite(delta) and 0 <= delta < 1):
        faults.append("delta must be a number from 0 up to, but not including, 1")
    return faults


def refuse(faults: list[str]) -> None:
    """Raise all faults of a question together.

    Raises:
        MethodError: there is at least one fault.
    """
    if faults:
        raise MethodError(problem="; ".join(faults))


@lru_cache(maxsize=256)
def epsilon_of(rho: float, delta: float) -> float:
    """Return the epsilon at `delta` that `rho` of zero-concentrated privacy implies."""
    from shoal.dp import mechanisms

    if rho <= 0:
        return 0.0
    return mechanisms.zcdp_epsilon(rho, delta)


@lru_cache(maxsize=256)
def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest rho (found by halving) whose epsilon at `delta` is at most `epsilon`.

    Guarantee:
        `epsilon_of(rho_of(e, d), d) <= e`.
    """
    start = sqrt(log(1 / delta) + epsilon) - sqrt(log(1 / delta))
    low = start * start  # rho + 2 sqrt(rho ln(1/delta)) <= epsilon, the simple bound
    while epsilon_of(low, delta) > epsilon:  # far from every sensible parameter
        low /= 2
    high = 2 * low
    while epsilon_of(high, delta) <= epsilon and high < MOST["rho"]:
        low, high = high, 2 * high
    for _ in range(24):
        middle = (low + high) / 2
        if epsilon_of(middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
    return low
