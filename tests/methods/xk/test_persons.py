"""xk-anonymity where persons have several records: thresholds count persons, the rest records."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.xk.coded import UP, VALUES, coded_rows
from tests.methods.xk.test_pipeline import released
from tests.naive import xk as naive

from shoal.core.errors import NoSolutionError
from shoal.methods.xk.candidates import candidates_of
from shoal.methods.xk.outcome import foreseen_tally, outcome_of
from shoal.methods.xk.pipeline import COMBINATIONS, Plan, Techniques, carry_out, saved
from shoal.methods.xk.rows import diversity_of, pairs_of
from shoal.methods.xk.steps import diversify


@st.composite
def tables(draw, sensitive=None):
    """Few values, so that pairs are large; persons with many records, and records of nobody."""
    columns = draw(st.integers(1, 2))
    sensitive = draw(st.integers(0, 2)) if sensitive is None else sensitive
    record = st.tuples(
        st.tuples(*[st.sampled_from((*VALUES[:3], None))] * columns),
        st.tuples(*[st.sampled_from(("x", "y", "z", None))] * sensitive),
        st.sampled_from((*"abcdefgh", None)),
    )
    return draw(st.lists(record, min_size=1, max_size=40)), columns, sensitive


@settings(max_examples=150, deadline=None)
@given(
    table=tables(), k=st.integers(1, 6), data=st.data(), gradual=st.booleans(),
    techniques=st.sampled_from(COMBINATIONS), wanted=st.integers(2, 3),
)  # fmt: skip
def test_the_pipeline_agrees_with_the_naive_twin_and_pairs_have_k_persons(
    table, k, data, gradual, techniques, wanted
):
    records, columns, sensitive = table
    if not sensitive and techniques.sensitive_suppression:
        return
    xk = data.draw(st.integers(1, k))
    plan = Plan(
        k=k, xk=xk, techniques=techniques, gradual=gradual,
        diversity={f"s{j}": wanted for j in range(sensitive)},
    )  # fmt: skip
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
    found = released(carried)
    assert {key: pair[:2] for key, pair in found.items()} == {
        key: pair[:2] for key, pair in expected.items()
    }
    after = pairs_of(carried.after)
    assert (after.people >= xk).all()
    assert (after.people + after.false >= k).all()
    assert outcome_of(carried).persons[0] == len({who for *_, who in records} - {None})


@settings(max_examples=100, deadline=None)
@given(
    table=tables(), k=st.integers(1, 6), data=st.data(), techniques=st.sampled_from(COMBINATIONS)
)
def test_what_is_foreseen_and_measured_counts_records(table, k, data, techniques):
    records, columns, sensitive = table
    if not sensitive and techniques.sensitive_suppression:
        return
    xk = data.draw(st.integers(1, k))
    plan = Plan(k=k, xk=xk, techniques=techniques, diversity={f"s{j}": 2 for j in range(sensitive)})
    rows = coded_rows(records, columns=columns, sensitive=sensitive)
    blank = techniques.sensitive_suppression
    expected = naive.measures(
        records, k=k, xk=xk, groups=[UP] * columns, columns=columns + sensitive,
        wanted=[2] * sensitive, techniques=techniques.label.lower(),
    )  # fmt: skip
    foreseen = foreseen_tally(rows, saved(diversify(rows, plan.diversity, blank=blank), plan), plan)
    if expected is None:
        assert foreseen.originals == 0
        return
    found = outcome_of(carry_out(rows, plan))
    for name in ("originals", "added", "suppressed"):
        assert getattr(found, name) == getattr(foreseen, name) == expected[name]
    assert found.precision == pytest.approx(float(expected["precision"]))


@settings(max_examples=200, deadline=None)
@given(table=tables(sensitive=1))
def test_values_of_a_pair_belong_to_different_persons(table):
    records, columns, _ = table
    rows = coded_rows(records, columns=columns, sensitive=1)
    pairs = pairs_of(rows)
    whole = [{"qi": q, "sensitive": s, "who": who} for q, s, who in records]
    plain = naive.pairs(whole).values()
    expected = [naive.different(pair, 0, missing_counts=True) for pair in plain]
    assert sorted(diversity_of(rows, pairs, column=0).tolist()) == sorted(expected)


@settings(max_examples=100, deadline=None)
@given(table=tables(sensitive=0), k=st.integers(1, 7))
def test_candidates_suppress_records_and_add_persons(table, k):
    records, columns, _ = table
    sizes = [
        (naive.size(pair), len(pair))
        for pair in naive.pairs([{"qi": q, "who": who} for q, _, who in records]).values()
    ]
    rows = coded_rows(records, columns=columns)
    for found in candidates_of(pairs_of(rows).sizes(), k):
        expected = naive.candidate(sizes, k, found.xk)
        assert (found.originals, found.added, found.suppressed) == expected


@settings(max_examples=60, deadline=None)
@given(table=tables(), k=st.integers(1, 6), seed=st.integers(0, 3))
def test_persons_of_one_record_each_change_nothing(table, k, seed):
    records, columns, sensitive = table
    plan = Plan(k=k, xk=1, techniques=Techniques.parse("gc"))
    alone = [(q, s, number) for number, (q, s, _) in enumerate(records)]
    one, two = (
        carry_out(coded_rows(each, columns=columns, sensitive=sensitive), plan, seed=seed)
        for each in ([record[:2] for record in records], alone)
    )
    for name in ("codes", "counts", "false", "kept"):
        assert np.array_equal(getattr(one.after, name), getattr(two.after, name))
