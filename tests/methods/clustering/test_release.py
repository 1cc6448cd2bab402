"""The better of several releases, by what is lost when everything is done."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.methods.calls import bestcut, kaca, kmember, kmember_parallel, mondrian, oka, refine
from tests.methods.clustering.tables import of_persons, tables
from tests.methods.sensitive_tables import PROMISES, counted

from shoal.measures.utility import grouping_of, utility_of
from shoal.methods.clustering.release import best_of, loss_of_release
from shoal.methods.clustering.space import LEAVES, space_of
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.persons import hold_persons
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, TCloseness

BEYOND = [
    LDiversity(2, column="disease"),
    LDiversity(1.5, "entropy", column="disease"),
    TCloseness(0.4, column="disease"),
    AlphaKAnonymity(0.8, 2, column="disease"),
]


def il(recoding):
    return utility_of(grouping_of(recoding))["il"]


@pytest.mark.parametrize("method", [kmember, kmember_parallel, oka, kaca])
@settings(max_examples=6, deadline=None)
@given(table=counted(), promise=st.sampled_from(PROMISES[1:]))
def test_beyond_k_no_clustering_loses_more_than_bestcut(method, table, promise):
    models = [KAnonymity(2), promise]
    assume(not failing_classes(one_class(table), models).any())
    found = method(table, models)
    assert not failing_classes(found, models).any()
    assert il(found) <= il(bestcut(table, models)) + 1e-9


@pytest.mark.parametrize("promise", BEYOND, ids=repr)
@settings(max_examples=8, deadline=None)
@given(table=of_persons(sensitive=True))
def test_refine_never_loses_more_where_persons_are_counted(promise, table):
    models = [KAnonymity(2), promise]
    rivals = [rival(table, models) for rival in (bestcut, kmember)]
    rivals.append(hold_persons(mondrian(table, models), models))
    found = [refine(table, models, effort=effort) for effort in ("fast", "normal")]
    for each in found:
        assert not failing_classes(each, models).any()
    within = [each for each in rivals if not each.suppressed]
    if within:
        assert not found[0].suppressed
        assert il(found[0]) <= min(map(il, within)) + 1e-9
        assert il(found[1]) <= il(found[0]) + 1e-9


@settings(max_examples=15, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 4))
def test_the_share_of_leaves_is_what_is_measured(table, k):
    assume(table.records >= k)
    space = space_of(table.domains, measure=LEAVES)
    found = [
        method(table, [KAnonymity(k)], utility="loss") for method in (bestcut, kmember, refine)
    ]
    measured = [utility_of(grouping_of(each))["loss"] for each in found]
    for each, loss in zip(found, measured, strict=True):
        own = loss_of_release(each, space, LEAVES) / len(table.domains)
        assert np.expm1(own) == pytest.approx(loss, abs=1e-4)
    assert measured[2] <= min(measured[:2]) + 1e-5
    best = best_of(found, space, limit=0.0, measure=LEAVES)
    assert loss_of_release(best, space, LEAVES) == min(
        loss_of_release(each, space, LEAVES) for each in found
    )
