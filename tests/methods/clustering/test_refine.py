from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from tests.methods.calls import bestcut, kmember, mondrian, refine
from tests.methods.clustering import tables
from tests.methods.clustering.tables import check_release
from tests.methods.clustering.test_laws import numbers
from tests.methods.sensitive_tables import PROMISES, counted

from shoal.core.errors import MethodError
from shoal.measures.utility import grouping_of, utility_of
from shoal.methods.clustering import rounds as module
from shoal.methods.judging import failing_classes, one_class
from shoal.privacy import KAnonymity, TCloseness


def loss(recoding):
    return utility_of(grouping_of(recoding))["il"]


@pytest.mark.parametrize("k", [3, 25])
def test_it_loses_less_than_what_it_begins_with(k):
    table = numbers(700, 3, 60)
    releases = {effort: refine(table, [KAnonymity(k)], effort=effort) for effort in module.EFFORTS}
    for release in releases.values():
        check_release(release, k)
    assert loss(releases["normal"]) < loss(releases["fast"])
    assert loss(releases["best"]) < loss(bestcut(table, [KAnonymity(k)]))
    assert loss(releases["best"]) < loss(kmember(table, [KAnonymity(k)]))


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 200)
    table = numbers(1200, 3, 60)
    one, two = (refine(table, [KAnonymity(4)], threads=threads) for threads in (1, 2))
    assert (one.low == two.low).all()
    assert (one.label == two.label).all()


def test_turns_bound_the_search_on_a_large_table(monkeypatch):
    table = numbers(1200, 3, 60)
    monkeypatch.setattr(module, "BLOCK", 100)
    whole = refine(table, [KAnonymity(4)], effort="fast", threads=1)
    monkeypatch.setitem(module.TURNS, "fast", 400)  # a third of the pieces
    one, two = (
        refine(table, [KAnonymity(4)], effort="fast", threads=threads) for threads in (1, 2)
    )
    check_release(one, 4)
    assert one.facts["rounds"] == 1
    assert (one.label == two.label).all()
    assert loss(whole) < loss(one) < loss(bestcut(table, [KAnonymity(4)]))


@pytest.mark.parametrize(("shape", "most"), [((800, 3, 60), 8), ((400, 2, 40), 11)])
def test_heavy_rows_of_a_table_that_is_improved_in_part(monkeypatch, shape, most):
    """In the first table they begin better apart, in the second together with the others."""
    monkeypatch.setattr(module, "BLOCK", 100)
    monkeypatch.setitem(module.TURNS, "fast", 20)
    table = numbers(*shape)
    counts = np.random.default_rng(1).integers(1, most + 1, table.rows)
    heavy = replace(table, counts=counts)
    release = refine(heavy, [KAnonymity(5)], effort="fast", threads=1)
    check_release(release, 5)
    assert loss(release) <= loss(bestcut(heavy, [KAnonymity(5)]))


def test_seconds_bound_the_search():
    release = refine(numbers(300, 2, 40), [KAnonymity(4)], seconds=0.2)
    assert release.facts["rounds"] >= 1
    check_release(release, 4)


def test_a_row_that_k_records_share_stays_alone_or_helps():
    table = numbers(40, 2, 5)
    heavy = table.counts.copy()
    heavy[0] = 50
    release = refine(
        type(table)(table.domains, table.codes, heavy, (), table.sensitive), [KAnonymity(3)]
    )
    alone = (release.low == table.codes[0]).all(axis=1)
    alone &= (release.high == table.codes[0]).all(axis=1)
    assert alone.sum() == 1
    assert release.sizes[np.flatnonzero(alone)[0]] >= 3


@pytest.mark.parametrize("options", [{"effort": "heroic"}, {"seconds": 0.0}])
def test_impossible_options_are_refused(options):
    with pytest.raises(MethodError, match=f"refine: {next(iter(options))} must be "):
        refine(None, [KAnonymity(2)], **options)


@pytest.mark.sampled
@pytest.mark.parametrize("promise", PROMISES, ids=repr)
@settings(max_examples=8, deadline=None)
@given(table=counted())
def test_more_effort_never_loses_more_and_no_rival_loses_less(promise, table):
    models = [KAnonymity(2), promise]
    whole = mondrian(table, models)
    assume(not failing_classes(one_class(table), models).any())
    found = [refine(table, models, effort=effort) for effort in ("fast", "normal", "best")]
    losses = [loss(each) for each in found]
    assert losses[0] >= losses[1] - 1e-9 >= losses[2] - 2e-9
    for release in found:
        assert not failing_classes(release, models).any()
        assert release.suppressed == 0
    assert losses[0] <= min(loss(bestcut(table, models)), loss(whole)) + 1e-9
    assert losses[1] <= loss(kmember(table, models)) + 1e-9


def test_closeness_does_not_end_in_one_class():
    """Where a sensitive value goes with a column, plain cuts and mergers end in large classes."""
    chance = np.random.default_rng(0)
    table = numbers(600, 2, 40)
    secret = (table.codes[:, 0] + chance.integers(-8, 9, table.rows) > 25).astype(np.int32)
    domain = tables.disease()
    skewed = replace(table, sensitive_domains=(domain,), sensitive=secret[:, None])
    models = [KAnonymity(5), TCloseness(0.1, column="disease")]
    found = refine(skewed, models)
    assert not failing_classes(found, models).any()
    assert loss(found) < 0.7 * loss(bestcut(skewed, models))
