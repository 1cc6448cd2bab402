"""Models of scikit-learn, trained on one table and scored on the held-out records of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MissingExtraError
from shoal.measures.fidelity.columns import Floats, Ints

MODELS = ("logistic regression", "random forest", "gradient boosting")
SCORES = ("macro_f1", "auc", "accuracy")
TREES, RECORDS_OF_TREE = 50, 5_000
"""Of a random forest; each tree grows on so many records, drawn for it."""
MOST_VALUES = 20
"""Values of a column that a model is asked to tell apart, at most."""


class Classifier(Protocol):
    """A model: it is fitted, and says how probable each value of the target is."""

    classes_: NDArray[np.int64]

    def fit(self, x: Floats, y: Ints) -> object:
        """Learn from records."""

    def predict_proba(self, x: Floats) -> Floats:
        """Return the probability of each known value for each record."""


def check_extra() -> None:
    """Refuse to begin where scikit-learn is not installed.

    Raises:
        MissingExtraError: names the extra.
    """
    if find_spec("sklearn") is None:
        raise MissingExtraError(
            feature="training models", package="scikit-learn", extra="shoal[learning]"
        )


def classifiers(records: int, seed: int) -> Iterator[tuple[str, Classifier]]:
    """Yield the models for so many records, not yet fitted, in the order of `MODELS`."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    forest = RandomForestClassifier(
        n_estimators=TREES, min_samples_leaf=3, random_state=seed, max_samples=_most_of(records)
    )
    boosting = HistGradientBoostingClassifier(random_state=seed, early_stopping=False)
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    yield from zip(MODELS, (linear, forest, boosting), strict=True)


def _most_of(records: int) -> int | None:
    """Return how many records a tree is grown on; None: as many as there are."""
    return RECORDS_OF_TREE if records > RECORDS_OF_TREE else None


@dataclass(frozen=True)
class Sample:
    """Records as features, and the value of the target of each."""

    features: Floats
    target: Ints


def scores(
    train: Sample, tests: Mapping[str, Sample], *, seed: int
) -> dict[str, dict[str, Scores]]:
    """Train every model once; return its scores on each test sample.

    A training sample of one target value makes a model that always says it.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    found: dict[str, dict[str, Scores]] = {}
    with threadpool_limits(
        limits=1
    ):  # threads that wait for each other took a hundred times as long
        for name, model in classifiers(len(train.target), seed):
            known = np.unique(train.target)
            if len(known) > 1:
                model.fit(train.features, train.target)
                known = np.asarray(model.classes_)
            found[name] = {}
            for of, test in tests.items():
                likely = np.ones((len(test.target), 1))
                if len(known) > 1:
                    likely = np.asarray(model.predict_proba(test.features))
                found[name][of] = scored(test.target, likely, known)
    return found


Scores = dict[str, float | None]


def scored(target: Ints, likely: Floats, known: Ints) -> Scores:
    """Return macro-F1, AUC and accuracy of probabilities.

    Args:
        target: what is true.
        likely: float64[records, values].
        known: the value that each column of `likely` is about.

    AUC of more than two values is the mean over the values that occur, each against all others;
    None: only one occurs.
    """
    said = known[likely.argmax(axis=1)]
    values = np.unique(np.concatenate((target, said)))
    areas = []
    for value in np.unique(target):
        at = np.flatnonzero(known == value)
        score = likely[:, at[0]] if len(at) else np.zeros(len(target))
        area = _area(target == value, score)
        if area is not None:
            areas.append(area)
    return {
        "macro_f1": float(np.mean([_f1(target == value, said == value) for value in values])),
        "auc": float(np.mean(areas)) if areas else None,
        "accuracy": float((said == target).mean()),
    }


def _f1(true: NDArray[np.bool_], said: NDArray[np.bool_]) -> float:
    both = int((true & said).sum())
    return 2 * both / max(int(true.sum()) + int(said.sum()), 1)


def _area(true: NDArray[np.bool_], score: Floats) -> float | None:
    """Return how often a true one is scored above another one; ties are half (area below ROC)."""
    one, other = int(true.sum()), int((~true).sum())
    if not one or not other:
        return None
    _, place, count = np.unique(score, return_inverse=True, return_counts=True)
    rank = count.cumsum() - (count - 1) / 2
    return float((rank[place][true].sum() - one * (one + 1) / 2) / (one * other))


def shuffled_within(target: Ints, columns: NDArray[np.int64], *, seed: int) -> NDArray[np.int64]:
    """Return records that have nothing but the marginals of each column within each target value.

    columns: int64[records, columns] of whatever stands for the values. Each column is shuffled by
        itself among the records with the same target: what a release that gives away no record,
        but what each column says of the target, would be.
    """
    rng = np.random.default_rng(seed)
    found = columns.copy()
    for value in np.unique(target):
        rows = np.flatnonzero(target == value)
        for j in range(columns.shape[1]):
            found[rows, j] = columns[rng.permutation(rows), j]
    return found
