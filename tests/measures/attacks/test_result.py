"""What an attack wins over guessing."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.measures.attacks.result import AttackQuestion, AttackResult, Comparison


def result(success, baseline, **detail):
    return AttackResult(
        attack="guess", question=AttackQuestion.INFERENCE, targets=10, success=success,
        baseline=baseline, detail=detail,
    )  # fmt: skip


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1))
def test_the_advantage_is_a_share_of_what_guessing_leaves(success, baseline):
    found = result(success, baseline).advantage
    assert 0 <= found <= 1
    assert (found > 0) <= (success > baseline)
    if baseline < success:
        assert baseline + found * (1 - baseline) == pytest.approx(success)


def test_certain_guessing_leaves_nothing_to_win():
    assert result(1.0, 1.0).advantage == 0.0
    assert result(1.0, 0.0).advantage == 1.0


def test_a_comparison_is_plain_data_with_its_details():
    found = Comparison(before=result(1.0, 0.5, bets=3), after=result(0.5, 0.5, bets=None))
    assert json.loads(json.dumps(found.to_document())) == {
        "attack": "guess",
        "question": "inference",
        "before": {
            "attack": "guess", "question": "inference", "targets": 10, "success": 1.0,
            "baseline": 0.5, "advantage": 1.0, "bets": 3,
        },
        "after": {
            "attack": "guess", "question": "inference", "targets": 10, "success": 0.5,
            "baseline": 0.5, "advantage": 0.0, "bets": None,
        },
    }  # fmt: skip
