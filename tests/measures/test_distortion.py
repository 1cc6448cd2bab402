import pytest

from shoal.core.errors import MethodError
from shoal.measures.distortion import distortion, weighted_hierarchical_distance


def test_kacas_weights_by_the_formula_give_0_33_and_1_33():
    assert weighted_hierarchical_distance(0, 1, 3) == pytest.approx(1 / 3)
    assert distortion([0, 0, 0], [1, 1, 0], [2, 3, 6]) == pytest.approx(4 / 3)


def test_kacas_weights_as_in_the_worked_example_give_0_67_and_1_67():
    assert weighted_hierarchical_distance(0, 1, 3, example=True) == pytest.approx(2 / 3)
    assert distortion([0, 0, 0], [1, 1, 0], [2, 3, 6], example=True) == pytest.approx(5 / 3)


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_steps_near_the_root_are_heavier(beta):
    steps = [weighted_hierarchical_distance(i, i + 1, 5, beta=beta) for i in range(4)]
    assert sorted(set(steps)) == steps


def test_no_step_costs_nothing_and_all_steps_cost_everything():
    assert weighted_hierarchical_distance(1, 1, 4) == 0
    assert weighted_hierarchical_distance(0, 3, 4, beta=2.0) == pytest.approx(1)
    assert weighted_hierarchical_distance(0, 0, 1) == 0


def test_uniform_steps_are_equal():
    assert weighted_hierarchical_distance(1, 2, 5, beta=0.0) == 0.25


@pytest.mark.parametrize(("start", "end", "levels"), [(2, 1, 3), (-1, 1, 3), (0, 3, 3)])
def test_levels_outside_the_ladder_are_refused(start, end, levels):
    with pytest.raises(MethodError, match="levels"):
        weighted_hierarchical_distance(start, end, levels)


def test_columns_must_fit():
    with pytest.raises(MethodError, match="each column"):
        distortion([0], [0, 1], [2, 2])
