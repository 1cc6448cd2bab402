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
