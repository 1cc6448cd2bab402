import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import mdav
from tests.methods.calls import refine_centroids as refine
from tests.methods.microaggregation.test_mdav import (
    benchmark,
    groups_of,
    loss,
    numeric,
    records,
    tables,
)
from tests.naive import microaggregation as naive

from shoal.core.errors import KernelInputError, MethodError
from shoal.kernels.microaggregation.annealing import Crowd, anneal, cut
from shoal.methods.microaggregation import refine as module
from shoal.methods.microaggregation.points import points_of
from shoal.privacy import KAnonymity
from shoal.table.frequency import FrequencyTable


@pytest.fixture(autouse=True)
def few_steps(monkeypatch, request):
    """Let the searches be short, except on the papers' tables."""
    if "data" not in request.fixturenames:
        monkeypatch.setattr(module, "STEPS", (20_000, 20_000))


def heaviest(count):
    """Return a table of numbers, some rows of which k records share."""
    rows = [(i * 37 % 23, i * 11 % 7) for i in range(count)]
    table = numeric(rows)
    counts = 1 + np.arange(table.rows) % 9
    return FrequencyTable(table.domains, table.codes, counts, (), table.sensitive)


def scattered(count, columns=3):
    chance = np.random.default_rng(7)
    return numeric([tuple(row) for row in chance.integers(0, 500, (count, columns)).tolist()])


@given(rows=tables, k=st.integers(2, 5), seed=st.integers(0, 5))
@settings(deadline=None, max_examples=40)
def test_no_group_is_too_small_and_nothing_is_lost_against_the_starts(rows, k, seed):
    table = numeric(rows)
    found = refine(table, [KAnonymity(k)], seed=seed, effort="fast")
    if table.records < k:
        assert found.suppressed == table.records
        return
    assert found.suppressed == 0
    assert found.sizes.min() >= k
    counted = np.bincount(found.row, weights=found.count, minlength=table.rows)
    assert (counted == table.counts).all()
    assert loss(found) <= loss(mdav(table, [KAnonymity(k)])) + 1e-9


@given(
    rows=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=4, max_size=8),
    k=st.integers(2, 3),
)
@settings(deadline=None, max_examples=15)
def test_tiny_tables_come_near_to_the_best_there_is(rows, k):
    table = numeric(rows)
    points = records(table)
    best = min(naive.error(points, g) for g in naive.groupings(list(range(len(points))), k))
    found = refine(table, [KAnonymity(k)])
    whole = naive.error(points, [list(range(len(points)))])
    assert loss(found) * whole / 100 <= best * 1.2 + 1e-9


@given(rows=tables, k=st.integers(1, 4))
@settings(deadline=None, max_examples=50)
def test_a_path_is_cut_where_it_loses_least(rows, k):
    points = points_of(numeric(rows))[:14]
    if len(points) < k:
        with pytest.raises(KernelInputError):
            cut(points, k=k)
        return
    listed = points.tolist()
    label = cut(points, k=k)
    groups = [np.flatnonzero(label == g).tolist() for g in range(label.max() + 1)]
    best = min(naive.error(listed, g) for g in naive.cuts(list(range(len(points))), k))
    assert naive.error(listed, groups) == pytest.approx(best, abs=1e-12)
    assert all(k <= len(group) <= 2 * k - 1 for group in groups)


def test_the_error_that_is_tracked_is_the_error(monkeypatch):
    monkeypatch.setattr(module, "SPARE", 1)
    table = heaviest(60)
    crowd, starts = module._begin(table, points_of(table), 3)
    crowd = crowd._replace(scale=np.maximum(crowd.scale, 0.1))
    for start in starts:
        label, error = anneal(
            crowd, start, k=3, steps=30_000, heat=(0.5, 0.1), chance=np.random.default_rng(1)
        )
        row, group, count = module._members(crowd, label)
        everyone = np.repeat(points_of(table)[row], count, axis=0).tolist()
        where = np.repeat(group, count)
        groups = [np.flatnonzero(where == g).tolist() for g in np.unique(where)]
        assert min(len(g) for g in groups) >= 3
        assert error == pytest.approx(naive.error(everyone, groups))
        assert not (label == start).all()


def test_same_seed_same_groups_whatever_the_threads():
    table = scattered(400)
    one, two = (refine(table, [KAnonymity(4)], threads=threads) for threads in (1, 3))
    assert groups_of(one) == groups_of(two)
    assert (one.label == two.label).all()
    assert one.facts == two.facts
    other = refine(table, [KAnonymity(4)], seed=1)
    assert groups_of(other) != groups_of(one)


def test_more_effort_loses_less():
    table = scattered(300)
    lost = [loss(refine(table, [KAnonymity(5)], effort=effort)) for effort in module.EFFORTS]
    assert lost[2] < lost[0] < loss(mdav(table, [KAnonymity(5)]))


def test_most_of_a_very_heavy_row_stays_together(monkeypatch):
    monkeypatch.setattr(module, "SPARE", 1)
    table = heaviest(80)
    for k in (2, 3, 4):
        found = refine(table, [KAnonymity(k)])
        assert found.sizes.min() >= k
        assert loss(found) < loss(mdav(table, [KAnonymity(k)]))
        for row in np.flatnonzero(table.counts > 2 * k):
            assert found.count[found.row == row].max() >= table.counts[row] - k


def test_few_places():
    rows = [(0, 0)] * 6 + [(9, 9)] * 7 + [(4, 5)]
    found = refine(numeric(rows), [KAnonymity(5)])
    assert found.sizes.tolist() in ([7, 7], [6, 8], [8, 6])
    assert refine(numeric(rows[:13]), [KAnonymity(5)]).classes == 2
    assert loss(refine(numeric([(1, 2)] * 90), [KAnonymity(3)])) == 0.0
    assert refine(numeric([(1,), (2,), (3,)]), [KAnonymity(3)]).classes == 1
    assert refine(numeric([(i,) for i in range(5)]), [KAnonymity(3)]).sizes.tolist() == [5]
    assert refine(numeric([(1,), (2,)]), []).classes == 2


