from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.xk.coded import UP, VALUES, coded_rows
from tests.naive import xk as naive

from shoal.core.errors import MethodError, NoSolutionError
from shoal.methods.xk.outcome import outcome_of
from shoal.methods.xk.pipeline import COMBINATIONS, Plan, Techniques, carry_out
from shoal.methods.xk.recommendation import Criteria, recommend_by
from shoal.methods.xk.rows import BLANK, pairs_of
from shoal.methods.xk.steps import diversify, undiverse_pairs


@st.composite
def tables(draw):
    columns, sensitive = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    value = st.sampled_from((*VALUES, None))
    record = st.tuples(
        st.tuples(*[value] * columns), st.tuples(*[st.sampled_from(("x", "y", None))] * sensitive)
    )
    return draw(st.lists(record, min_size=1, max_size=40)), columns, sensitive


def released(carried):
    """Return {released tuple: (originals, false records, sensitive values)}."""
    rows = carried.after
    found = defaultdict(lambda: [0, 0, [set() for _ in rows.sensitive_names]])
    for r in np.flatnonzero(rows.kept):
        key = tuple(c.labels[code] for c, code in zip(rows.columns, rows.codes[r], strict=True))
        found[key][0] += int(rows.counts[r])
        found[key][1] += int(rows.false[r])
        for s, code in enumerate(rows.sensitive[r]):
            if code != BLANK:
                found[key][2][s].add(int(code))
    return {key: (n, false, [len(v) for v in values]) for key, (n, false, values) in found.items()}


@settings(max_examples=150, deadline=None)
@given(
    table=tables(), k=st.integers(1, 6), data=st.data(), gradual=st.booleans(),
    techniques=st.sampled_from(COMBINATIONS), wanted=st.integers(2, 3),
)  # fmt: skip
def test_the_pipeline_agrees_with_the_naive_twin_and_keeps_its_promise(
    table, k, data, gradual, techniques, wanted
):
    records, columns, sensitive = table
    if not sensitive and techniques.sensitive_suppression:
        return
    xk = data.draw(st.integers(1, k))
    diversity = {f"s{j}": wanted for j in range(sensitive)}
    plan = Plan(k=k, xk=xk, techniques=techniques, diversity=diversity, gradual=gradual)
    expected = naive.carry_out(
        records, k=k, xk=xk, groups=[UP] * columns, wanted=[wanted] * sensitive,
        techniques=techniques.label.lower(), gradual=gradual,
    )  # fmt: skip
    rows = coded_rows(records, columns=columns, sensitive=sensitive)
    if not expected:
        with pytest.raises(NoSolutionError):
            carry_out(rows, plan)
        return
    carried = carry_out(rows, plan)
    got = released(carried)
    assert got == {key: (n, f, [len(v) for v in vs]) for key, (n, f, vs) in expected.items()}
    assert carried.confirmation.holds
    assert carried.confirmation.pairs == len(expected)
    for originals, false, values in got.values():
        assert originals >= xk
        assert originals + false >= k
        assert all(number >= wanted or number == 0 for number in values)


@settings(max_examples=100, deadline=None)
@given(table=tables(), k=st.integers(1, 6), techniques=st.sampled_from(COMBINATIONS))
def test_no_technique_leaves_the_bounds_or_loses_more_than_predicted(table, k, techniques):
    records, columns, sensitive = table
    if not sensitive and techniques.sensitive_suppression:
        return
    blank = techniques.sensitive_suppression
    diversity = {f"s{j}": 2 for j in range(sensitive)}
    rows = coded_rows(records, columns=columns, sensitive=sensitive)
    empty = (diversify(rows, diversity, blank=True).sensitive == BLANK).sum(axis=1)
    criteria = Criteria(
        quasi=columns, columns=columns + sensitive, diversity=2 if sensitive else 1,
        sensitive_suppression=blank, blanked=int(rows.counts @ empty) if blank else 0,
    )  # fmt: skip
    poor = undiverse_pairs(rows, diversity) if sensitive else None
    try:
        found = recommend_by(criteria, pairs_of(rows).sizes(), k=k, undiverse=poor)
    except NoSolutionError:
        return
    for candidate in found.candidates:
        plan = Plan(k=k, xk=candidate.xk, techniques=techniques, diversity=diversity)
        try:
            carried = carry_out(rows, plan)
        except NoSolutionError:
            assert not candidate.originals
            continue
        outcome = outcome_of(carried, prediction=found.prediction(candidate.xk))
        assert outcome.is_in_bounds
        assert outcome.is_within_loss
        assert outcome.suppressed <= candidate.suppressed
        if techniques == Techniques():
            assert (outcome.originals, outcome.added) == (candidate.originals, candidate.added)


