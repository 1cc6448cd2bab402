"""Coarse-grained learning: parts hold every record once, and the join keeps the promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.test_release_laws import FEWER, cases, folder, release
from tests.methods.calls import mondrian
from tests.naive import release as naive

from shoal.core.errors import MethodError, NoSolutionError
from shoal.methods.coarse import Coarse, join_partitions, learn_partition, learn_partitions, split
from shoal.methods.judging import failing_classes
from shoal.privacy import KAnonymity, TCloseness
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import FrequencyTable, from_codes


def table_of(values: list[tuple[int, int, int]]) -> FrequencyTable:
    """Return a table of two lines and a sensitive column of three values."""
    lines = [line_domain(n, Kind.NUMERIC, [str(i) for i in range(9)], range(9)) for n in "ab"]
    secret = line_domain("s", Kind.NUMERIC, ["0", "1", "2"], range(3))
    codes = np.array(values, dtype=np.int32).reshape(-1, 3)
    return from_codes(
        tuple(lines), codes[:, :2], np.ones(len(codes), dtype=np.int64),
        sensitive_domains=(secret,), sensitive=codes[:, 2:],
    )  # fmt: skip


records = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 2)), min_size=1, max_size=60
)


@settings(max_examples=100, deadline=None)
@given(values=records, parts=st.integers(1, 8), how=st.sampled_from(["kmeans", "random"]))
def test_every_record_is_in_exactly_one_part(values, parts, how):
    table = table_of(values)
    found = split(table, parts, how=how, seed=3)
    assert 1 <= len(found) <= parts
    counts = np.zeros(table.rows, dtype=np.int64)
    for part in found:
        assert len(part.rows)
        assert (part.counts > 0).all()
        counts[part.rows] += part.counts
    assert (counts == table.counts).all()


@settings(max_examples=60, deadline=None)
@given(values=records)
def test_kmeans_keeps_equal_tuples_together(values):
    table = table_of(values)
    homes = np.full(table.rows, -1)
    for number, part in enumerate(split(table, 4)):
        homes[part.rows] = number
    for tuple_ in np.unique(table.tuple_ids):
        assert len(set(homes[table.tuple_ids == tuple_].tolist())) == 1


def test_far_groups_become_parts_of_their_own():
    table = table_of([(0, 0, 0)] * 5 + [(1, 0, 1)] * 5 + [(8, 8, 0)] * 5 + [(7, 8, 1)] * 5)
    parts = split(table, 2)
    assert sorted(table.codes[part.rows, 0].tolist() for part in parts) == [[0, 1], [7, 8]]


@pytest.mark.parametrize("how", ["kmeans", "random"])
def test_a_part_that_is_too_small_is_learned_with_its_neighbour(how):
    table = table_of([(i % 9, i // 9, i % 3) for i in range(40)])
    models = [KAnonymity(9)]

    def search(part):
        return mondrian(part, models, relaxed=False)

    found = learn_partitions(table, models, search, coarse=Coarse(12, how))
    assert found.sizes.min() >= 9
    assert found.sizes.sum() == 40
    assert found.facts["partitions"] < 12


def test_closeness_is_judged_against_the_whole_table():
    """Each part alone is pure, and so close to itself; together they are far from the whole."""
    values = [(i % 2, 0, 0) for i in range(10)] + [(7 + i % 2, 8, 1) for i in range(10)]
    table = table_of(values)
    models = [KAnonymity(2), TCloseness(0.2, column="s")]
    parts = split(table, 2)
    assert len(parts) == 2

    def search(part):
        return mondrian(part, models, relaxed=False)

    assert [learn_partition(table, models, part, search) for part in parts] == [None, None]
    found = learn_partitions(table, models, search, coarse=Coarse(2))
    assert found.suppressed == 0
    assert not failing_classes(found, models).any()


def test_a_class_that_fails_once_the_parts_are_joined_is_mended_across_parts():
    table = table_of([(i % 9, i // 9, i % 3) for i in range(40)])
    loose = [KAnonymity(1)]
    learned = [
        learn_partition(table, loose, part, lambda part: mondrian(part, loose, relaxed=False))
        for part in split(table, 3)
    ]
    found = join_partitions(table, [KAnonymity(4)], learned)
    assert found.sizes.min() >= 4
    assert found.sizes.sum() == 40


def test_the_search_itself_says_why_there_is_no_solution():
    table = table_of([(0, 0, 0), (1, 1, 1)])

    def search(_):
        raise NoSolutionError(problem="because")

    with pytest.raises(NoSolutionError, match="because"):
        learn_partitions(table, [KAnonymity(2)], search, coarse=Coarse(2))


@pytest.mark.parametrize(("parts", "how"), [(0, "kmeans"), (-1, "random"), (2, "luck")])
def test_wrong_choices_are_refused(parts, how):
    with pytest.raises(MethodError):
        split(table_of([(0, 0, 0)]), parts, how=how)


@pytest.mark.parametrize("method", ["mondrian", "flash", "bestcut", "oka"])
@FEWER
@given(case=cases(), parts=st.integers(1, 5), how=st.sampled_from(["kmeans", "random"]))
def test_a_release_learned_in_parts_keeps_every_law(method, case, parts, how):
    options = {"partitions": parts, "partition_by": how}
    with folder() as place, folder() as other:
        report = release(case, place, method, threads=1, **options)
        if report is None:
            return
        rows = naive.read(place / "o.csv")
        assert naive.broken(rows, case.quasi, case.promise, columns=case.facts) == 0
        assert report.released == len(rows) == len(case.rows) - report.suppressed
        original = {row["id"]: row for row in case.rows}
        for row in rows:
            for name in case.quasi:
                facts = {**case.facts[name], "values": {each[name] for each in case.rows}}
                assert naive.covers(row[name], original[row["id"]][name], facts)
        release(case, other, method, threads=2, **options)
        assert (place / "o.csv").read_bytes() == (other / "o.csv").read_bytes()
