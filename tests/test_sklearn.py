"""Recoding as a step of a scikit-learn pipeline."""

from __future__ import annotations

import pickle
import warnings
from collections import Counter

import numpy as np
import polars as pl
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import check_estimator

import shoal
from shoal.sklearn import Recoder

RNG = np.random.default_rng(3)
X = RNG.normal(size=(200, 3))
Y = (X[:, 0] + 0.3 * RNG.normal(size=200) > 0).astype(int)
FRAME = pl.DataFrame(
    {
        "age": RNG.integers(18, 90, 200),
        "job": RNG.choice(["baker", "smith", "miller"], 200),
        "pay": RNG.integers(1, 9, 200),
    }
)


@pytest.mark.parametrize("labels", ["midpoint", "bounds"])
def test_it_passes_the_checks_of_scikit_learn(labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        done = check_estimator(Recoder(labels=labels), on_fail=None)
    failed = {each["check_name"]: each["exception"] for each in done if each["status"] == "failed"}
    assert not failed
    assert sum(each["status"] == "passed" for each in done) > 40


@pytest.mark.parametrize("k", [2, 5, 30])
def test_training_records_are_alike_at_least_k_times(k):
    for labels in ("midpoint", "bounds", "text"):
        made = Recoder(k=k, labels=labels).fit_transform(X)
        assert len(made) == len(X)
        assert min(Counter(map(tuple, made.tolist())).values()) >= k


def test_bounds_contain_what_they_stand_for_and_the_midpoint_lies_between():
    low_high = Recoder(k=4, labels="bounds").fit_transform(X)
    middle = Recoder(k=4).fit_transform(X)
    low, high = low_high[:, 0::2], low_high[:, 1::2]
    assert (low <= X).all()
    assert (high >= X).all()
    assert ((low <= middle) & (middle <= high)).all()


def test_rows_stay_aligned_whatever_they_hold():
    recoder = Recoder(k=5).fit(X)
    new = np.vstack([X[:3], [[1e9, -1e9, 0]], X[3:6]])
    made = recoder.transform(new)
    assert made.shape == (7, 3)
    assert np.isfinite(made).all()
    assert np.array_equal(made[:3], recoder.transform(X[:3]))
    assert np.array_equal(made[4:], recoder.transform(X[3:6]))


def test_names_types_and_frames():
    recoder = Recoder(k=5, qi=["age", "job"], labels="bounds").fit(FRAME)
    names = ["age_low", "age_high", "job", "pay"]
    assert list(recoder.get_feature_names_out()) == names
    made = recoder.set_output(transform="polars").transform(FRAME)
    assert made.columns == names
    assert made.schema["age_low"] == pl.Float64
    assert made["pay"].equals(FRAME["pay"])
    pd = pytest.importorskip("pandas")
    table = FRAME.to_pandas().set_index(pd.Index(range(900, 1100)))
    framed = recoder.set_output(transform="pandas").fit(table).transform(table)
    assert list(framed.index) == list(table.index)  # scikit-learn aligns by it: no release
    assert framed["age_high"].dtype == np.float64


def test_missing_values_are_values_of_their_own():
    holes = FRAME.with_columns(age=pl.when(pl.col("pay") == 1).then(None).otherwise(pl.col("age")))
    made = Recoder(k=3, qi=["age"]).set_output(transform="polars").fit_transform(holes)
    assert made.height == 200


def test_parameters_clone_and_pickle():
    asked = Recoder(7, qi=["age"], method=shoal.Mondrian(), privacy=[shoal.KAnonymity(9)])
    assert asked.get_params()["k"] == 7
    copy = clone(asked).set_params(k=8)
    assert (copy.k, asked.k) == (8, 7)
    fitted = copy.fit(FRAME)
    assert shoal.KAnonymity(9) in fitted.model_.privacy
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.transform(FRAME), fitted.transform(FRAME))


def test_a_pipeline_and_a_grid_search_over_k():
    search = GridSearchCV(
        make_pipeline(Recoder(), LogisticRegression()), {"recoder__k": [2, 10, 60]}, cv=3
    ).fit(X, Y)
    assert search.best_score_ > 0.8
    texts = make_pipeline(
        Recoder(labels="text"), OneHotEncoder(handle_unknown="ignore"), LogisticRegression()
    ).fit(FRAME, Y)
    assert texts.predict(FRAME).shape == (200,)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"labels": "middle"}, "labels must be one of"),
        ({"k": 201}, "n_samples=200 is fewer than k=201"),
        ({"k": 0}, "k"),
        ({"method": "mondriaan"}, "did you mean 'mondrian'"),
        ({"qi": ["agee"]}, "did you mean 'age'"),
        ({"qi": ["age"], "schema": {"columns": {"age": "quasi"}}}, "not both"),
    ],
)
def test_what_cannot_be_meant_is_a_value_error(asked, problem):
    with pytest.raises(ValueError, match=problem):
        Recoder(**asked).fit(FRAME)
