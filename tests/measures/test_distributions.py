"""Distributions for pictures: as a naive count has them, of every kind of column and release."""

from __future__ import annotations

import math
import time

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import distributions as naive

import shoal
from shoal.measures.distributions import MISSING, cramers_v, pictures_of
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import recoding_of

COLOURS = {"*": {"warm": ["red", "orange"], "cold": ["blue", "green"]}}


def released(frame, **words):
    """Release a frame with its pictures; the twin reads tight labels."""
    words = {"k": 2, "labels": "tight", "method": "mondrian", "pictures": True, **words}
    return shoal.anonymize(frame, **words)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=4, max_size=40))
def test_few_numbers_are_counted_and_spread_as_by_hand(numbers):
    made = released(pl.DataFrame({"x": numbers}), qi=["x"], numeric=["x"])
    found = made.report.pictures.columns["x"]
    values = sorted({str(number) for number in numbers}, key=int)
    bins = {value: place for place, value in enumerate(values)}
    assert found.bins == tuple(values)
    assert found.before == pytest.approx(naive.before(list(map(str, numbers)), bins))
    labels = made.table["x"].cast(pl.String).to_list()
    assert found.after == pytest.approx(naive.after(labels, values, bins), abs=1e-5)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 400), min_size=30, max_size=80), st.integers(2, 6))
def test_many_numbers_are_binned_in_round_steps(numbers, k):
    made = released(pl.DataFrame({"x": numbers}), qi=["x"], numeric=["x"], k=k)
    found = made.report.pictures.columns["x"]
    if len(set(numbers)) <= 12:
        return
    pairs = [tuple(float(end) for end in name.split(" – ")) for name in found.bins]
    edges = [(a, b + 1) for a, b in pairs]
    assert len(edges) <= 13
    assert sum(found.before) == len(numbers)
    counted = [sum(a <= number < b for number in numbers) for a, b in edges]
    assert found.before == pytest.approx(counted)
    labels = made.table["x"].cast(pl.String).to_list()
    assert found.after == pytest.approx(naive.after_by_width(labels, edges), abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["red", "orange", "blue", None]), min_size=4, max_size=30))
def test_categories_and_missing_values_have_their_bins(colours):
    schema = {"columns": {"c": {"role": "quasi", "kind": "categorical",
                                "hierarchy": {"tree": COLOURS}}}}  # fmt: skip
    frame = pl.DataFrame({"c": pl.Series(colours, dtype=pl.String)})
    made = released(frame, schema=schema)
    found = made.report.pictures.columns["c"]
    counted = {MISSING if value is None else value: colours.count(value) for value in set(colours)}
    assert dict(zip(found.bins, found.before, strict=True)) == pytest.approx(counted)
    assert sum(found.after) == pytest.approx(made.report.released)
    texts = [MISSING if text is None else text for text in made.table["c"].to_list()]
    assert dict(found.labels) == {text: texts.count(text) for text in texts}
    assert found.others == 0


def test_a_common_ancestor_is_spread_over_the_values_below_it():
    frame = pl.DataFrame({"c": ["red", "orange", "blue", "blue"]})
    schema = {"columns": {"c": {"role": "quasi", "kind": "categorical",
                                "hierarchy": {"tree": COLOURS}}}}  # fmt: skip
    found = released(frame, schema=schema).report.pictures.columns["c"]
    after = dict(zip(found.bins, found.after, strict=True))
    assert after == {"red": 1.0, "orange": 1.0, "blue": 2.0}
    assert dict(found.labels) == {"warm": 2, "blue": 2}


def test_levels_of_a_lattice_are_spread_over_what_stands_below_them():
    frame = pl.DataFrame({"c": ["red", "orange", "blue", "green"] * 2})
    schema = {"columns": {"c": {"role": "quasi", "kind": "categorical",
                                "hierarchy": {"tree": COLOURS}}}}  # fmt: skip
    made = released(frame, schema=schema, k=4, method="flash")
    found = made.report.pictures.columns["c"]
    assert made.report.facts["levels"] == {"c": 1}
    assert set(found.after) == {2.0}
    assert dict(found.labels) == {"warm": 4, "cold": 4}


def test_centroids_stand_where_they_are():
    frame = pl.DataFrame({"x": [1, 2, 3, 90, 91, 92] * 4})
    made = released(frame, qi=["x"], numeric=["x"], k=3, method="mdav")
    found = made.report.pictures.columns["x"]
    counted = dict(made.table["x"].cast(pl.Float64).value_counts().iter_rows())
    assert {float(label): number for label, number in found.labels} == counted
    assert sum(found.after) == pytest.approx(24)


