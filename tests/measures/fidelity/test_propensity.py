"""pMSE: against a plain fit, against counts by hand, and against what chance would give."""

from __future__ import annotations

import numpy as np
import pytest
from tests.measures.fidelity.made import made
from tests.naive import fidelity as naive

from shoal.measures.fidelity import propensity as module
from shoal.measures.fidelity.propensity import fitted, propensity


def measured(found, **words):
    """Return the propensity of what was made."""
    return propensity(
        found.columns, found.table.codes, found.table.counts, found.released.sizes, **words
    )


def test_the_fit_is_that_of_many_small_steps():
    rng = np.random.default_rng(5)
    design = np.concatenate((np.ones((60, 1)), rng.integers(0, 2, (60, 3))), axis=1).astype(float)
    target = (rng.random(60) < 0.3 + 0.3 * design[:, 1]).astype(float)
    expected = naive.logistic(design.tolist(), target.astype(int).tolist())
    assert fitted(design, target) == pytest.approx(expected, abs=1e-3)


def test_of_one_column_the_probabilities_are_the_shares_of_its_bins():
    before = [("red",)] * 30 + [("blue",)] * 70
    after = [("red",)] * 60 + [("blue",)] * 40
    # A bin's probability is its share of released records; c is a half.
    by_hand = (90 * (60 / 90 - 0.5) ** 2 + 110 * (40 / 110 - 0.5) ** 2) / 200
    found = measured(made(("c",), before, after))
    assert found.pmse == pytest.approx(by_hand, rel=1e-4)
    assert found.ratio == pytest.approx(by_hand / (0.5**3 / 200), rel=1e-4)


def test_a_table_released_as_it_is_cannot_be_told():
    rows = [(str(n % 13), "red" if n % 3 else "blue") for n in range(200)]
    assert measured(made(("few", "c"), rows, rows)).pmse == pytest.approx(0.0, abs=1e-9)


def test_records_drawn_from_the_original_have_a_ratio_of_one_on_average():
    rng = np.random.default_rng(2)
    numbers, sides = rng.integers(0, 6, 400).tolist(), rng.integers(0, 2, 400).tolist()
    rows = [(str(a), "red" if b else "blue") for a, b in zip(numbers, sides, strict=True)]

    def ratio():
        drawn = [rows[place] for place in rng.integers(0, 400, 400).tolist()]
        return measured(made(("few", "c"), rows, drawn)).ratio

    assert 0.8 < np.mean([ratio() for _ in range(60)]) < 1.25


def test_a_bin_on_one_side_alone_is_told_without_running_away():
    found = measured(made(("c",), [("red",), ("blue",)] * 20, [("red",)] * 40))
    assert np.isfinite(found.pmse)
    assert 0.05 < found.pmse <= 0.25


def test_a_column_of_one_value_tells_nothing():
    assert measured(made(("c",), [("red",)] * 3, [("red",)] * 3)) is None


def test_of_many_records_a_seeded_sample_is_fitted(monkeypatch):
    monkeypatch.setattr(module, "RECORDS", 50)
    rows = [(str(n % 13), "red" if n % 2 else "blue") for n in range(400)]
    found = made(("few", "c"), rows, rows)
    one, two = measured(found), measured(found)
    assert one == two
    assert one.records == 50
    assert measured(found, seed=1) != one
