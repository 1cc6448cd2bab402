"""Errors of the room: where they stand in the tree, what they carry, how they travel."""

from __future__ import annotations

import pickle

import pytest

from shoal.core.errors import ShoalError
from shoal.dp.errors import BudgetError, LedgerError


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (BudgetError(problem="nothing is left", remaining={"epsilon": 0.0}), 1,
         "budget: nothing is left"),
        (LedgerError(where="ledger x", problem="is damaged"), 2, "ledger x: is damaged"),
    ],
)  # fmt: skip
def test_an_error_keeps_its_facts_its_code_and_its_words(error, code, text):
    assert isinstance(error, ShoalError)
    assert (error.exit_code, str(error)) == (code, text)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.facts, str(again)) == (type(error), error.facts, text)


def test_a_ledger_that_fails_is_a_failure_of_the_system():
    assert issubclass(LedgerError, OSError)
