import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.xk.coded import UP, coded_rows
from tests.methods.xk.test_pipeline import tables
from tests.naive import xk as naive

from shoal.methods.xk.frontier import ranked_ways, thresholds, work_out
from shoal.methods.xk.outcome import outcome_of
from shoal.methods.xk.pipeline import Plan, carry_out
from shoal.methods.xk.ranking import Preference


def worked(records, columns, sensitive, *, k, wanted=2, gradual=False, preference=Preference.NONE):
    rows = coded_rows(records, columns=columns, sensitive=sensitive)
    diversity = {f"s{j}": wanted for j in range(sensitive)}

    def plan(techniques, xk):
        return Plan(k=k, xk=xk, techniques=techniques, diversity=diversity, gradual=gradual)

    found = work_out(
        lambda t: rows if diversity or not t.sensitive_suppression else None,
        plan,
        lambda _: thresholds(k, first=1),
        columns=columns + sensitive + 1,
    )
    return ranked_ways(found, preference, predict=lambda *_: None), rows, plan


@settings(max_examples=60, deadline=None)
@given(table=tables(), k=st.integers(1, 5), gradual=st.booleans())
def test_every_technique_is_worked_out_as_the_naive_twin_does(table, k, gradual):
    records, columns, sensitive = table
    ways, _, _ = worked(records, columns, sensitive, k=k, gradual=gradual)
    found = {(way.techniques.label, way.xk): way for way in ways}
    labels = ("-", "GCS", "GC", "GS", "CS", "C", "G", "S") if sensitive else ("-", "GC", "C", "G")
    for label in labels:
        for xk in range(1, k + 1):
            expected = naive.measures(
                records, k=k, xk=xk, groups=[UP] * columns, columns=columns + sensitive + 1,
                wanted=[2] * sensitive, techniques=label.lower().strip("-"), gradual=gradual,
            )  # fmt: skip
            way = found.get((label, xk))
            if expected is None:
                assert way is None
                continue
            tally = way.tally
            assert 100 * tally.share == expected["precision"]
            assert tally.precision == pytest.approx(float(expected["precision"]))
            assert (tally.originals, tally.added, tally.suppressed) == (
                expected["originals"], expected["added"], expected["suppressed"],
            )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(table=tables(), k=st.integers(1, 5))
def test_the_frontier_holds_every_way_that_no_other_beats_once(table, k):
    records, columns, sensitive = table
    ways, _, _ = worked(records, columns, sensitive, k=k)
    points = [{"precision": w.tally.share, "suppressed": w.tally.suppressed} for w in ways]
    front = {(p["precision"], p["suppressed"]) for p in points if not naive.is_beaten(p, points)}
    marked = [(w.tally.share, w.tally.suppressed) for w in ways if w.is_front]
    assert len(marked) == len(set(marked))
    assert set(marked) == front


@settings(max_examples=40, deadline=None)
@given(table=tables(), k=st.integers(1, 5), data=st.data())
def test_qp_remain_and_qp_precision_are_those_of_the_naive_twin(table, k, data):
    records, columns, sensitive = table
    ways, rows, plan = worked(records, columns, sensitive, k=k)
    if not ways:
        return
    way = data.draw(st.sampled_from(ways))
    outcome = outcome_of(carry_out(rows, plan(way.techniques, way.xk)))
    expected = naive.measures(
        records, k=k, xk=way.xk, groups=[UP] * columns, columns=columns + sensitive,
        wanted=[2] * sensitive, techniques=way.techniques.label.lower().strip("-"),
    )  # fmt: skip
    assert outcome.qp_remain == pytest.approx(float(expected["qp_remain"]))
    assert outcome.qp_precision == pytest.approx(float(expected["qp_precision"]))
    assert outcome.precision == pytest.approx(float(expected["precision"]))


def test_the_ways_are_ranked_as_figure_2_ranks_fractions():
    records = [((name,), ()) for name, times in (("a1", 9), ("a2", 4), ("b1", 3), ("b2", 1))
               for _ in range(times)]  # fmt: skip
    ways, _, _ = worked(records, 1, 0, k=5)
    assert sorted(way.place for way in ways) == list(range(1, len(ways) + 1))
    by_precision, _, _ = worked(records, 1, 0, k=5, preference=Preference.PRECISION)
    best = min(by_precision, key=lambda way: way.place)
    assert best.tally.share >= min(ways, key=lambda way: way.place).tally.share


def test_a_large_k_is_worked_out_at_the_fractions_of_the_seed():
    assert thresholds(5, first=2) == [2, 3, 4, 5]
    few = thresholds(100, first=1, also=[41])
    assert {1, 25, 33, 50, 67, 75, 88, 100} <= set(few)
    assert 41 in few
    assert len(few) < 20