def test_groups_larger_than_the_neighbourhood():
    table = scattered(500, 2)
    found = refine(table, [KAnonymity(90)])
    assert found.sizes.min() >= 90
    assert loss(found) <= loss(mdav(table, [KAnonymity(90)]))


def test_seconds_bound_the_search():
    found = refine(scattered(200), [KAnonymity(3)], effort="best", seconds=0.3)
    assert found.sizes.min() >= 3
    assert found.facts["searches"] > 6


def test_missing_values_take_part():
    chance = np.random.default_rng(3)
    rows = [
        tuple(None if chance.random() < 0.2 else int(v) for v in row)
        for row in chance.integers(0, 50, (120, 3))
    ]
    found = refine(numeric(rows), [KAnonymity(4)])
    assert found.sizes.min() >= 4


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("census", (5.24, 8.18, 12.31)),
        ("tarragona", (14.91, 20.92, 30.82)),
        ("eia", (0.374, 0.90, 2.03)),
    ],
)
def test_it_loses_less_than_the_literature(data, name, most):
    table = benchmark(data, name)
    for k, share in zip((3, 5, 10), most, strict=True):
        found = refine(table, [KAnonymity(k)])
        assert found.sizes.min() >= k
        assert found.suppressed == 0
        assert loss(found) <= share


def test_thirty_thousand_records(data):
    found = refine(benchmark(data, "adult"), [KAnonymity(5)], effort="fast")
    assert found.sizes.min() >= 5
    assert loss(found) <= 1.40


@pytest.mark.parametrize("options", [{"effort": "heroic"}, {"seconds": 0.0}])
def test_impossible_options_are_refused(options):
    with pytest.raises(MethodError, match=f"refine: {next(iter(options))} must be "):
        refine(None, [KAnonymity(2)], **options)


def test_groups_that_do_not_fit_are_refused():
    crowd = Crowd(
        at=np.zeros((8, 1)),
        row=np.arange(8),
        first=np.arange(9),
        core=np.full(8, -1),
        held=np.zeros(0, dtype=np.int64),
        base=np.zeros((0, 1)),
        near=np.zeros((8, 1), dtype=np.int32),
        scale=np.ones(8),
    )
    chance = np.random.default_rng(0)
    for label in (np.zeros(8, dtype=np.int64), np.zeros(7, dtype=np.int64)):
        with pytest.raises(KernelInputError):
            anneal(crowd, label, k=2, steps=1, heat=(1.0, 1.0), chance=chance)


@pytest.mark.parametrize("records", [1, 40, 499, 500, 1_080, 2_500, 2_501, 9_000, 60_000])
@pytest.mark.parametrize("k", [2, 3, 10, 50])
def test_more_effort_has_more_steps_in_tables_of_every_size(records, k):
    steps = {effort: sum(module._turns(records, k, effort, None)) for effort in module.EFFORTS}
    assert 0 < steps["fast"] < steps["normal"] < steps["best"]
    is_patient = module.PATIENT <= records <= module.FEW
    times = module.EFFORTS["best"] * (module.LONGER if is_patient else 1)
    assert steps["best"] == pytest.approx(times * steps["normal"], rel=1e-6)


def test_small_tables_are_searched_again_and_those_in_between_longer():
    assert len([*module._turns(100, 3, "best", None)]) == module.TURNS
    assert len([*module._turns(1_000, 3, "best", None)]) == 1
    assert len([*module._turns(9_000, 3, "best", None)]) == module.TURNS
    assert len([*module._turns(60_000, 3, "best", None)]) == 1
    assert all(len([*module._turns(n, 3, "normal", None)]) == 1 for n in (100, 1_000, 60_000))


@pytest.mark.parametrize("effort", [*module.EFFORTS])
def test_only_the_best_effort_is_patient(effort):
    assert module._is_patient(module.PATIENT, effort) == (effort == "best")
    assert not module._is_patient(module.PATIENT - 1, effort)
    assert not module._is_patient(module.FEW + 1, effort)


@given(st.integers(1, 40_000), st.integers(1_000, 10_000_000), st.sampled_from([0.3, 0.5]))
def test_searches_of_a_turn_share_its_steps_and_cool_down(records, steps, first):
    rounds = [*module._plan(records, steps, first)]
    given_steps = sum(length for jobs in rounds for length, _ in jobs)
    assert given_steps <= steps
    assert given_steps > steps - 20  # but for what division leaves
    heats = [heat for jobs in rounds for _, heat in jobs]
    assert all(0 < heat <= first for heat in heats)
    assert heats[0] > module.AGAIN[0]  # the first searches begin anew
    assert len(rounds[0]) == (4 if records <= module.FEW else 2 if records <= module.SOME else 1)
    if len(rounds[0]) > 1:  # the others go on from the best groups
        assert rounds[1:] == [[(steps // 4, heat) for heat in module.AGAIN]]


def test_a_table_in_between_is_searched_from_a_lower_heat(monkeypatch):
    seen = []
    monkeypatch.setattr(module, "STEPS", (2_000, 2_000))
    plan = module._plan

    def watched(records, steps, first=module.HEAT[0]):
        seen.append(first)
        return plan(records, steps, first)

    monkeypatch.setattr(module, "_plan", watched)
    refine(scattered(module.PATIENT), [KAnonymity(3)], effort="best")
    assert seen == [module.HEAT[0], module.HEAT[0], module.WARM]  # fast, normal, best
