"""RiskQuestion: what cannot be answered is refused before any work, all faults together."""

from dataclasses import FrozenInstanceError, dataclass

import pytest

from shoal.core.errors import InputError, MethodError, SchemaError
from shoal.measures.risk.question import RiskQuestion


@dataclass
class Table:
    """Just enough of a table."""

    columns: tuple[str, ...] = ("age", "zip", "w", "home")
    where: str = "people.csv"


EVERYBODY = Table(("age", "zip"), "everybody.csv")


@pytest.mark.parametrize(
    ("more", "population"),
    [
        ({}, None),
        ({}, EVERYBODY),
        ({"sampling_fraction": 1}, None),
        ({"weights": "w", "household": "home", "max_size": 1}, None),
        ({"weights": "age"}, None),
    ],
)
def test_questions_that_can_be_answered(more, population):
    RiskQuestion(quasi=("age", "zip"), **more).check(Table(), population)


@pytest.mark.parametrize(
    ("more", "population", "kind", "text"),
    [
        ({"quasi": ()}, None, InputError, "schema: no quasi-identifier; name them (--qi a,b)"),
        ({"quasi": ("no", "age", "nor")}, None, InputError,
         "people.csv: has no column 'no', 'nor'; check the names"),
        ({"weights": "no"}, None, InputError, "people.csv: has no column 'no'; check the name"),
        ({"household": "no"}, None, InputError, "people.csv: has no column 'no'; check the name"),
        ({"quasi": ("age", "home")}, EVERYBODY, InputError,
         "everybody.csv: has no column 'home'; check the name"),
        ({"weights": "w", "sampling_fraction": 0.5}, None, MethodError,
         "give one of a population table, a sampling fraction and a weight column"),
        ({"weights": "w"}, EVERYBODY, MethodError,
         "give one of a population table, a sampling fraction and a weight column"),
        ({"sampling_fraction": 0.0}, None, MethodError,
         "the sampling fraction must lie above 0 and at most at 1"),
        ({"sampling_fraction": float("nan")}, None, MethodError,
         "the sampling fraction must lie above 0 and at most at 1"),
        ({"max_size": 0}, None, MethodError, "max-size must be a whole number of at least 1"),
    ],
)  # fmt: skip
def test_one_fault_is_an_error_of_its_kind(more, population, kind, text):
    with pytest.raises(kind) as caught:
        RiskQuestion(**{"quasi": ("age",), **more}).check(Table(), population)
    assert str(caught.value) == text


def test_several_faults_are_named_together():
    question = RiskQuestion(quasi=("no",), sampling_fraction=2, weights="w", max_size=-1)
    with pytest.raises(SchemaError) as caught:
        question.check(Table(), EVERYBODY)
    assert len(caught.value.faults) == 5
    assert str(caught.value).startswith(
        "risk: 5 faults: (1) people.csv: has no column 'no'; check the name; (2)"
    )


def test_what_was_counted_is_checked_too():
    question = RiskQuestion(quasi=("age",), weights="w")
    question.check_counts("people.csv", 3, 0)
    with pytest.raises(InputError, match=r"^people\.csv: the table has a header but no record$"):
        question.check_counts("people.csv", 0, 0)
    with pytest.raises(InputError, match=r"^column 'w': 2 weights are not numbers above 0$"):
        question.check_counts("people.csv", 3, 2)


def test_a_question_does_not_change():
    with pytest.raises(FrozenInstanceError):
        RiskQuestion(quasi=("age",)).quasi = ()
