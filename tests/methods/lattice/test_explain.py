"""What a search says about itself: facts, and sentences without a value of the data."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import explore, search
from tests.methods.lattice.cases import people, random_case

from shoal.methods.lattice.explain import RUNNERS_UP, explain, facts_of, levels_of
from shoal.methods.lattice.space import space_of
from shoal.methods.registry import METHODS
from shoal.privacy import KAnonymity

SEVEN = ([21, 22, 23, 41, 42, 43, 55], "fffmmmm")


def test_explanation_holds_no_value_of_the_data():
    table = people([21, 22, 23, 41, 42, 43, 55], "fffmmmm")
    for method in (name for name, kind in METHODS.items() if kind.family == "lattice"):
        text = " ".join(search(table, [KAnonymity(3)], method=method).facts["explanation"])
        assert "proven" in text or "prove" in text
        assert "20s" not in text
        assert "55" not in text


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), limit=st.sampled_from([0.0, 0.3, 1.0]))
def test_facts_are_those_of_the_search(seed, limit):
    space, models, _ = random_case(seed, "k", limit)
    state = explore(space, models, suppression_limit=limit).state
    if not state.solutions:
        return
    winner = state.ranked()[0]
    facts = facts_of(space, state, winner, method="flash")
    assert tuple(facts["levels"].values()) == winner.node
    assert facts["evaluated"] + facts["pruned"] == facts["lattice"] == state.lattice.size
    assert facts["optimal"]
    assert facts["bound"] == facts["loss"]
    assert len(facts["runners_up"]) == min(len(state.solutions) - 1, RUNNERS_UP)
    losses = [other["loss"] for other in facts["runners_up"]]
    assert losses == sorted(losses)
    assert all(loss >= facts["loss"] for loss in losses)


def sentences(late=0, **changes):
    """Return the sentences about the search of seven people."""
    table = people(*SEVEN)
    space = space_of(table)
    state = explore(space, [KAnonymity(3)], suppression_limit=0.2).state
    for name, value in changes.items():
        setattr(state, name, value)
    return explain(space, state, state.ranked()[0], method="flash", late=late), state


def test_the_choice_and_its_price_are_named():
    lines, state = sentences()
    assert lines[0].startswith(f"flash: {len(state.counted)} of 6 combinations of levels over 2")
    assert lines[1] == (
        "The chosen one raises age to level 1 of 2, and suppresses 1 of 7 records "
        "(1 would be allowed)."
    )
    assert "proven" in lines[2]
    assert any("One level less for 'age'" in line for line in lines)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"proven": True}, "no other combination can be lower: proven"),
        ({"proven": False, "bound": 0.0}, "not proven: none can be below 0"),
        ({"proven": False, "bound": -math.inf}, "this method does not prove it the lowest"),
    ],
)
def test_what_is_not_proven_is_not_said_to_be(changes, words):
    lines, _ = sentences(**changes)
    assert any(words in line for line in lines)


def test_records_that_had_to_go_later_are_mentioned():
    assert not any("had to go" in line for line in sentences()[0])
    assert any(line.startswith("3 of the suppressed records had to go") for line in sentences(3)[0])


def test_levels_are_named_by_column():
    assert levels_of(space_of(people(*SEVEN)), (2, 0)) == {"age": 2, "sex": 0}
