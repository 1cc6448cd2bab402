"""Places on a line and steps along a tree say the same losses as the tables do."""

from __future__ import annotations

import pytest
from tests.methods.clustering.tables import domains
from tests.naive.clustering import Losses

from shoal.kernels.clustering.space import FULL, places_of, tree_steps
from shoal.methods.clustering.space import space_of


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("short", [0, 256])
def test_a_run_of_a_line_loses_its_last_place_minus_its_first(missing, short):
    columns = domains(missing)
    space, twin = space_of(columns, short=short), Losses(columns)
    places, full = places_of(space, 0), int(space.column[0, FULL])
    for low in range(len(columns[0])):
        for high in range(low, len(columns[0])):
            wanted = twin.column(0, range(low, high + 1))
            assert min(full, int(places[high] - places[low])) == wanted


@pytest.mark.parametrize("short", [0, 256])
def test_a_run_of_a_tree_loses_the_largest_step_in_it(short):
    columns = domains()
    space, twin = space_of(columns, short=short), Losses(columns)
    for j in (1, 2):
        own, between = tree_steps(space, j)
        for low in range(len(columns[j])):
            assert own[low] == twin.column(j, [low])
            for high in range(low + 1, len(columns[j])):
                wanted = twin.column(j, range(low, high + 1))
                assert between[low:high].max() == wanted
