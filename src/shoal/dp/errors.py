"""What the differential privacy room raises on purpose, beside the errors of the core.

ShoalError
├── BudgetError    a question that the budget does not cover (exit code 1)
└── LedgerError    a ledger that cannot be opened, read or written

No message holds a value of the data, nor a password of a ledger's address.
"""

from __future__ import annotations

from shoal.core.errors import ShoalError


class BudgetError(ShoalError):
    """A question that the budget does not cover: no answer was computed, nothing was charged.

    `facts["remaining"]` holds what is left, in the ledger's own unit.

    Example:
        >>> str(BudgetError(problem="epsilon 0.5 was asked for, 0.2 is left"))
        'budget: epsilon 0.5 was asked for, 0.2 is left'
    """

    template = "budget: {problem}"
    exit_code = 1


class LedgerError(ShoalError, OSError):
    """A ledger that cannot be opened, read or written; no answer was computed."""

    template = "{where}: {problem}"
