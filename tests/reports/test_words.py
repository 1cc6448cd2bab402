"""Plain words: for every promise, role and measure; confidence intervals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.measures.utility import OLD_NAMES
from shoal.privacy import AlphaKAnonymity, BetaLikeness, KAnonymity, LDiversity, TCloseness
from shoal.reports.words import MEASURES, ROLES, percent, plain_words, times, wilson
from shoal.schema.schema import Role


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        (KAnonymity(2), "Every record looks like at least 1 other record in all recoded columns."),
        (KAnonymity(1), "Nothing: a class of one is allowed."),
        (LDiversity(3, column="ill"), "at least 3 different values of 'ill'."),
        (LDiversity(3, "entropy", column="ill"), "evenly spread"),
        (TCloseness(0.2, column="ill"), "at most 0.2 away"),
        (BetaLikeness(2.0, column="ill"), "No sensitive value is more than 1 + beta times"),
    ],
)
def test_promises_are_said_in_plain_words(promise, words):
    assert words in plain_words(promise, "record")


def test_values_that_a_promise_names_are_not_said():
    assert "Alice" not in plain_words(AlphaKAnonymity(0.5, 2, values=["Alice"]), "record")


def test_every_role_and_every_measure_has_its_words():
    assert set(ROLES) == {*map(str, Role), "none"}
    assert not set(MEASURES) & set(OLD_NAMES)


def test_numbers_are_written_as_people_read_them():
    assert [percent(x) for x in (0, 0.5, 0.12345, 1)] == ["0 %", "50 %", "12.35 %", "100 %"]
    assert [times(x) for x in (0, 1234567.0, 12.34, 3.0)] == ["0", "1,234,567", "12.3", "3"]


@given(st.floats(0, 1), st.integers(1, 10**6))
def test_a_confidence_interval_holds_its_share(share, targets):
    low, high = wilson(share, targets)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1


def test_intervals_are_wilsons():
    # Newcombe (1998), Two-sided confidence intervals for the single proportion, table I.
    assert [round(x, 4) for x in wilson(81 / 263, 263)] == [0.2553, 0.3662]
    assert [round(x, 4) for x in wilson(15 / 148, 148)] == [0.0624, 0.1605]
    assert [round(x, 4) for x in wilson(0 / 20, 20)] == [0.0, 0.1611]
    assert [round(x, 4) for x in wilson(1 / 29, 29)] == [0.0061, 0.1718]
    assert wilson(0.5, 0) == (0.0, 1.0)
