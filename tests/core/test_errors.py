"""Errors: one root, exit codes, facts as attributes, and a way through a pickle."""

from __future__ import annotations

import pickle

import pytest

from shoal.core import errors
from shoal.core.errors import NoSolutionError, SchemaError, ShoalError, UnsafeReleaseError

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ShoalError) and kind is not SchemaError
]
FACTS = {
    "where": "w", "problem": "p", "hierarchy": "h", "column": "c", "unknown": 1, "total": 2,
    "model": "m", "feature": "f", "package": "n", "extra": "e",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_survives_the_way_back_from_a_worker(kind):
    error = kind(**FACTS)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), again.facts) == (str(error), FACTS)


def test_only_an_answer_of_no_has_exit_code_1():
    ones = {kind for kind in KINDS if kind.exit_code == 1}
    assert ones == {NoSolutionError, UnsafeReleaseError}
    assert {kind.exit_code for kind in KINDS} == {1, 2}


def test_every_error_is_named_in_the_tree_at_the_top():
    assert errors.__doc__ is not None
    assert [kind.__name__ for kind in KINDS if kind.__name__ not in errors.__doc__] == []


def test_the_faults_of_a_schema_are_numbered_when_there_are_several():
    one = SchemaError(where="s.yaml", faults=["a"])
    two = SchemaError(where="s.yaml", faults=iter(["a", "b"]))
    assert str(one) == "s.yaml: a"
    assert str(two) == "s.yaml: 2 faults: (1) a; (2) b"
    assert two.faults == ("a", "b")
    again = pickle.loads(pickle.dumps(two))
    assert (str(again), again.faults) == (str(two), two.faults)


def test_a_fact_that_the_text_needs_must_be_given():
    with pytest.raises(KeyError):
        errors.InputError(where="x")