def test_a_person_counts_once_however_many_records_they_have():
    frame = pl.DataFrame({"x": [1, 1, 1, 2, 2, 2, 3], "who": list("aaabcde")})
    made = released(frame, qi=["x"], numeric=["x"], person="who", k=2)
    pictures = made.report.pictures
    assert pictures.unit == "person"
    found = pictures.columns["x"]
    assert dict(zip(found.bins, found.before, strict=True)) == {"1": 1.0, "2": 3.0, "3": 1.0}
    assert sum(found.after) == pytest.approx(5)
    assert all(band.low >= 2 for band in pictures.sizes if band.after)
    assert sum(band.before for band in pictures.sizes) == 5


def test_sizes_of_classes_add_up_to_the_records():
    frame = pl.DataFrame({"x": list(range(60)) + [7] * 20})
    made = released(frame, qi=["x"], numeric=["x"], k=3)
    sizes = made.report.pictures.sizes
    assert sum(band.before for band in sizes) == sum(band.after for band in sizes) == 80
    assert [band.after for band in sizes if band.low < 3] == [0, 0]
    assert sizes[0].before == 59


@pytest.mark.parametrize(
    ("table", "strength"),
    [
        ([[5, 0], [0, 5]], 1.0),
        ([[4, 4], [4, 4]], 0.0),
        ([[10, 5], [5, 10]], 1 / 3),
        ([[3, 7]], 0.0),
        ([[2, 0, 0], [0, 3, 0], [0, 0, 0]], 1.0),
    ],
)
def test_associations_are_cramers_v(table, strength):
    assert cramers_v(np.array(table, dtype=float)) == pytest.approx(strength)


def test_columns_that_go_together_still_do_after():
    values = [*range(40)] * 2
    frame = pl.DataFrame({"a": values, "b": values, "c": [1, 2] * 40})
    found = released(frame, qi=["a", "b", "c"], numeric=["a", "b", "c"]).report.pictures
    together = found.associations
    assert together.columns == ("a", "b", "c")
    assert together.before[0][1] == pytest.approx(1)
    assert together.after[0][1] > 0.8
    assert together.after[0] == tuple(row[0] for row in together.after)
    assert together.before[0][2] < 0.3


def test_tuples_that_stay_on_a_cluster_leave_out_what_was_before():
    domain = line_domain("x", Kind.NUMERIC, ["1", "2"], [1.0, 2.0])
    codes = np.array([[0], [1]], dtype=np.int32)
    table = FrequencyTable(
        domains=(domain,), codes=codes, counts=np.array([3, 4]),
        sensitive_domains=(), sensitive=np.zeros((2, 0), dtype=np.int32),
    )  # fmt: skip
    every = np.arange(2)
    recoding = recoding_of(table, codes, codes, (every, every, table.counts))
    found = pictures_of(recoding, has_tuples=False)
    assert found.columns["x"].before is None
    assert found.columns["x"].after == (3.0, 4.0)
    assert all(band.before is None for band in found.sizes)


def test_three_million_records_take_less_than_two_seconds():
    rng = np.random.default_rng(7)
    rows = 3_000_000
    sizes = (80, 12, 400, 60, 1000, 9)
    domains = tuple(
        line_domain(f"c{j}", Kind.NUMERIC, [str(v) for v in range(size)], np.arange(size) * 1.0)
        for j, size in enumerate(sizes)
    )
    codes = np.stack([rng.integers(0, size, rows) for size in sizes], axis=1).astype(np.int32)
    codes = np.ascontiguousarray(codes[np.lexsort(codes.T[::-1])])
    table = FrequencyTable(
        domains=domains, codes=codes, counts=np.ones(rows, dtype=np.int64),
        sensitive_domains=(), sensitive=np.zeros((rows, 0), dtype=np.int32),
    )  # fmt: skip
    label = np.arange(rows) // 6
    low = np.minimum.reduceat(codes, np.arange(0, rows, 6))
    high = np.maximum.reduceat(codes, np.arange(0, rows, 6))
    recoding = recoding_of(table, low, high, (np.arange(rows), label, table.counts))
    began = time.process_time()
    found = pictures_of(recoding)
    assert time.process_time() - began < 2
    for each in found.columns.values():
        assert math.isclose(sum(each.after), rows, rel_tol=1e-6)
