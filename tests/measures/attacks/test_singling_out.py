"""Records alone in their class."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.measures.attacks.singling_out import singling_out


@settings(deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=20))
def test_the_share_of_records_that_are_alone(sizes):
    found = singling_out(np.array(sizes))
    assert found.targets == sum(sizes)
    assert found.success == sizes.count(1) / sum(sizes)
    assert found.detail == {"alone": sizes.count(1), "smallest_class": min(sizes)}


def test_an_empty_table_singles_nobody_out():
    found = singling_out(np.zeros(0, dtype=np.int64))
    assert (found.success, found.detail) == (0.0, {"alone": 0, "smallest_class": 0})
