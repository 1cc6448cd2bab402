from __future__ import annotations

import pytest

from shoal.web.plain import listed, mapping, numbers_of, share, whole

ODD = [None, 1, "x", [], {}, [1, None, "x", {"a": 1}], {"a": [1]}, True]


@pytest.mark.parametrize("value", ODD, ids=str)
def test_what_does_not_fit_reads_as_nothing(value):
    assert isinstance(mapping(value), dict)
    assert all(isinstance(each, dict) for each in listed(value))
    assert all(isinstance(each, float) for each in numbers_of(value) or [])
    assert share(value) is None or value in (1, True)
    assert whole(value) is None or value in (1, True)


def test_what_fits_is_itself():
    assert mapping({"a": 1}) == {"a": 1}
    assert listed([{"a": 1}, 2]) == [{"a": 1}]
    assert numbers_of([1, "x", 2.5]) == [1.0, 0.0, 2.5]
    assert numbers_of("x") is None
    assert (share(0.5), whole(3), whole(0.5)) == (0.5, 3, None)
