"""Protected marginals: nothing is said of fewer than k persons."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.open_job import open_job
from tests.naive import drawing as naive

from shoal.engines.drawing.protected import pools_of, protected_marginal
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema

LISTS = st.lists(st.integers(0, 9), min_size=1, max_size=12)


def marginal(values, *, k, kind="numeric", person=None, **words):
    columns = {"x": {"role": "quasi", "kind": kind, **words}}
    frame = pl.DataFrame({"x": values})
    if person is not None:
        columns["who"] = "person"
        frame = frame.with_columns(pl.Series("who", person))
    schema = Schema.from_document({"columns": columns})
    job = open_job(frame, schema, (KAnonymity(1),))
    return protected_marginal(job.counts.table, 0, job.schema.attribute("x"), k=k)


@given(LISTS, st.integers(2, 12))
def test_pools_are_those_of_the_naive_twin(persons, k):
    assert [pool.codes for pool in pools_of(np.array(persons), k)] == naive.pools(persons, k)


@given(LISTS, st.integers(2, 12))
def test_no_pool_has_fewer_than_k_and_none_swallows_a_common_value(persons, k):
    for pool in pools_of(np.array(persons), k):
        assert sum(persons[code] for code in pool.codes) >= k
        assert pool.is_common == (len(pool.codes) == 1 and persons[pool.codes[0]] >= k)
        assert pool.is_common or all(persons[code] < k for code in pool.codes)


def test_a_rare_number_is_no_value_that_is_drawn():
    found = marginal([10] * 9 + [1234, 2345, 3456, 4567, 5678] + [9999] * 9, k=5)
    rare = [text for text, pool in zip(found.texts, found.pool, strict=True) if pool == 2]
    assert found.records.tolist() == [9, 9, 5]
    assert len(rare) == 64
    assert len({"1234", "2345", "3456", "4567", "5678"} & set(rare)) <= 1
    assert all(10 < int(text) < 9999 for text in rare)


def test_too_few_rare_values_are_not_told_of_at_all():
    found = marginal([1] * 9 + [5] + [7] * 9, k=3)
    assert found.texts == ("1", "7")
    assert found.records.tolist() == [9, 9]


def test_a_value_of_many_records_of_one_person_is_rare():
    found = marginal(
        ["1"] * 6 + ["2"] * 3 + ["3"] * 3, k=3, kind="categorical",
        person=["a"] * 6 + ["b", "c", "d", "e", "f", "g"],
    )  # fmt: skip
    assert found.texts == ("2", "3")


def test_missing_values_are_a_value():
    found = marginal([None] * 4 + [3] * 5 + [9] * 2, k=3)
    assert found.texts == (None, "3")
    few = marginal([None] * 2 + [3] * 5 + [9] * 2, k=3)
    assert few.texts == (None, "3", "7", "8", "9")  # the pool: nobody, and what is about 9
    assert few.records.tolist() == [5, 4]


def test_values_of_a_hierarchy_are_pooled_as_they_are():
    values = ["a"] * 7 + ["b"] * 2 + ["c"] + ["d"] * 8
    tree = {"tree": {"*": {"v": ["a", "b"], "w": ["c", "d"]}}}
    found = marginal(values, k=3, kind="categorical", hierarchy=tree)
    assert found.texts == ("a", "b", "c", "d")
    assert found.records[found.pool].tolist() == [7, 3, 3, 8]


def test_an_empty_column_has_one_value():
    found = marginal(pl.Series([None] * 5, dtype=pl.String), k=3)
    assert found.texts == (None,)
    assert found.records.tolist() == [5]


def test_a_marginal_shows_no_value():
    assert "1234" not in repr(marginal([1234] * 5, k=3))
    with pytest.raises(AttributeError):
        marginal([1] * 5, k=3).texts = ()
