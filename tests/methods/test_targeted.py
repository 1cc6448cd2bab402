"""Classes of one value of a target: as one more column, which is not released."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.methods.calls import bestcut, kmember, refine
from tests.methods.clustering.tables import check_release, disease, of_persons, tables
from tests.methods.clustering.test_laws import numbers

from shoal.core.errors import MethodError
from shoal.measures.utility import grouping_of, utility_of
from shoal.methods.judging import failing_classes
from shoal.privacy import KAnonymity, LDiversity

ASKED = {"utility": "target", "target": "disease"}


@pytest.mark.parametrize("method", [bestcut, kmember, refine])
@settings(max_examples=10, deadline=None)
@given(table=tables(sensitive=True), k=st.integers(1, 4))
def test_the_promise_holds_and_nothing_but_the_quasi_identifiers_is_recoded(method, table, k):
    assume(table.records >= k)
    found = method(table, [KAnonymity(k)], **ASKED)
    check_release(found, k)
    assert found.table is table
    assert found.low.shape[1] == len(table.domains)


@settings(max_examples=10, deadline=None)
@given(table=of_persons(sensitive=True))
def test_persons_and_further_promises_are_kept(table):
    models = [KAnonymity(2), LDiversity(2, column="disease")]
    for method in (bestcut, refine):
        assert not failing_classes(method(table, models, **ASKED), models).any()


def test_fewer_records_stand_apart_from_their_class():
    table = numbers(400, 2, 30)
    secret = (table.codes[:, :1] * 7 + table.codes[:, 1:] * 3) % 3
    table = replace(table, sensitive_domains=(disease(),), sensitive=secret.astype("int32"))
    plain, kept = (bestcut(table, [KAnonymity(5)], **asked) for asked in ({}, ASKED))
    minority = [utility_of(grouping_of(each, target="disease"))["cm"] for each in (plain, kept)]
    assert minority[1] < minority[0] / 2


@pytest.mark.parametrize(("target", "words"), [(None, "name it with"), ("x", "without that")])
def test_a_target_that_is_not_there_is_refused(target, words):
    with pytest.raises(MethodError, match=words):
        bestcut(numbers(20, 2, 5), [KAnonymity(2)], utility="target", target=target)
