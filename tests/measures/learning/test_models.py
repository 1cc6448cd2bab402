"""Models and their scores: as counted pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import learning as naive

from shoal.core.errors import MissingExtraError
from shoal.measures.learning import models
from shoal.measures.learning.models import (
    MODELS,
    SCORES,
    Sample,
    check_extra,
    scored,
    scores,
    shuffled_within,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 8)), min_size=2, max_size=30))
def test_scores_of_two_values_are_those_pair_by_pair(records):
    true = np.array([each[0] for each in records])
    score = np.array([each[1] for each in records]) / 8
    found = scored(true, np.stack((1 - score, score), axis=1), np.array([0, 1]))
    said = [int(each > 0.5) for each in score]
    assert found["accuracy"] == pytest.approx(np.mean(np.array(said) == true))
    assert found["macro_f1"] == pytest.approx(naive.macro_f1(true.tolist(), said))
    expected = naive.area((true == 1).tolist(), score.tolist())
    if expected is None:
        assert found["auc"] is None
    else:
        assert found["auc"] == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), *[st.integers(1, 9)] * 3), min_size=3, max_size=25))
def test_of_more_values_the_area_is_the_mean_of_each_against_the_others(records):
    true = np.array([each[0] for each in records])  # 3 was not there to learn from
    likely = np.array([each[1:] for each in records], dtype=float)
    likely /= likely.sum(axis=1, keepdims=True)
    found = scored(true, likely, np.array([0, 1, 2]))
    columns = [*likely.T, np.zeros(len(true))]
    areas = [naive.area((true == v).tolist(), columns[v].tolist()) for v in set(true.tolist())]
    known = [each for each in areas if each is not None]
    assert (found["auc"] is None) == (not known)
    if known:
        assert found["auc"] == pytest.approx(np.mean(known))


def test_models_learn_what_can_be_learned_and_are_the_same_for_a_seed():
    rng = np.random.default_rng(0)
    features = rng.random((400, 3))
    target = (features[:, 0] > 0.5).astype(np.int64)
    train, test = Sample(features[:300], target[:300]), Sample(features[300:], target[300:])
    found = scores(train, {"test": test}, seed=1)
    assert tuple(found) == MODELS
    for name in MODELS:
        assert set(found[name]["test"]) == set(SCORES)
        assert found[name]["test"]["accuracy"] > 0.9
    assert found == scores(train, {"test": test}, seed=1)


def test_of_one_value_there_is_nothing_to_learn():
    one = Sample(np.zeros((5, 1)), np.full(5, 2))
    found = scores(one, {"test": Sample(np.zeros((4, 1)), np.array([2, 2, 0, 1]))}, seed=0)
    assert found["random forest"]["test"]["accuracy"] == 0.5


def test_shuffling_keeps_what_each_column_says_of_the_target_and_nothing_else():
    rng = np.random.default_rng(3)
    target = rng.integers(0, 2, 500)
    columns = np.stack((np.arange(500), np.arange(500)), axis=1)
    found = shuffled_within(target, columns, seed=0)
    for value in (0, 1):
        rows = target == value
        for j in (0, 1):
            assert sorted(found[rows, j]) == sorted(columns[rows, j])
    assert (found[:, 0] == found[:, 1]).mean() < 0.05
    assert (found == shuffled_within(target, columns, seed=0)).all()


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"shoal\[learning\]"):
        check_extra()
