"""The one look-up of a loss agrees with the twin's, for short and long columns."""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.clustering.tables import domains
from tests.naive.clustering import Losses

from shoal.kernels.clustering.losses import FACTS, cost, packed
from shoal.kernels.clustering.space import FULL
from shoal.kernels.helpers import lean_outer
from shoal.methods.clustering.space import space_of


@lean_outer
def cost_of(losses, j, low, high):
    return cost(losses, j, low, high)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("short", [0, 256])  # as sparse tables, and as tables of all runs
def test_every_run_of_codes_loses_what_the_twin_says(missing, short):
    columns = domains(missing)
    losses, twin = packed(space_of(columns, short=short)), Losses(columns)
    for j, domain in enumerate(columns):
        for low in range(len(domain)):
            for high in range(low, len(domain)):
                wanted = twin.column(j, range(low, high + 1))
                assert cost_of(losses, j, low, high) == wanted, (j, low, high)


def test_weights_multiply_every_loss_of_their_column():
    space = space_of(domains())
    plain, double = packed(space), packed(space, np.array([2.0, 1.0, 3.0]))
    for j, times in enumerate((2, 1, 3)):
        assert double[FACTS * j + FULL] == times * plain[FACTS * j + FULL]
        assert cost_of(double, j, 0, 2) == times * cost_of(plain, j, 0, 2)
