import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.clustering.tables import domains
from tests.naive.clustering import Losses

from shoal.methods.clustering.oka import box_loss
from shoal.methods.clustering.space import space_of


@given(ends=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=3),
       missing=st.booleans())  # fmt: skip
def test_both_forms_of_a_column_count_what_the_domain_says(ends, missing):
    columns = domains(missing)
    pairs = [
        sorted((min(a, len(d) - 1), min(b, len(d) - 1)))
        for (a, b), d in zip(ends, columns, strict=True)
    ]
    low, high = (np.array(side, dtype=np.int32) for side in zip(*pairs, strict=True))
    expected = Losses(columns).box([tuple(low), tuple(high)])
    assert box_loss(low, high, space_of(columns)) == expected
    assert box_loss(low, high, space_of(columns, short=0)) == expected


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_weighted_heights_rise_from_nothing_to_the_whole_column(power):
    columns = domains()
    space = space_of(columns, power=power)
    whole = np.array([len(d) - 1 for d in columns], dtype=np.int32)
    assert box_loss(whole * 0, whole, space) == 3 * 2**20
    assert box_loss(whole, whole, space) == 0
