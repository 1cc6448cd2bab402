from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import SchemaError
from shoal.jobs.requests import ReleaseRequest
from shoal.web import state
from shoal.web.state import (
    MOST_STEPS,
    History,
    State,
    Step,
    check_release,
    check_report,
)  # fmt: skip

BEGUN = State(table="a.csv", schema={"columns": {"zip": "quasi", "age": {"role": "quasi"}}})


def test_a_column_written_as_its_role_alone_becomes_an_entry_that_can_take_more():
    assert BEGUN.with_column("zip", weight=2.0).columns["zip"] == {"role": "quasi", "weight": 2.0}


def test_none_takes_an_entry_out():
    heavy = BEGUN.with_column("age", weight=2.0)
    assert heavy.with_column("age", weight=None) == BEGUN
    assert BEGUN.with_release(seed=3).with_release(seed=None) == BEGUN
    assert BEGUN.with_report(by="X").with_report(by=None) == BEGUN


def test_a_change_of_one_column_leaves_the_others_as_they_are():
    assert BEGUN.with_column("age", role="neutral").columns["zip"] == "quasi"


def test_the_order_of_columns_stays():
    assert list(BEGUN.with_column("zip", role="neutral").columns) == ["zip", "age"]


def test_no_value_of_the_schema_stands_in_the_repr():
    secret = State(schema={"columns": {"ill": {"role": "quasi", "order": ["Alice", "Bob"]}}})
    assert "Alice" not in repr(secret)


@given(st.lists(st.sampled_from(["change", "undo", "redo"]), max_size=40))
def test_undo_and_redo_walk_over_the_changes_like_a_list_with_a_cursor(acts):
    history, now = History(), State()
    states, cursor = [now], 0  # the twin
    for number, act in enumerate(acts):
        if act == "change":
            after = State(table=str(number))
            history.enter(Step(act, now, after))
            now = after
            states, cursor = [*states[: cursor + 1], after], cursor + 1
        else:
            found = history.undo() if act == "undo" else history.redo()
            move = cursor + (-1 if act == "undo" else 1)
            if 0 <= move < len(states):
                cursor = move
                assert found == states[cursor]
                now = states[cursor]
            else:
                assert found is None
        assert now == states[cursor]
        assert (history.last is None) == (cursor == 0)
        assert (history.next is None) == (cursor == len(states) - 1)


def test_a_change_after_an_undo_forgets_what_was_undone():
    history = History()
    history.enter(Step("one", State(), BEGUN))
    history.undo()
    history.enter(Step("two", State(), BEGUN))
    assert history.redo() is None


def test_the_list_of_changes_does_not_grow_for_ever():
    history = History()
    for _ in range(MOST_STEPS + 50):
        history.enter(Step("again", State(), BEGUN))
    undone = 0
    while history.undo() is not None:
        undone += 1
    assert undone == MOST_STEPS


def test_every_field_of_a_request_can_be_shown():
    names = {each.name for each in fields(ReleaseRequest)} - {"table", "schema"}
    assert set(state._WORDS) == names


@pytest.mark.parametrize(
    "release",
    [{"method": "nonsense"}, {"method": [1]}, {"method": {"name": [1]}}, {"checks": 3},
     {"checks": {"learn": [1]}}, {"seed": "x"}, {"unheard": "of"}, {"output": []}],
)  # fmt: skip
def test_a_request_that_cannot_be_shown_is_refused(release):
    with pytest.raises(SchemaError):
        check_release(release)


def test_a_request_and_a_report_that_the_page_writes_are_none_of_these():
    check_release({"method": {"name": "refine", "effort": "fast"}, "seed": 3, "checks": {},
                   "output": {"out": "o.csv"}, "infer": False, "release": "aggregate"})  # fmt: skip
    check_release({"method": "auto"})
    check_report({"out": "r.html", "audience": "external", "export": "python", "model": "m.json"})