def test_the_eight_combinations_are_those_of_experiment_6():
    assert [t.label for t in COMBINATIONS] == ["-", "GCS", "GC", "GS", "CS", "C", "G", "S"]


@pytest.mark.parametrize(
    ("text", "label"),
    [("", "-"), ("none", "-"), ("gcs", "GCS"), ("S, g", "GS"), ("cells", "C"),
     ("generalization,sensitive", "GS")],
)  # fmt: skip
def test_techniques_are_read_from_letters_or_names(text, label):
    assert Techniques.parse(text).label == label


@pytest.mark.parametrize("text", ["x", "gx", "g,x", "cells;sensitive"])
def test_unknown_techniques_are_refused(text):
    with pytest.raises(MethodError, match="techniques are"):
        Techniques.parse(text)


def test_the_ranking_decides_which_column_is_suppressed():
    records = [(("a1", "b1"), ())] * 3 + [(("a1", "b2"), ()), (("a2", "b1"), ())]
    rows = coded_rows(records, columns=2)
    cells = Techniques(cell_suppression=True)
    second = carry_out(rows, Plan(k=2, xk=1, techniques=cells, ranking=["q0", "q1"]))
    assert set(released(second)) == {("a1", "b1"), ("a1", "b2"), ("a2", "b1")}  # nothing under 1
    second = carry_out(rows, Plan(k=2, xk=2, techniques=cells, ranking=["q0", "q1"]))
    assert set(released(second)) == {("a1", "b1")}
    rows = coded_rows([*records, (("a2", "b2"), ())], columns=2)
    first = carry_out(rows, Plan(k=2, xk=2, techniques=cells, ranking=["q1", "q0"]))
    assert set(released(first)) == {("a1", "b1"), ("*", "b2")}
    named = carry_out(rows, Plan(k=2, xk=2, techniques=cells, suppressed="q1"))
    assert set(released(named)) == {("a1", "b1"), ("a2", "*")}


def test_gradual_introduction_saves_a_record_that_a_single_pass_loses():
    # The second column is rare in one record; a single pass may only touch the third.
    records = [(("a1", "a1", "a1"), ())] * 4 + [(("a1", "b1", "a1"), ()), (("a1", "b2", "a1"), ())]
    rows = coded_rows(records, columns=3)
    cells = Techniques(cell_suppression=True)
    single = carry_out(rows, Plan(k=2, xk=2, techniques=cells))
    gradual = carry_out(rows, Plan(k=2, xk=2, techniques=cells, gradual=True))
    assert sum(n for n, _, _ in released(single).values()) == 4
    assert released(gradual)[("a1", "*", "a1")][0] == 2


def test_the_same_seed_gives_the_same_false_records():
    records = [((value,), (s,)) for value in VALUES for s in ("x", "y")]
    rows = coded_rows(records, columns=1, sensitive=1)
    plan = Plan(k=9, xk=2)
    one, two = carry_out(rows, plan, seed=5), carry_out(rows, plan, seed=5)
    assert np.array_equal(one.after.false, two.after.false)
    other = carry_out(rows, plan, seed=6)
    assert not np.array_equal(one.after.false, other.after.false)


def test_what_cannot_be_carried_out_is_refused_when_the_plan_is_made():
    with pytest.raises(MethodError, match="sensitive suppression needs"):
        Plan(k=5, xk=3, techniques=Techniques(sensitive_suppression=True))
    with pytest.raises(MethodError, match="from 1 to k = 5"):
        Plan(k=5, xk=6)
    with pytest.raises(MethodError, match="twice"):
        Plan(k=5, xk=3, ranking=["a", "a"])
    with pytest.raises(MethodError, match="gradually"):
        Plan(k=5, xk=3, gradual=True, suppressed="a")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"ranking": ["q0"]}, "exactly once"),
        ({"suppressed": "nope", "techniques": Techniques(cell_suppression=True)}, "not a quasi"),
        ({"generalized": "nope", "techniques": Techniques(generalization=True)}, "not a quasi"),
    ],
)
def test_columns_that_do_not_exist_are_refused(options, problem):
    rows = coded_rows([(("a1", "b1"), ())] * 3, columns=2)
    with pytest.raises(MethodError, match=problem):
        carry_out(rows, Plan(k=2, xk=1, **options))


def test_nothing_left_is_no_solution_with_a_reason():
    rows = coded_rows([((value,), ("x",)) for value in VALUES], columns=1, sensitive=1)
    with pytest.raises(NoSolutionError, match="no pair reaches xk = 2"):
        carry_out(rows, Plan(k=3, xk=2))
    with pytest.raises(NoSolutionError, match="different sensitive values"):
        carry_out(rows, Plan(k=3, xk=1, diversity={"s0": 2}))
