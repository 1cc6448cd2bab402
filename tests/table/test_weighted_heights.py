"""What a step up a hierarchy weighs, beside [netshiunda2020] and its twin."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.naive.distortion import distortion, weighted_hierarchical_distance

from shoal.table.domain import weighted_heights


@pytest.mark.parametrize("example", [False, True])
@pytest.mark.parametrize("beta", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("height", [0, 1, 2, 5])
def test_what_is_lost_at_each_height_is_the_papers(height, beta, example):
    found = weighted_heights(height, beta=beta, example=example)
    steps = range(height + 1)
    twin = [
        weighted_hierarchical_distance(0, step, height + 1, beta=beta, example=example)
        for step in steps
    ]
    assert found.tolist() == pytest.approx(twin)


def test_kacas_weights_by_the_formula_give_0_33_and_1_33():
    assert weighted_hierarchical_distance(0, 1, 3) == pytest.approx(1 / 3)
    assert distortion([0, 0, 0], [1, 1, 0], [2, 3, 6]) == pytest.approx(4 / 3)


def test_kacas_weights_as_in_the_worked_example_give_0_67_and_1_67():
    assert weighted_hierarchical_distance(0, 1, 3, example=True) == pytest.approx(2 / 3)
    assert distortion([0, 0, 0], [1, 1, 0], [2, 3, 6], example=True) == pytest.approx(5 / 3)


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_steps_near_the_root_are_heavier(beta):
    lost = weighted_heights(4, beta=beta)
    steps = [after - before for before, after in pairwise(lost)]
    assert sorted(set(steps)) == steps
