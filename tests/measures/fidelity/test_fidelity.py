"""Fidelity put together: of labels as they are written, and of a recoding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.measures.fidelity.made import made, releases
from tests.naive import fidelity as naive

from shoal.measures.fidelity.fidelity import Released, fidelity_of


@settings(max_examples=80, deadline=None)
@given(releases(columns=("c", "few", "n"), most=14))
def test_unique_exact_matches_are_those_word_by_word(found):
    document = fidelity_of(found.table, found.released)
    records, unique = naive.exact_matches(found.before, found.after)
    measured = document["unique_exact_matches"]
    assert (measured["records"], measured["unique"]) == (records, unique)


@settings(max_examples=25, deadline=None)
@given(releases())
def test_every_figure_is_a_number_within_its_bounds_and_the_same_again(found):
    document = fidelity_of(found.table, found.released)
    assert document == fidelity_of(found.table, found.released)
    assert 0 <= document["k_marginal"] <= 1000
    for name in ("total_variation", "kolmogorov_smirnov"):
        known = [value for value in document[name].values() if value is not None]
        assert all(-1e-9 <= value <= 1 + 1e-9 for value in known)
    assert document["query_error"]["mean"] >= 0
    assert document["sampled"] == {"pairs": None, "queries": None, "pmse": None}


def test_nothing_is_released_so_nothing_is_compared():
    found = made(("c", "few"), [("red", "1")], [("red", "1")])
    nothing = Released([([], np.zeros(0, dtype=np.int64))] * 2, np.zeros(0, dtype=np.int64))
    assert fidelity_of(found.table, nothing) is None


def test_one_record_and_one_column():
    found = made(("few",), [("1",)], [("1",)])
    document = fidelity_of(found.table, found.released)
    assert document["k_marginal"] == pytest.approx(1000)
    assert document["pmse"] is None
    assert document["correlation_change"] is None
    assert document["unique_exact_matches"] == {"records": 1, "unique": 1, "share": 1.0}
