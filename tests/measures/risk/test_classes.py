"""Risks from class sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import KernelInputError
from shoal.measures.risk.classes import bands, below, journalist, marketer, prosecutor

sizes_ = st.lists(st.integers(1, 200), min_size=1, max_size=30).map(np.array)


@given(sizes=sizes_)
def test_prosecutor_is_the_mean_and_maximum_over_records(sizes):
    per_record = np.repeat(1 / sizes, sizes)
    found = prosecutor(sizes)
    assert found.maximum == pytest.approx(per_record.max())
    assert found.average == pytest.approx(per_record.mean())


@given(sizes=sizes_, factor=st.floats(1, 50))
def test_a_larger_population_never_raises_the_risk(sizes, factor):
    known, wide = prosecutor(sizes), journalist(sizes, sizes * factor)
    assert wide.maximum <= known.maximum + 1e-12
    assert wide.average <= known.average + 1e-12
    assert marketer(sizes, sizes * factor) <= marketer(sizes) + 1e-12


@given(sizes=sizes_)
def test_a_population_that_is_the_sample_changes_nothing(sizes):
    assert journalist(sizes, sizes.astype(float)) == prosecutor(sizes)


@given(sizes=sizes_)
def test_bands_hold_every_record_once(sizes):
    assert sum(band["records"] for band in bands(sizes)) == sizes.sum()
    assert bands(sizes)[0]["records"] == below(sizes)["2"]


def test_no_class_is_no_risk_and_an_empty_class_is_refused():
    none = np.array([], dtype=np.int64)
    assert prosecutor(none).maximum == journalist(none, none.astype(float)).average == 0
    assert marketer(none) == 0
    with pytest.raises(KernelInputError):
        below(np.array([0, 1]))


@given(sizes=sizes_, data=st.data())
def test_journalist_and_marketer_are_means_over_records_and_people(sizes, data):
    people = np.array([float(data.draw(st.integers(0, 400))) for _ in sizes])
    known = np.maximum(people, sizes)
    per_record = np.repeat(1 / known, sizes)
    assert marketer(sizes, people) == pytest.approx(per_record.mean())
    found = journalist(sizes, people)
    assert found.maximum == pytest.approx(per_record.max())
    assert found.average == pytest.approx(max(per_record.mean(), len(sizes) / known.sum()))


@given(sizes=sizes_)
def test_fewer_records_are_below_a_lower_limit(sizes):
    found = below(sizes, (1, 2, 7, 1000))
    assert found["1"] == 0
    assert found["1000"] == sizes.sum()
    assert list(found.values()) == sorted(found.values())


def test_bands_are_closed_and_the_last_one_is_open():
    found = bands(np.array([1, 4, 5, 99, 100, 10**9]))
    assert [(band["from"], band["to"]) for band in found if band["classes"]] == [
        (1, 1), (3, 4), (5, 9), (50, 99), (100, None),
    ]  # fmt: skip
    assert found[-1]["records"] == 100 + 10**9


def test_a_risk_is_plain_data():
    assert prosecutor(np.array([1, 4])).to_document() == {"maximum": 1.0, "average": 0.4}
