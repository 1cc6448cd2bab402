"""A lower bound on what must be lost: never above the least of all groupings, and near it."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.methods.calls import bestcut, refine, refine_centroids
from tests.methods.clustering.tables import tables
from tests.methods.clustering.test_laws import numbers
from tests.naive import optimum as naive

import shoal
from shoal.core.errors import MissingExtraError
from shoal.measures import optimum
from shoal.measures.optimum import bound_of, bound_of_boxes, bound_of_squares
from shoal.measures.utility import grouping_of, utility_of
from shoal.methods.microaggregation.centroids import centroids
from shoal.methods.microaggregation.points import points_of
from shoal.methods.microaggregation.squared_error import sse_loss
from shoal.privacy import KAnonymity
from shoal.reports.fidelity import bound_words
from shoal.table.recoding import with_centroids

LAW = settings(max_examples=25, deadline=None)


def records(table):
    return np.repeat(np.arange(table.rows), table.counts)


def least_ncp(table, k):
    rows = records(table)

    def cost(group):
        codes = table.codes[rows[list(group)]]
        low, high = codes.min(axis=0), codes.max(axis=0)
        boxes = zip(table.domains, low.tolist(), high.tolist(), strict=True)
        return len(group) * sum(domain.cost(*run) for domain, *run in boxes)

    return naive.least(range(len(rows)), k, cost) / (len(rows) * len(table.domains))


def least_sse(table, k):
    points = points_of(table)[records(table)]
    every = range(len(points))
    whole = naive.squared_cost(points)
    found = naive.least(every, k, lambda group: naive.squared_cost(points[list(group)]))
    return 100 * found / float(whole) if whole else 0.0


@LAW
@given(table=tables(most=6, missing=True), k=st.integers(2, 3))
def test_no_grouping_of_boxes_loses_less(table, k):
    assume(k <= table.records <= 8)
    release = refine(table, [KAnonymity(k)])
    found = bound_of_boxes(release, k)
    best = least_ncp(table, k)
    assert found.least <= best + 1e-5
    assert found.lost >= best - 1e-5
    assert found.lost == pytest.approx(utility_of(grouping_of(release))["ncp"], abs=1e-5)
    assert found.is_exact


@LAW
@given(
    places=st.lists(st.integers(0, 9), min_size=2, max_size=8),
    k=st.integers(2, 3), seed=st.integers(0, 9),
)  # fmt: skip
def test_no_grouping_around_means_loses_less(places, k, seed):
    assume(len(places) >= k)
    table = numbers(len(places), 2, 10, seed)
    release = refine_centroids(table, [KAnonymity(k)])
    found = bound_of_squares(release, k)
    best = least_sse(table, k)
    assert found.least <= best + 1e-5
    assert found.lost >= best - 1e-5
    assert found.lost == pytest.approx(sse_loss(release, centroids(release)), abs=1e-3)


@pytest.mark.parametrize("nodes", [(1, 1), (200, 50_000)])
def test_a_search_that_was_cut_short_gives_a_bound_all_the_same(monkeypatch, nodes):
    table = numbers(60, 2, 30)
    release = refine(table, [KAnonymity(4)])
    whole = bound_of_boxes(release, 4)
    monkeypatch.setattr(optimum, "NODES", nodes)
    short = bound_of_boxes(release, 4, seconds=0.001)
    assert short.least <= whole.least + 1e-9
    assert short.least > 0.3 * whole.least  # what each record loses with its nearest ones
    assert whole.is_exact
    assert whole.least > 0.8 * whole.lost
    assert not short.is_exact


def test_the_bound_does_not_know_of_weights_round_labels_and_sensitive_values():
    table = numbers(40, 2, 20)
    heavy = replace(table, domains=tuple(replace(d, weight=3.0) for d in table.domains))
    one, other = (bound_of_boxes(bestcut(each, [KAnonymity(3)]), 3) for each in (table, heavy))
    assert one.least == pytest.approx(other.least, rel=1e-4)


def test_where_no_bound_is_known_it_says_why(monkeypatch):
    table = numbers(30, 2, 20)
    release = refine(table, [KAnonymity(3)])
    lost = {"ncp": 0.5, "sse_loss": 9.0}
    assert bound_of(release, 1, lost=lost)["why"] == "k-anonymity is not promised"
    gone = replace(release, label=np.where(release.label == 0, -1, release.label))
    assert "suppressed" in bound_of(gone, 3, lost=lost)["why"]
    monkeypatch.setattr(optimum, "MOST_ROWS", 5)
    assert "up to 5 distinct tuples" in bound_of(release, 3, lost=lost)["why"]


@LAW
@given(table=tables(most=5))
def test_of_centroids_of_categories_no_bound_is_known(table):
    release = refine_centroids(table, [KAnonymity(1)])
    made = with_centroids(release, centroids(release))
    told = bound_of(made, 2, lost={"sse_loss": 1.0})
    assert told["above"] is None
    assert "numbers" in told["why"]
    assert "not known" in bound_words(told)[0][1]


def test_scipy_is_an_extra(monkeypatch):
    monkeypatch.setattr(optimum, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"shoal\[bound\]"):
        optimum.check_extra()


@pytest.mark.parametrize("form", ["generalize", "aggregate"])
def test_a_release_says_how_far_it_is_above_the_optimum(form):
    chance = np.random.default_rng(1)
    frame = pl.DataFrame({"a": chance.integers(0, 50, 60), "b": chance.integers(0, 50, 60)})
    made = shoal.anonymize(
        frame, qi=["a", "b"], numeric=["a", "b"], k=3, release=form, labels="tight", bound=20,
        method="refine",
    )  # fmt: skip
    told = made.report.facts["bound"]
    measure = "ncp" if form == "generalize" else "sse_loss"
    assert told["measure"] == measure
    assert told["lost"] == made.report.utility[measure]
    assert 0 <= told["above"] < 0.2
    assert told["above"] == pytest.approx(told["lost"] / told["least"] - 1)
    assert "at most" in bound_words(told)[0][1]


def test_a_bound_needs_time():
    frame = pl.DataFrame({"a": [1, 2, 3, 4]})
    with pytest.raises(shoal.core.errors.ShoalError, match="bound must be"):
        shoal.anonymize(frame, qi=["a"], k=2, bound=-1.0)
