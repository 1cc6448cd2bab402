"""Small tables are parted in the best way there is; larger ones never worse than before."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import of_persons, tables
from tests.methods.sensitive_tables import PROMISES, SECRET, counted
from tests.naive import optimum as naive

from shoal.kernels.clustering.losses import packed
from shoal.methods.arrays import promise_of
from shoal.methods.clustering import parting
from shoal.methods.clustering.begin import Task
from shoal.methods.clustering.clusters import Clusters, box_losses, boxes_of, lost_by
from shoal.methods.clustering.parting import WAYS, parted, ways
from shoal.methods.clustering.space import space_of
from shoal.methods.judging import failing_classes, one_class
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import from_codes
from shoal.table.recoding import Recoding

EVERY = pytest.mark.parametrize("promise", PROMISES, ids=repr)


@st.composite
def tiny(draw):
    """A table of one number with eight records: they have 4,140 partitions."""
    values = [0, 1, 2, 3, *draw(st.lists(st.integers(0, 3), min_size=4, max_size=4))]
    codes = [[draw(st.integers(0, 3))] for _ in values]
    return from_codes(
        (line_domain("q", Kind.NUMERIC, list("0123"), range(4)),),
        np.array(codes, dtype=np.int32), np.ones(len(values), dtype=np.int64),
        sensitive_domains=(SECRET,), sensitive=np.array([[v] for v in values], dtype=np.int32),
    )  # fmt: skip


def task_of(table, models):
    space = space_of(table.domains)
    return Task(space, packed(space), promise_of(models, table))


def as_one(table):
    return Clusters(np.arange(table.rows), np.zeros(table.rows, dtype=np.int64), table.counts)


def breaks(table, models, clusters):
    low, high = boxes_of(table.codes[clusters.row], clusters.label)
    return failing_classes(Recoding(table, low, high, *clusters), models).any()


def part(table, models, clusters=None):
    return parted(table, task_of(table, models), clusters or as_one(table), seed=0, stop=None)


def members(table, clusters):
    found = np.zeros(table.rows, dtype=np.int64)
    np.add.at(found, clusters.row, clusters.records)
    return found.tolist()


@EVERY
@settings(max_examples=12, deadline=None)
@given(table=tiny())
def test_of_all_ways_to_part_a_tiny_table_none_loses_less(promise, table):
    models = [KAnonymity(2), promise]
    assume(not failing_classes(one_class(table), models).any())
    row = np.repeat(np.arange(table.rows), table.counts).tolist()
    space = space_of(table.domains)
    whole = replace(table, whole=(table.reference(0),))  # a class is compared with all records

    @cache
    def loss(some):
        ones, box = np.ones(len(some), dtype=np.int64), np.zeros((1, 1), dtype=np.int32)
        own = np.array([row[i] for i in some])
        if failing_classes(Recoding(whole, box, box, own, ones - 1, ones), models)[0]:
            return float("inf")
        codes = table.codes[[row[i] for i in some]]
        low, high = codes.min(axis=0, keepdims=True), codes.max(axis=0, keepdims=True)
        return len(some) * int(box_losses(space, low, high)[0])

    def cost(some):
        return 0 if not some else loss(tuple(some))

    found = part(table, models)
    assert members(table, found) == table.counts.tolist()
    assert not breaks(table, models, found)
    assert lost_by(table, space, found) == naive.least(tuple(range(len(row))), 1, cost)


@EVERY
@settings(max_examples=10, deadline=None)
@given(table=counted())
def test_pools_lose_no_more_than_before_and_never_less_than_the_best(promise, table):
    models = [KAnonymity(2), promise]
    assume(not failing_classes(one_class(table), models).any())
    space = space_of(table.domains)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parting, "WAYS", 0)
        found = part(table, models)
    assert members(table, found) == table.counts.tolist()
    assert not breaks(table, models, found)
    assert lost_by(table, space, found) <= lost_by(table, space, as_one(table))
    if ways(table.counts) <= WAYS // parting.PLAIN:
        assert lost_by(table, space, part(table, models)) <= lost_by(table, space, found)


@settings(max_examples=20, deadline=None)
@given(table=tables(sensitive=True, missing=True), k=st.integers(1, 4))
def test_tuples_of_several_columns_are_shared_out_to_their_rows(table, k):
    assume(table.records >= k)
    found = part(table, [KAnonymity(k)])
    assert members(table, found) == table.counts.tolist()
    assert not breaks(table, [KAnonymity(k)], found)
    again = part(table, [KAnonymity(k)])
    assert all((a == b).all() for a, b in zip(again, found, strict=True))


@settings(max_examples=10, deadline=None)
@given(table=of_persons())
def test_where_persons_are_counted_clusters_stay_as_they_are(table):
    given_ = as_one(table)
    assert part(table, [KAnonymity(2)], given_) is given_


def test_a_promise_that_the_whole_table_breaks_changes_nothing():
    line = line_domain("q", Kind.NUMERIC, list("0123"), range(4))
    table = from_codes(
        (line,), np.array([[0], [1], [2]], dtype=np.int32), np.array([1, 1, 1]),
        sensitive_domains=(SECRET,), sensitive=np.zeros((3, 1), dtype=np.int32),
    )  # fmt: skip
    given_ = as_one(table)
    assert part(table, [LDiversity(2, column="s")], given_) is given_


def test_it_stops_by_the_clock():
    line = line_domain("q", Kind.NUMERIC, [str(i) for i in range(40)], range(40))
    table = from_codes(
        (line,), np.arange(40, dtype=np.int32)[:, None], np.full(40, 9, dtype=np.int64)
    )
    task = task_of(table, [KAnonymity(10)])
    found = parted(table, task, as_one(table), seed=0, stop=0.0)
    assert lost_by(table, task.space, found) == lost_by(table, task.space, as_one(table))
    later = parted(table, task, as_one(table), seed=0, stop=None)
    assert lost_by(table, task.space, later) < lost_by(table, task.space, as_one(table)) / 2
