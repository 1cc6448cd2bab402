"""Marginals before and after: as counted record by record."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.measures.fidelity.made import KINDS, made, releases
from tests.naive import fidelity as naive

from shoal.measures.distributions import cramers_v
from shoal.measures.fidelity import marginals
from shoal.measures.fidelity.marginals import Marginals, sampled_rows


def pairs_of(found):
    """Return the marginals of what was made."""
    return Marginals(found.columns, found.table.codes, found.table.counts, found.released.sizes)


@settings(max_examples=60, deadline=None)
@given(releases())
def test_the_score_is_that_of_sdnist_record_by_record(found):
    before = [found.column(name)[0] for name in found.names]
    after = [found.column(name)[1] for name in found.names]
    kinds = [KINDS[name] for name in found.names]
    assert pairs_of(found).score() == pytest.approx(naive.k_marginal(before, after, kinds))


@settings(max_examples=60, deadline=None)
@given(releases())
def test_total_variation_is_that_of_each_column(found):
    measured = pairs_of(found).variations()
    for name, value in zip(found.names, measured, strict=True):
        assert value == pytest.approx(naive.total_variation(*found.column(name)), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(releases())
def test_a_table_released_as_it_is_has_nothing_to_tell(found):
    same = pairs_of(made(found.names, found.before, found.before))
    assert same.score() == pytest.approx(1000)
    assert same.variations() == pytest.approx([0.0] * len(found.names), abs=1e-12)
    assert same.association_changes() == pytest.approx(
        [0.0] * len(list(combinations(found.names, 2))), abs=1e-9
    )


def test_two_tables_without_a_value_in_common_score_nothing():
    before = [("red", "1"), ("orange", "2")]
    found = made(("c", "few"), [*before, ("blue", "9"), ("teal", "9")], [("blue", "9")] * 4)
    assert pairs_of(found).score() == pytest.approx(500 * (2 - 2 * 0.75))


@settings(max_examples=30, deadline=None)
@given(releases(columns=("c", "few")))
def test_the_change_of_association_is_that_of_cramers_v(found):
    tables = []
    for texts in (found.before, found.after):
        column = [[row[j] for row in texts] for j in (0, 1)]
        raw = [[row[j] for row in found.before] for j in (0, 1)]
        counted = naive.pair_table(raw, column, [KINDS[name] for name in found.names])
        keys = [sorted({key[j] for key in counted}, key=repr) for j in (0, 1)]
        tables.append(np.array([[counted[a, b] for b in keys[1]] for a in keys[0]]))
    expected = cramers_v(tables[1]) - cramers_v(tables[0])
    assert pairs_of(found).association_changes() == pytest.approx([expected], abs=1e-7)


def test_of_more_work_than_allowed_a_sample_is_taken_and_said(monkeypatch):
    rng = np.random.default_rng(1)
    rows = [(str(a), str(b)) for a, b in rng.integers(0, 40, (4000, 2)).tolist()]
    names = ("n", "r")
    full = pairs_of(made(names, rows, rows))
    assert full.sampled is None
    monkeypatch.setattr(marginals, "WORK_BEFORE", 100)
    monkeypatch.setattr(marginals, "WORK_AFTER", 100 * 40**2)
    part = pairs_of(made(names, rows, rows))
    assert part.sampled == 100
    assert 100 < part.score() < 1000  # a sample of both, at other steps


def test_a_sample_at_even_steps_has_each_row_as_often_as_it_should():
    rows, weights = sampled_rows(np.array([10, 0, 30, 60]), 10)
    assert rows.tolist() == [0, 2, 3]
    assert weights.tolist() == [1.0, 3.0, 6.0]
    rows, weights = sampled_rows(np.array([2, 5]), None)
    assert (rows.tolist(), weights.tolist()) == ([0, 1], [2.0, 5.0])
