"""How easily persons are found by all their records together."""

from __future__ import annotations

import numpy as np

from shoal.measures.risk.trajectories import TrajectoryRisk


def test_persons_are_counted_by_how_many_share_their_trajectory():
    found = TrajectoryRisk.of(np.array([1, 1, 4, 6]))
    assert (found.persons, found.different, found.unique, found.smallest) == (12, 4, 2, 1)
    assert found.below == {"2": 2, "3": 2, "5": 6, "10": 12}
    assert (found.maximum, found.average) == (1.0, 4 / 12)
    assert "2 of 12 persons" in found.text


def test_nobody_has_no_risk():
    found = TrajectoryRisk.of(np.zeros(0, dtype=np.int64))
    assert (found.maximum, found.average, found.smallest) == (0.0, 0.0, 0)
