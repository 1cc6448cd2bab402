import pytest

from shoal.core.errors import MethodError
from shoal.measures.distortion import distortion, weighted_hierarchical_distance


def test_the_seeds_example_gives_1_67():
    assert distortion([0, 0, 0], [1, 1, 0], [2, 3, 6]) == pytest.approx(5 / 3)


def test_no_step_costs_nothing_and_all_steps_cost_everything():
    assert weighted_hierarchical_distance(1, 1, 4) == 0
    assert weighted_hierarchical_distance(0, 3, 4, beta=2.0) == pytest.approx(1)
    assert weighted_hierarchical_distance(0, 0, 1) == 0


def test_uniform_steps_are_equal():
    assert weighted_hierarchical_distance(1, 2, 5, uniform=True) == 0.25


@pytest.mark.parametrize(("start", "end", "levels"), [(2, 1, 3), (-1, 1, 3), (0, 3, 3)])
def test_levels_outside_the_ladder_are_refused(start, end, levels):
    with pytest.raises(MethodError, match="levels"):
        weighted_hierarchical_distance(start, end, levels)


def test_columns_must_fit():
    with pytest.raises(MethodError, match="each column"):
        distortion([0], [0, 1], [2, 2])
