"""s-mdav, sa-mdav, sa-mdav-static, mdav-generic and k-modes against their plain twins."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import kmodes, mdav_generic, s_mdav, sa_mdav, sa_mdav_static
from tests.methods.microaggregation.mixed import (
    as_records,
    by_tuple,
    classes_of,
    columns,
    tables,
    twins_of,
)
from tests.naive import semantic as naive

from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import from_codes

LAW = settings(max_examples=50, deadline=None)
METHODS = (s_mdav, sa_mdav, sa_mdav_static, mdav_generic, kmodes)


def enough(table, k):
    return table.records >= k


@LAW
@given(table=tables(), k=st.integers(1, 6), moving=st.booleans(), absorb=st.booleans())
def test_sa_mdav_makes_the_clusters_of_the_text(table, k, moving, absorb):
    twins, entries = twins_of(table)
    if not enough(table, k):
        return
    found = (sa_mdav if moving else sa_mdav_static)(table, [KAnonymity(k)], absorb=absorb)
    wanted = naive.mdav(twins, entries, k, moving=moving, absorb=absorb)
    assert classes_of(found) == by_tuple(wanted)


@LAW
@given(table=tables(), k=st.integers(1, 6))
def test_s_mdav_makes_the_clusters_of_the_text(table, k):
    twins, entries = twins_of(table)
    if not enough(table, k):
        return
    found = s_mdav(table, [KAnonymity(k)])
    assert classes_of(found) == by_tuple(naive.mdav(twins, as_records(entries), k, moving=True))


@LAW
@given(table=tables(), k=st.integers(1, 6))
def test_mdav_generic_makes_the_clusters_of_the_text(table, k):
    twins, entries = twins_of(table, "equal")
    if not enough(table, k):
        return
    found = mdav_generic(table, [KAnonymity(k)])
    assert classes_of(found) == by_tuple(naive.mdav_generic(twins, as_records(entries), k))


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40, deadline=None)
@given(table=tables(sensitive=True), k=st.integers(1, 4), l=st.integers(1, 2))
def test_every_class_keeps_every_promise_and_no_record_is_lost(method, table, k, l):
    secret = table.sensitive_domains[0].name
    found = method(table, [KAnonymity(k), LDiversity(l, column=secret)])
    shared = Counter()
    spread = {}
    for row, label, n in zip(found.row, found.label, found.count, strict=True):
        assert n > 0
        shared[int(row)] += int(n)
        if label >= 0:
            spread.setdefault(int(label), Counter())[int(table.sensitive[row, 0])] += int(n)
    assert shared == {row: int(n) for row, n in enumerate(table.counts)}
    for values in spread.values():
        assert sum(values.values()) >= k
        assert len(values) >= l
    again = method(table, [KAnonymity(k), LDiversity(l, column=secret)])
    assert (again.label == found.label).all()


@pytest.mark.parametrize("method", METHODS)
def test_one_value_only_and_nothing_but_missing_values(method):
    known = columns(True)
    for code in (0, 1):
        codes = np.array([[code, code]], dtype=np.int32)
        table = from_codes((known["tree"], known["number"]), codes, np.array([7]))
        found = method(table, [KAnonymity(3)])
        assert found.suppressed == 0
        assert found.sizes.min() >= 3
        assert found.sizes.sum() == 7


def test_low_frequency_tuples_go_to_large_close_clusters():
    line = line_domain("pay", Kind.NUMERIC, ["0", "1", "9", "10"], [0, 1, 9, 10])
    codes = np.arange(4, dtype=np.int32).reshape(-1, 1)
    table = from_codes((line,), codes, np.array([50, 1, 1, 50]))
    apart, together = (sa_mdav(table, [KAnonymity(2)], absorb=a) for a in (False, True))
    assert classes_of(apart) == [[(0, 50)], [(1, 1), (2, 1)], [(3, 50)]]
    assert classes_of(together) == [[(0, 50), (1, 1)], [(2, 1), (3, 50)]]
