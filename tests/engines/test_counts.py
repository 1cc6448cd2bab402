"""Counts that fit this machine, and the classes that a search finds in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from shoal.core.errors import NoSolutionError
from shoal.engines.base import Search
from shoal.engines.counts import (
    ClassesHere,
    CountsHere,
    class_labels,
    first_rows,
    judge_starred,
    risk_of,
)
from shoal.methods.method import Setting
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Kind, Schema
from shoal.table.domain import line_domain
from shoal.table.frequency import join_rows
from shoal.table.recoding import recoding_of

pytestmark = pytest.mark.local("counts on this machine")

AGE = line_domain("age", Kind.NUMERIC, [None, "1", "2", "3"], [np.nan, 1, 2, 3])
ILL = line_domain("ill", Kind.NUMERIC, ["7", "8"], [7, 8])
SCHEMA = Schema.from_document({"columns": {"age": {"role": "quasi", "kind": "numeric"},
                                           "ill": {"role": "sensitive"}}})  # fmt: skip
SETTING = Setting()


def table(ages=(0, 1, 2, 3), counts=(1, 4, 5, 6), ill=(0, 1, 0, 1)):
    found, _ = join_rows(
        (AGE,), np.array([ages], dtype=np.int32).T, np.array(counts, dtype=np.int64),
        sensitive_domains=(ILL,), sensitive=np.array([ill], dtype=np.int32).T,
    )  # fmt: skip
    return found


def recoding(label=(-1, 0, 0, 1)):
    low, high = np.array([[1], [3]], dtype=np.int32), np.array([[2], [3]], dtype=np.int32)
    members = np.arange(4), np.array(label), table().counts
    return recoding_of(table(), low, high, members)


def asked(method="mondrian", **more):
    return Search(
        method=method_named(method), release=more.pop("release", "generalize"),
        promise=(KAnonymity(4),), setting=SETTING, **more,
    )  # fmt: skip


def never(*_):
    raise AssertionError("parts were not asked for")


def test_the_risk_of_classes_by_hand():
    found = risk_of(np.array([1, 1, 3], dtype=np.int64))
    assert (found.records, found.classes, found.smallest_class, found.unique) == (5, 3, 1, 2)
    none = risk_of(np.zeros(0, dtype=np.int64))
    assert (none.records, none.classes, none.smallest_class, none.unique) == (0, 0, 0, 0)
    counts = CountsHere(SCHEMA, table(), never)
    assert counts.risk == risk_of(table().tuple_sizes)
    assert not counts.is_distributed


@pytest.mark.parametrize("k", [1, 3, 100])
def test_a_tiny_table_has_records_enough_for_k(k):
    tiny = first_rows(table(), [KAnonymity(k), LDiversity(2)])
    assert tiny.rows == 2
    assert tiny.counts.tolist() == [2 * k + 1] * 2
    assert (tiny.domains, tiny.sensitive_domains) == ((AGE,), (ILL,))
    one = first_rows(table((1,), (4,), (0,)), [])
    assert one.counts.tolist() == [3]


def test_compiling_says_so_and_searches_a_tiny_table_only():
    seen, stages = [], []

    @dataclass(frozen=True)
    class Method:
        must: bool

        def must_compile(self):
            return self.must

        def hurried(self):
            return self

        def search(self, tiny, promise):
            seen.append(tiny.rows)
            raise NoSolutionError(problem="two records need not meet anything")

    counts = CountsHere(SCHEMA, table(), never)
    for must in (True, False):
        search = Search(method=Method(must), release="generalize", promise=(), setting=SETTING)
        counts.compile(search, stages.append)
    assert seen == [2, 2]
    assert stages == ["compile"]


def test_a_search_gives_classes_that_keep_the_promise():
    counts = CountsHere(SCHEMA, table(), never)
    found = counts.search(asked())
    assert all(verdict.holds for verdict in found.judge([KAnonymity(4)]))
    assert found.recoding.sizes.sum() == table().records
    assert found.trial() is None
    assert found.sse_loss() is None  # boxes
    assert found.grouping(None).records == 16
    counts.close()  # nothing is held


def test_parts_are_learned_by_whoever_the_engine_names():
    made = recoding()
    seen = []

    def learn(whole, search):
        seen.append((whole.rows, search.partitions))
        return made

    counts = CountsHere(SCHEMA, table(), learn)
    assert counts.search(asked(partitions="two")).recoding is made
    assert seen == [(4, "two")]


def test_an_aggregate_releases_centroids_and_knows_their_loss():
    found = CountsHere(SCHEMA, table(), never).search(asked("mdav", release="aggregate"))
    assert found.recoding.released is not None
    assert found.sse_loss() >= 0


def test_labels_of_classes_and_the_root_in_the_last_row():
    labels = class_labels(recoding())
    assert labels.rows() == [("[1, 2]",), ("3",), (AGE.root,)]
    assert isinstance(labels.schema["age"], pl.Enum)


@pytest.mark.parametrize(("k", "holds"), [(1, True), (2, False)])
def test_suppressed_records_are_a_class_at_the_root(k, holds):
    """The one suppressed record is alone there, however large the other classes are."""
    found = judge_starred(recoding(), SCHEMA, [KAnonymity(k)])
    assert (found.records, found.classes, found.smallest_class) == (16, 3, 1)
    assert found.holds is holds
    assert found.violating_records == (0 if holds else 1)
    assert ClassesHere(recoding()).judge([KAnonymity(2)])[0].holds  # without it
